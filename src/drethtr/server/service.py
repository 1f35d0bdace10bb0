"""The handlers for reading lines and pages, and for searching an index."""

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from errno import EDQUOT, EMFILE, ENFILE, ENOSPC
from pathlib import Path
from tempfile import gettempdir

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from drethtr.base.config import named
from drethtr.base.errors import ConfigError, DataError, DrethtrError
from drethtr.base.files import own_folder, tidied
from drethtr.documents.beside import stem_of_page
from drethtr.documents.document import Document, Provenance
from drethtr.documents.formats import FORMATS, ZIP, Format
from drethtr.images.line import Line, is_line_shaped, page_for_line
from drethtr.images.page import PageSource, open_pages
from drethtr.images.page_file import is_pdf
from drethtr.pages.line_reading import ReadLines
from drethtr.pages.segmentation import Segmentation
from drethtr.pages.source import Original
from drethtr.pages.transcribe import PageReader
from drethtr.recognition.recognizer import Recognizer
from drethtr.search.index import LEAST, LIMIT, Hit, open_index
from drethtr.server.request_queue import PageTurns, RequestQueue
from drethtr.server.uploads import (
    Budget,
    HeavyWork,
    Share,
    Upload,
    is_set,
    number_in,
    parameters_of,
    uploads_of,
    whole_number,
)

MAX_REQUESTS = 64
"""How many requests with an image may be in progress; `GET /` is always answered."""

MAX_PAGES = 20
"""Pages of one request; `drethtr transcribe` reads longer books."""

USED_UP = frozenset({ENOSPC, EDQUOT, EMFILE, ENFILE})
"""Errors of writing a file that another name would not cure."""


class Service:
    """The handlers for one recognizer and one segmentation of pages into lines.

    Raises:
        DrethtrError: if there is no folder for temporary files, in which pages wait.
    """

    def __init__(self, recognizer: Recognizer, segmentation: Segmentation, executor: Executor | None = None) -> None:
        self.recognizer = recognizer
        self.segmentation = segmentation
        self.request_queue = RequestQueue(recognizer, executor)
        self.pages = HeavyWork()
        self.answering = 0
        self.budget = Budget()
        self.place = temporary_folder()
        tidied(self.place)  # uploads left by a killed server

    def use(self, recognizer: Recognizer) -> None:
        """Use another recognizer from now on."""
        self.recognizer = self.request_queue.recognizer = recognizer

    @property
    def provenance(self) -> Provenance:
        """The provenance of results of the present recognizer."""
        return self.recognizer.provenance()

    async def uploaded(self, request: Request, share: Share, name: str = "") -> list[Upload]:
        """The files that a request uploads, as `uploads_of` gives them, unless too many requests are in progress.

        Raises:
            HTTPException: also if there are too many.
        """
        self.refuse_too_many()  # before an upload that would be refused anyway
        return await uploads_of(request, share, name)

    @contextmanager
    def admit(self) -> Iterator[None]:
        """Count a request while it is processed. Call it after the upload, or slow clients would shut out others.

        Raises:
            HTTPException: if there are too many.
        """
        self.refuse_too_many()
        self.answering += 1
        try:
            yield
        finally:
            self.answering -= 1

    def refuse_too_many(self) -> None:
        """Refuse a request if too many are in progress.

        Raises:
            HTTPException: if there are.
        """
        if self.answering >= MAX_REQUESTS:
            raise HTTPException(503, f"{MAX_REQUESTS} requests are waiting; try again later", {"Retry-After": "1"})

    async def health(self, request: Request) -> Response:
        """`GET /health`: whether the server answers."""
        return JSONResponse({"status": "ok"})

    async def about(self, request: Request) -> Response:
        """`GET /about`, and `GET /` of a server without an editor: the model, and how many lines are waiting."""
        made = {"made_by": self.provenance.to_json(), **self.recognizer.settings}
        return JSONResponse({**made, "waiting": len(self.request_queue.waiting)})

    async def read_line_image(self, request: Request) -> Response:
        """`POST /line`: the reading of a line image, as `drethtr transcribe --format json` writes it.

        For a form with several files, it is a list in their order.
        """
        parameters_of(request)
        with self.budget.share() as share:
            uploads = await self.uploaded(request, share)
            with self.admit():
                lines = await self.lines_of(uploads, share)
                readings = await asyncio.gather(*map(self.request_queue.read, lines))
        made_by = self.provenance.to_json()
        answers = [{**reading.to_json(), "made_by": made_by} for reading in readings]
        return JSONResponse(answers if len(answers) > 1 else answers[0])

    async def lines_of(self, uploads: list[Upload], share: Share) -> list[Line]:
        """Decode the lines in uploads, and empty the list of uploads: encoded bytes are not kept while lines wait."""
        lines = []
        for upload in uploads:
            lines.append(await asyncio.to_thread(self.open_line, upload))
            share.add(lines[-1].size)
        uploads.clear()
        return lines

    def open_line(self, upload: Upload) -> Line:
        """Decode the image of a line.

        Raises:
            DataError: if it is not one, or cannot be read.
        """
        if upload.content.startswith(b"%PDF"):
            raise DataError("a PDF is not an image of a line; POST it to /page", upload.name or None)
        try:
            line = self.recognizer.open_line(upload.content)
        except DataError as error:
            raise DataError(error.reason, upload.name or error.source) from error
        height, width = line.shape
        if not is_line_shaped(width, height):
            raise page_for_line(upload.name or "the image", "POST it to /page")
        return line

    async def read_page_image(self, request: Request) -> Response:
        """`POST /page?format=alto&name=letter.jpg`: the document of an image or PDF, or of a form of several; as json.

        Several pages are one document if the format holds several; a list in json; else a ZIP file.
        """
        asked = parameters_of(request, "format", "name")
        format = named("format", asked.get("format", "json"), FORMATS)
        with self.budget.share() as share:
            uploads = await self.uploaded(request, share, asked.get("name", ""))
            with self.admit(), own_folder(self.place) as folder:  # uploads wait in files instead of memory
                paths = await self.save_uploads(uploads, folder)
                turns = PageTurns(self.request_queue, request.is_disconnected)
                try:
                    return await self.pages.run(request, self.document_of, paths, format, turns)
                finally:
                    turns.ended = True  # the thread may continue after the server stops

    async def save_uploads(self, uploads: list[Upload], folder: Path) -> list[Path]:
        """Save uploads, each in its own folder, as names may be equal, and empty the list of uploads."""
        paths = []
        for number, upload in enumerate(uploads):
            own = folder / str(number)
            own.mkdir()
            paths.append(await asyncio.to_thread(save_upload, upload.content, own, Path(upload.name).name or "page"))
        uploads.clear()
        return paths

    def document_of(self, paths: Sequence[Path], format: Format, read_lines: ReadLines) -> Response:
        """Read files and write them in a format.

        Raises:
            DataError: if one cannot be read, or all have too many pages.
        """
        try:
            originals = [Original(source) for path in paths for source in open_pages(path, MAX_PAGES)]
            if len(originals) > MAX_PAGES:
                raise DataError(f"the files have more than {MAX_PAGES:,} pages; send them in several requests")
            reader = PageReader(self.recognizer, self.segmentation, read_lines=read_lines)
            sheets = tuple(original.sheet(reader.transcribe(original)) for original in originals)
            pdf = paths[0] if len(paths) == 1 and is_pdf(paths[0]) else None
            document = Document(sheets, self.provenance, pdf)
            return write_document(document, format, [original.source for original in originals])
        except DataError as error:
            if error.source is None:
                raise
            raise DataError(error.reason, Path(str(error.source)).name) from error  # without the temporary folder


