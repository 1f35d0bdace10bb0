"""The addresses that read: lines and pages, of whoever sends them."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from drethtr.base.config import named
from drethtr.base.errors import ConfigError, DataError
from drethtr.documents.document import Document, Provenance, Sheet
from drethtr.documents.formats import FORMATS, Format
from drethtr.images.line import Line, is_line_shaped, page_for_line
from drethtr.images.page import is_pdf, open_pages
from drethtr.layout.finder import Finder
from drethtr.pages.provenance import provenance_of, way_of
from drethtr.pages.source import Original
from drethtr.pages.transcribe import transcribe
from drethtr.recognition.recognizer import Recognizer
from drethtr.server.desk import Desk
from drethtr.server.uploads import body_of, parameters_of

MOST_REQUESTS = 64
"""How many requests with an image may be in progress; `GET /` is always answered."""

MOST_PAGES = 20
"""Pages of one request; `drethtr transcribe` reads longer books."""


class Service:
    """The handlers for one recognizer; `finder` chooses what finds the lines of a page."""

    def __init__(
        self, recognizer: Recognizer, finder: Callable[[Original], Finder], executor: Executor | None = None
    ) -> None:
        self.recognizer = recognizer
        self.finder = finder
        self.desk = Desk(recognizer, executor)
        self.answering = 0

    def use(self, recognizer: Recognizer) -> None:
        """Read with another recognizer from now on."""
        self.recognizer = self.desk.recognizer = recognizer

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
