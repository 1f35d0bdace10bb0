"""The HTTP application: its routes, their input, and error responses."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
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
from drethtr.images.page import is_pdf, open_pages
from drethtr.layout.finder import Finder
from drethtr.pages.source import Original
from drethtr.pages.transcribe import transcribe
from drethtr.recognition.recognizer import Recognizer
from drethtr.server.desk import Desk

MOST_REQUESTS = 64
"""Maximum number of requests that upload or wait; `GET /` is always answered."""

MOST_BYTES = 64 << 20
MOST_PAGES = 20
"""Limits of one request; longer books are for `drethtr transcribe`."""

MOST_SECONDS = 60.0
"""Maximum time for an upload."""

STATUS = ((DataError, 422), (ConfigError, 400), (DrethtrError, 500))
"""Status codes of expected errors, first match: of the image, of the request, of this server."""


class Service:
    """The routes of one recognizer; `finder` selects the line segmentation of a page."""

    def __init__(self, recognizer: Recognizer, finder: Callable[[Original], Finder]) -> None:
        self.recognizer = recognizer
        self.finder = finder
        self.desk = Desk(recognizer)
        self.answering = 0

    @property
    def provenance(self) -> Provenance:
        """The provenance of a response made now."""
        return Provenance.now(self.recognizer.model.identity)

    @contextmanager
    def admitted(self) -> Iterator[None]:
        """A context that counts a request while it is processed.

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
        """`GET /`: the model and its settings, and how many lines wait."""
        way = {"decoder": repr(self.recognizer.decoder), "precision": self.recognizer.precision.label}
        return JSONResponse({"made_by": self.provenance.to_json(), **way, "waiting": len(self.desk.waiting)})

    async def line(self, request: Request) -> Response:
        """`POST /line`: read the image of a line, with the result of `drethtr transcribe --format json`."""
        parameters_of(request)
        with self.admitted():
            reading = await self.desk.read(await self.line_of(request))
        return JSONResponse({**reading.to_json(), "made_by": self.provenance.to_json()})

    async def line_of(self, request: Request) -> Line:
        """The line in a request; the encoded image is not kept while the line waits."""
        content = await body_of(request)
        if content.startswith(b"%PDF"):
            raise DataError("a PDF is not a line image; POST it to /page")
        line = await asyncio.to_thread(self.recognizer.open_line, content)
        height, width = line.shape
        if not is_line_shaped(width, height):
            raise page_for_line("the image", "POST it to /page")
        return line

    async def page(self, request: Request) -> Response:
        """`POST /page?format=alto&name=letter.jpg`: read an image or PDF, and return a document; json by default."""
        asked = parameters_of(request, "format", "name")
        format = named("format", asked.get("format", "json"), FORMATS)
        format.refuse_missing()
        name = Path(asked.get("name", "")).name or "page"
        with self.admitted(), TemporaryDirectory() as folder:  # keep the upload on disk, not in memory, while it waits
            path = await asyncio.to_thread(put, await body_of(request), Path(folder), name)
            read = partial(self.document_of, path, format)
            document = await self.desk.alone(read, given_up=request.is_disconnected)
        return Response(document, media_type=format.media)

    def document_of(self, path: Path, format: Format) -> bytes:
        """Read a file and write it in the given format.

        Raises:
            DataError: if it cannot be read, or has too many pages.
        """
        try:
            originals = tuple(map(Original, open_pages(path, MOST_PAGES)))
            refuse_several(len(originals), path.name, format)
            sheets = tuple(self.sheet_of(original) for original in originals)
            return format.write(Document(sheets, self.provenance, path if is_pdf(path) else None))
        except DataError as error:
            raise DataError(str(error).replace(str(path), path.name)) from error

    def sheet_of(self, original: Original) -> Sheet:
        """A page that was read, with its scan."""
        page = transcribe(original, self.recognizer, self.finder(original))
        return Sheet(page, original.scan(), original.source.number)


def put(content: bytes, folder: Path, name: str) -> Path:
    """Write a new file of this name.

    Raises:
        ConfigError: if the name is not possible for a file.
    """
    path = folder / name
    try:
        path.write_bytes(content)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{name!r} cannot be the name of a file: {error}") from error
    return path


def refuse_several(number: int, name: str, format: Format) -> None:
    """Refuse several pages in a format that holds one page per file."""
    if number > 1 and not format.together:
        together = ", ".join(key for key, other in FORMATS.items() if other.together)
        raise DataError(f"{name}: has {number} pages, which only {together} can hold")


def parameters_of(request: Request, *known: str) -> Mapping[str, str]:
    """The query parameters of a request.

    Raises:
        ConfigError: if there are unknown ones.
    """
    for name in request.query_params:
        if name not in known:
            takes = f"known: {', '.join(known)}" if known else "it has none"
            raise ConfigError(f"{request.url.path} has no parameter {name!r}{hint(name, known)}; {takes}")
    return request.query_params


async def body_of(request: Request) -> bytes:
    """The body of a request, in memory.

    Raises:
        HTTPException: if it is empty, too large, too slow, or a form.
    """
    if request.headers.get("content-type", "").startswith("multipart/"):
        raise HTTPException(415, "send only the bytes of the image, not a form: curl --data-binary @line.png")
    pieces, size = [], 0
    refuse_bytes(int(request.headers.get("content-length", 0)))
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
        raise HTTPException(400, "the request has no body; send the bytes of the image: curl --data-binary @line.png")
    return b"".join(pieces)


def refuse_bytes(size: int) -> None:
    """Refuse a body that exceeds the limit."""
    if size > MOST_BYTES:
        raise HTTPException(413, f"the image exceeds the limit of {MOST_BYTES >> 20} MiB")


def told(request: Request, error: Exception) -> Response:
    """The response to an expected error, with the message of the command line."""
    if isinstance(error, ClientDisconnect):
        return Response(status_code=400)
    if isinstance(error, HTTPException):
        return JSONResponse({"error": error.detail}, error.status_code, error.headers)
    return JSONResponse({"error": str(error)}, next(status for kind, status in STATUS if isinstance(error, kind)))


def misdirected(request: Request, error: Exception) -> Response:
    """The response to an unknown route, with the known ones."""
    assert isinstance(error, HTTPException)
    routes = (route for route in request.app.routes if isinstance(route, Route))
    known = ", ".join(f"{min(route.methods or ())} {route.path}" for route in routes)  # GET rather than HEAD
    words = f"unknown route {request.method} {request.url.path}; known: {known}"
    return JSONResponse({"error": words}, error.status_code, error.headers)


def failed(request: Request, error: Exception) -> Response:
    """The response to an unexpected error; details go only to the log of the server."""
    return JSONResponse({"error": "internal server error; see the log of the server"}, 500)


def make_app(recognizer: Recognizer, finder: Callable[[Original], Finder]) -> Starlette:
    """The application, for any ASGI server."""
    service = Service(recognizer, finder)
    routes = [
        Route("/", service.about),
        Route("/line", service.line, methods=["POST"]),
        Route("/page", service.page, methods=["POST"]),
    ]
    expected = dict.fromkeys((HTTPException, DrethtrError, ClientDisconnect), told)
    nowhere = dict.fromkeys((404, 405), misdirected)
    return Starlette(routes=routes, exception_handlers={**expected, **nowhere, Exception: failed})