def temporary_folder() -> Path:
    """The folder for temporary files.

    Raises:
        DrethtrError: if there is none, as in a container that may write nothing.
    """
    try:
        return Path(gettempdir())
    except FileNotFoundError as error:
        raise DrethtrError(
            "there is no folder for temporary files; make /tmp writable, or name another folder in TMPDIR"
        ) from error


def write_document(document: Document, format: Format, sources: Sequence[PageSource]) -> Response:
    """Write a document; several pages become a JSON list or a ZIP file if the format holds one page."""
    if format.together or len(sources) == 1:
        return Response(format.write(document), media_type=format.media)
    contents = [format.write(part) for part in document.apart()]
    if format is FORMATS["json"]:
        return Response(b"[" + b",".join(contents) + b"]", media_type=format.media)
    stems = (stem_of_page(source.path.stem, source) for source in sources)
    return Response(format.archive(zip(stems, contents, strict=True)), media_type=ZIP)


def save_upload(content: bytes, folder: Path, name: str) -> Path:
    """Write a new file of this name.

    Raises:
        ConfigError: if no file can have the name.
        DrethtrError: if there is no room for it.
    """
    path = folder / name
    try:
        path.write_bytes(content)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in USED_UP:
            raise DrethtrError(f"this server cannot keep the image: {error.strerror}") from error
        reason = error.strerror if isinstance(error, OSError) else error  # without the temporary folder
        raise ConfigError(f"{name!r} cannot be the name of a file: {reason}") from error
    return path


MAX_HITS = 1000
"""How many hits a search may ask for."""


class SearchService:
    """The handler for searches in one index; it needs no recognizer, so searches do not wait for readings."""

    def __init__(self, index: str | Path) -> None:
        self.index = index
        self.searching = HeavyWork()  # each search uses all processors

    async def search_index(self, request: Request) -> Response:
        """`GET /search?q=mill&min=0.1&limit=50&strict=1&pages=1`: hits, as `drethtr search --json` prints them."""
        asked = parameters_of(request, "q", "min", "limit", "strict", "pages")
        least, limit = number_in(asked, "min", LEAST), whole_number(asked, "limit", LIMIT, MAX_HITS)
        strict, pages = is_set(asked, "strict"), is_set(asked, "pages")
        hits = await self.searching.run(request, self.hits, asked.get("q", ""), strict, pages, least, limit)
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
