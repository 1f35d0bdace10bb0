"""The addresses of a folder that is worked in: pages, lines, pictures, jobs, events."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from drethtr import editing
from drethtr.base.errors import ConfigError
from drethtr.documents.page import Points, Review
from drethtr.editing.changes import LineEdit
from drethtr.editing.scans import THUMBNAIL
from drethtr.editing.workspace import Workspace
from drethtr.server.uploads import json_of

STATIC = Path(editing.__file__).parent / "static"
"""The page that browsers show."""

LONGEST_TEXT = 10_000
LONGEST_NAME = 80
MOST_POINTS = 1000
FARTHEST = 1_000_000
WIDEST = 10_000

FOREVER = {"Cache-Control": "private, max-age=31536000, immutable"}


class Editor:
    """The handlers for one folder."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    def routes(self) -> list[BaseRoute]:
        """All addresses."""
        page, line = "/api/pages/{page}", "/api/pages/{page}/lines/{line}"
        return [
            Route("/", self.index),
            Route("/p/{page}", self.index),
            Mount("/static", StaticFiles(directory=STATIC, check_dir=False)),
            Route("/api/pages", self.pages),
            Route(page, self.page),
            Route(f"{page}/thumbnail.jpg", self.thumbnail),
            Route(f"{page}/image.jpg", self.image),
            Route(line, self.line),
            Route(line, self.put_line, methods=["PUT"]),
            Route(f"{line}/strip.jpg", self.strip),
            Route(f"{line}/history", self.history),
        ]

    async def index(self, request: Request) -> Response:
        """`GET /` and `GET /p/{page}`: the page that browsers show."""
        return FileResponse(STATIC / "index.html", headers={"Cache-Control": "no-cache"})

    async def pages(self, request: Request) -> Response:
        """`GET /api/pages`: the overview."""
        return JSONResponse(await asyncio.to_thread(self.workspace.pages))

    async def page(self, request: Request) -> Response:
        """`GET /api/pages/{page}`: a page with its lines."""
        return JSONResponse(await asyncio.to_thread(self.workspace.page, page_of(request)))

    async def thumbnail(self, request: Request) -> Response:
        """`GET /api/pages/{page}/thumbnail.jpg`."""
        return await self.picture(request, THUMBNAIL)

    async def image(self, request: Request) -> Response:
        """`GET /api/pages/{page}/image.jpg?width=1200`: the scan, as it is or smaller."""
        width = request.query_params.get("width")
        if width is not None and not (width.isascii() and width.isdecimal() and 1 <= int(width[:6]) <= WIDEST):
            raise ConfigError(f"width must be a number of pixels from 1 to {WIDEST:,}, not {width[:60]!r}")
        return await self.picture(request, None if width is None else int(width))

    async def picture(self, request: Request, width: int | None) -> Response:
        """A scan as JPEG, unless the browser has it."""
        leaf = self.workspace.leaf(page_of(request))
        mark = await asyncio.to_thread(self.workspace.scans.mark, leaf)
        headers = {"ETag": f'"{mark}"', "Cache-Control": "private, no-cache"}
        if mark in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        content = await asyncio.to_thread(self.workspace.scans.page, leaf, width)
        return Response(content, media_type="image/jpeg", headers=headers)

    async def line(self, request: Request) -> Response:
        """`GET /api/pages/{page}/lines/{line}`: a line."""
        return of_line(await asyncio.to_thread(self.workspace.line, page_of(request), line_of(request)))

    async def put_line(self, request: Request) -> Response:
        """`PUT /api/pages/{page}/lines/{line}`: change the text, the status or the place of a line."""
        revision, body = revision_of(request), await json_of(request)
        refuse_unknown(body, "text", "status", "baseline", "polygon", "who")
        edit = LineEdit(
            text_of(body, "text", LONGEST_TEXT),
            review_of(body),
            points_of(body, "baseline", 2),
            points_of(body, "polygon", 3),
        )
        who = text_of(body, "who", LONGEST_NAME) or ""
        line = await asyncio.to_thread(
            self.workspace.edit_line, page_of(request), line_of(request), revision, edit, who
        )
        return of_line(line)

    async def strip(self, request: Request) -> Response:
        """`GET /api/pages/{page}/lines/{line}/strip.jpg`: the straightened line."""
        content = await asyncio.to_thread(self.workspace.strip, page_of(request), line_of(request))
        headers = FOREVER if "v" in request.query_params else {"Cache-Control": "private, no-cache"}
        return Response(content, media_type="image/jpeg", headers=headers)

    async def history(self, request: Request) -> Response:
        """`GET /api/pages/{page}/lines/{line}/history`: the changes of a line, newest first."""
        return JSONResponse(await asyncio.to_thread(self.workspace.history, page_of(request), line_of(request)))


def page_of(request: Request) -> str:
    """The page in an address."""
    return str(request.path_params["page"])


def line_of(request: Request) -> str:
    """The line in an address."""
    return str(request.path_params["line"])


def of_line(line: dict[str, Any]) -> Response:
    """A line with its revision as a header."""
    return JSONResponse(line, headers={"ETag": f'"{line["revision"]}"'})


def revision_of(request: Request) -> str:
    """The revision in the header If-Match.

    Raises:
        HTTPException: if there is none.
    """
    given = request.headers.get("if-match", "").strip().removeprefix("W/").strip('"')
    if not given:
        raise HTTPException(428, 'send the revision that you changed, as the header If-Match: "REVISION"')
    return given


def refuse_unknown(body: Mapping[str, Any], *known: str) -> None:
    """Refuse values that have no meaning.

    Raises:
        ConfigError: naming the first.
    """
    if unknown := [name for name in body if name not in known]:
        raise ConfigError(f"unknown value {unknown[0][:60]!r}; known: {', '.join(known)}")


def text_of(body: Mapping[str, Any], name: str, longest: int) -> str | None:
    """A text of a request; None if it is missing.

    Raises:
        ConfigError: if it is no text, or too long.
    """
    text = body.get(name)
    if text is None:
        return None
    if not isinstance(text, str):
        raise ConfigError(f"{name} must be a text")
    if len(text) > longest:
        raise ConfigError(f"{name} has {len(text):,} characters; at most {longest:,} are taken")
    return text


def review_of(body: Mapping[str, Any]) -> Review | None:
    """The status in a request; None if it is missing.

    Raises:
        ConfigError: if it is none that a person can give.
    """
    status = body.get("status")
    if status is None:
        return None
    if status not in list(Review):
        raise ConfigError(f"status must be {' or '.join(Review)}, not {str(status)[:60]!r}")
    return Review(status)


def points_of(body: Mapping[str, Any], name: str, least: int) -> Points | None:
    """Points of a request; None if they are missing.

    Raises:
        ConfigError: if they are no points, or too few or too many.
    """
    points = body.get(name)
    if points is None:
        return None
    if not isinstance(points, list) or not least <= len(points) <= MOST_POINTS or not all(map(is_point, points)):
        raise ConfigError(f"{name} must be {least} to {MOST_POINTS:,} points, as [[12, 40], [380, 42]]")
    return tuple((round(x), round(y)) for x, y in points)


def is_point(value: object) -> bool:
    """Whether a value of a request is a point of a page."""
    return isinstance(value, list) and len(value) == 2 and all(map(is_coordinate, value))


def is_coordinate(value: object) -> bool:
    """Whether a value of a request is a coordinate."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= FARTHEST
