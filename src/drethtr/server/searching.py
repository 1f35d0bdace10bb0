"""`GET /search`: an index, searched over HTTP."""

import asyncio
from collections.abc import Mapping
from math import isfinite, nan
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from drethtr.base.errors import ConfigError, DataError
from drethtr.search.index import Hit, open_index
from drethtr.server.uploads import parameters_of, whole_number

MAX_HITS = 1000
"""How many hits a search may ask for."""


class SearchService:
    """The handler for searches in one index; it needs no recognizer, so searches do not wait for readings."""

    def __init__(self, index: str | Path) -> None:
        self.index = index

    async def search_index(self, request: Request) -> Response:
        """`GET /search?q=mill&min=0.1&limit=50&strict=1&pages=1`: hits, as `drethtr search --json` prints them."""
        asked = parameters_of(request, "q", "min", "limit", "strict", "pages")
        least, limit = number_in(asked, "min", 0.1), whole_number(asked, "limit", 50, MAX_HITS)
        strict, pages = (asked.get(name, "0") not in ("0", "", "false") for name in ("strict", "pages"))
        hits = await asyncio.to_thread(self.hits, asked.get("q", ""), strict, pages, least, limit)
        return JSONResponse([hit.to_json() for hit in hits])

    def hits(self, query: str, strict: bool, pages: bool, least: float, limit: int) -> list[Hit]:
        """The hits of a query."""
        try:
            with open_index(self.index) as index:
                return index.search(query, strict=strict, whole_pages=pages, least=least, limit=limit)
        except DataError as error:
            raise DataError(error.reason, None if error.source is None else Path(str(error.source)).name) from error


async def without_index(request: Request) -> Response:
    """`GET /search` of a server without an index: how to give it one."""
    return JSONResponse({"error": "there is no index to search; start drethtr serve with --index INDEX"}, 404)


def number_in(asked: Mapping[str, str], name: str, usual: float) -> float:
    """A number among the parameters of a request.

    Raises:
        ConfigError: if it is none.
    """
    try:
        value = float(asked.get(name, usual))
    except ValueError:
        value = nan
    if not isfinite(value):
        raise ConfigError(f"{name} is {asked[name][:60]!r}; it must be a number")
    return value
