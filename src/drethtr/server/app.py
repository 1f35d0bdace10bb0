"""The web application: its addresses, what they accept, and what they refuse."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from math import isfinite, nan
from pathlib import Path
from tempfile import TemporaryDirectory

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from drethtr.base.config import hint, named
from drethtr.base.errors import ConfigError, DataError, DrethtrError
from drethtr.documents.document import Document, Provenance, Sheet
from drethtr.documents.formats import FORMATS, Format
from drethtr.images.line import Line, is_line_shaped, page_for_line
from drethtr.images.page import open_pages
from drethtr.images.page_file import is_pdf
from drethtr.layout.finder import Finder
from drethtr.pages.provenance import provenance_of, way_of
from drethtr.pages.source import Original
from drethtr.pages.transcribe import transcribe
from drethtr.recognition.recognizer import Recognizer
from drethtr.search.index import Hit, open_index
from drethtr.server.desk import Desk

MOST_REQUESTS = 64
"""How many requests with an image may be in progress; `GET /` is always answered."""

MOST_BYTES = 64 << 20
MOST_PAGES = 20
"""The largest request; `drethtr transcribe` reads longer books."""

MOST_HITS = 1000
"""How many hits a search may ask for."""

MOST_SECONDS = 60.0
"""How long an upload may take."""

STATUS = ((DataError, 422), (ConfigError, 400), (DrethtrError, 500))
"""Status of expected errors, the first that fits: faults of the image, of the request, of this server."""


class Service:
    """The handlers for one recognizer; `finder` chooses what finds the lines of a page."""

    def __init__(self, recognizer: Recognizer, finder: Callable[[Original], Finder]) -> None:
        self.recognizer = recognizer
        self.finder = finder
        self.desk = Desk(recognizer)
        self.answering = 0

    @property
    def provenance(self) -> Provenance:
        """Who reads, at this moment."""
        return provenance_of(self.recognizer)

    @contextmanager
    def admitted(self) -> Iterator[None]:
        """Count a request while it is answered.

        Raises:
            HTTPException: if there are too many.
        """
        if self.answering >= MOST_REQUESTS:
            raise HTTPException(503, f"{MOST_REQUESTS} requests are waiting; try again later", {"Retry-After": "1"})
        self.answering += 1
        try:
            yield
        finally:
            self.answering -= 1

    async def about(self, request: Request) -> Response:
        """`GET /`: the model, and how many lines are waiting."""
        way = way_of(self.recognizer)
        return JSONResponse({"made_by": self.provenance.to_json(), **way, "waiting": len(self.desk.waiting)})

    async def line(self, request: Request) -> Response:
        """`POST /line`: the reading of a line image, as `drethtr transcribe --format json` writes it."""
        parameters_of(request)
        with self.admitted():
            reading = await self.desk.read(await self.line_of(request))
        return JSONResponse({**reading.to_json(), "made_by": self.provenance.to_json()})

    async def line_of(self, request: Request) -> Line:
        """The line in a request; its encoded bytes are not kept while it waits."""
        content = await body_of(request)
        if content.startswith(b"%PDF"):
            raise DataError("a PDF is not an image of a line; POST it to /page")
        line = await asyncio.to_thread(self.recognizer.open_line, content)
        height, width = line.shape
        if not is_line_shaped(width, height):
            raise page_for_line("the image", "POST it to /page")
        return line

    async def page(self, request: Request) -> Response:
        """`POST /page?format=alto&name=letter.jpg`: the document of an image or PDF; json by default."""
        asked = parameters_of(request, "format", "name")
        format = named("format", asked.get("format", "json"), FORMATS)
        name = Path(asked.get("name", "")).name or "page"
        with self.admitted(), TemporaryDirectory() as folder:  # the upload waits in a file instead of memory
            path = await asyncio.to_thread(put, await body_of(request), Path(folder), name)
            read = partial(self.document_of, path, format)
            document = await self.desk.alone(read, given_up=request.is_disconnected)
        return Response(document, media_type=format.media)

    def document_of(self, path: Path, format: Format) -> bytes:
        """Read a file and write it in a format.

        Raises:
            DataError: if it cannot be read, or has too many pages.
        """
        try:
            originals = tuple(map(Original, open_pages(path, MOST_PAGES)))
            refuse_several(len(originals), path.name, format)
            sheets = tuple(self.sheet_of(original) for original in originals)
            return format.write(Document(sheets, self.provenance, path if is_pdf(path) else None))
        except DataError as error:
            if error.source is None:
                raise
            raise DataError(error.reason, Path(str(error.source)).name) from error  # without the temporary folder

    def sheet_of(self, original: Original) -> Sheet:
        """A page, read now, with its scan."""
        page = transcribe(original, self.recognizer, self.finder(original))
        return Sheet(page, original.scan(), original.source.number)


class SearchService:
    """The handler of searches in one index; it needs no recognizer, so searches do not wait for readings."""

    def __init__(self, index: Path) -> None:
        self.index = index

    async def search(self, request: Request) -> Response:
        """`GET /search?q=mill&min=0.1&limit=50&strict=1&pages=1`: hits, as `drethtr search --json` prints them."""
        asked = parameters_of(request, "q", "min", "limit", "strict", "pages")
        least, limit = number_in(asked, "min", 0.1), number_in(asked, "limit", 50)
        if not 1 <= limit <= MOST_HITS:
            raise ConfigError(f"limit is 1 to {MOST_HITS}, not {limit:g}")
        strict, pages = (asked.get(name, "0") not in ("0", "", "false") for name in ("strict", "pages"))
        hits = await asyncio.to_thread(self.hits, asked.get("q", ""), strict, pages, least, int(limit))
        return JSONResponse([hit.to_json() for hit in hits])

    def hits(self, query: str, strict: bool, pages: bool, least: float, limit: int) -> list[Hit]:
        """The hits of a query."""
        with open_index(self.index) as index:
            return index.search(query, strict=strict, whole_pages=pages, least=least, limit=limit)


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


def put(content: bytes, folder: Path, name: str) -> Path:
    """Write a new file of this name.

    Raises:
        ConfigError: if no file can have the name.
    """
    path = folder / name
    try:
        path.write_bytes(content)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{name!r} cannot be the name of a file: {error}") from error
    return path


def refuse_several(number: int, name: str, format: Format) -> None:
    """Refuse several pages in a format that holds one page in each file."""
    if number > 1 and not format.together:
        together = ", ".join(key for key, other in FORMATS.items() if other.together)
        raise DataError(f"{name}: holds {number} pages; only {together} can hold several")


def parameters_of(request: Request, *known: str) -> Mapping[str, str]:
    """The parameters of a request.

    Raises:
        ConfigError: for one that is unknown.
    """
    for name in request.query_params:
        if name not in known:
            takes = f"known: {', '.join(known)}" if known else "it has none"
            raise ConfigError(f"{request.url.path} has no parameter {name!r}{hint(name, known)}; {takes}")
    return request.query_params


async def body_of(request: Request) -> bytes:
    """The bytes that a request uploads.

    Raises:
        HTTPException: if there are none or too many, if they come too slowly, or as a form.
    """
    if request.headers.get("content-type", "").startswith("multipart/"):
        raise HTTPException(415, "send the bytes of the image itself, as curl --data-binary @line.png does, not a form")
    pieces, size = [], 0
    refuse_bytes(announced(request))
    try:
        async with asyncio.timeout(MOST_SECONDS):
            async for piece in request.stream():
                pieces.append(piece)
                size += len(piece)
                refuse_bytes(size)
    except TimeoutError as error:
        told = f"the image did not arrive within {MOST_SECONDS:g} seconds; try again, or send a smaller image"
        raise HTTPException(408, told, {"Connection": "close"}) from error
    if not size:
        raise HTTPException(400, "the request has no image; send its bytes, as curl --data-binary @line.png does")
    return b"".join(pieces)


def announced(request: Request) -> int:
    """The length that a request announces; 0 if it announces none.

    Raises:
        HTTPException: if it is not a number.
    """
    length = request.headers.get("content-length", "0")
    if not (length.isascii() and length.isdecimal()):
        raise HTTPException(400, f"Content-Length is {length[:60]!r}; it must be the number of bytes of the image")
    return int(length[:20])  # Python refuses to convert thousands of digits


def refuse_bytes(size: int) -> None:
    """Refuse more bytes than an image may have."""
    if size > MOST_BYTES:
        raise HTTPException(413, f"an image may have at most {MOST_BYTES >> 20} MiB")


def told(request: Request, error: Exception) -> Response:
    """The answer for an expected error, in the words of the command line; a client that has left gets none."""
    if isinstance(error, ClientDisconnect):
        return Response(status_code=400)
    if isinstance(error, HTTPException):
        return JSONResponse({"error": error.detail}, error.status_code, error.headers)
    return JSONResponse({"error": str(error)}, next(status for kind, status in STATUS if isinstance(error, kind)))


def misdirected(request: Request, error: Exception) -> Response:
    """The answer for an unknown address or method: the known ones."""
    assert isinstance(error, HTTPException)
    routes = (route for route in request.app.routes if isinstance(route, Route))
    known = ", ".join(f"{min(route.methods or ())} {route.path}" for route in routes)  # of GET and HEAD the first
    words = f"there is no {request.method} {request.url.path}; known: {known}"
    return JSONResponse({"error": words}, error.status_code, error.headers)


def failed(request: Request, error: Exception) -> Response:
    """The answer for an unexpected error; its cause is only in the log of the server that runs this."""
    return JSONResponse({"error": "the server failed on this request; its log has the cause"}, 500)


def make_app(recognizer: Recognizer, finder: Callable[[Original], Finder], index: Path | None = None) -> Starlette:
    """The application, for any ASGI server; `index` is what `/search` searches, if it is given."""
    service = Service(recognizer, finder)
    routes = [
        Route("/", service.about),
        Route("/line", service.line, methods=["POST"]),
        Route("/page", service.page, methods=["POST"]),
    ]
    if index is not None:
        routes.append(Route("/search", SearchService(index).search))
    expected = dict.fromkeys((HTTPException, DrethtrError, ClientDisconnect), told)
    nowhere = dict.fromkeys((404, 405), misdirected)
    return Starlette(routes=routes, exception_handlers={**expected, **nowhere, Exception: failed})
