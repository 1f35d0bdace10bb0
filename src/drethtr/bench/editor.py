"""Benchmark requests to `drethtr edit` in a folder of many pages, as a browser would make them."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import NamedTuple

from PIL import Image
from starlette.testclient import TestClient

from drethtr.documents.document import Document, Provenance, Scan, Sheet
from drethtr.documents.formats import FORMATS
from drethtr.documents.page import Page, Region, TextLine
from drethtr.documents.transcription import PageWord, Transcription
from drethtr.editing import Session, Workspace
from drethtr.pages.segmentation import segmentation_named
from drethtr.paper.speed.report import markdown_table
from drethtr.recognition.recognizer import Recognizer
from drethtr.server.app import make_app

SIZE = 1500, 2000
"""Size of a scan in pixels."""

NAME = "scan.jpg"

WORDS = ("We", "have", "received", "your", "letter", "of", "the", "fourth")

TIMES = 5
"""Repetitions of each request."""


class RequestTime(NamedTuple):
    """Seconds of a request, or of opening the folder; `busy` is processor time."""

    name: str
    seconds: float
    busy: float


def measure(pages: int, lines: int, recognizer: Recognizer) -> list[RequestTime]:
    """Generate a folder of `pages` pages with `lines` lines each, and time requests to it."""
    with TemporaryDirectory() as made:
        folder = Path(made)
        make_folder(folder, pages, lines)
        with Workspace.open(folder) as workspace:
            # The first overview reads every file; later ones know them from the record.
            first = timed("the very first overview", workspace.pages)
        opened = timed("opening the folder again", lambda: Workspace.open(folder).close())
        workspace = Workspace.open(folder)
        segmentation = segmentation_named("projection")
        with (
            workspace,
            Session(workspace, recognizer, segmentation) as session,
            TestClient(make_app(recognizer, segmentation, session=session), "http://localhost") as client,
        ):
            idle = [timed("a check for changes by others", session.watcher.look) for _ in range(TIMES)]
            return [first, opened, *requests(client), middle(idle)]


def requests(client: TestClient) -> list[RequestTime]:
    """Time typical requests."""
    page = client.get("/api/pages").json()[0]["id"]
    here = f"/api/pages/{page}"

    def save() -> None:
        line = client.get(here).json()["lines"][0]
        text = {"text": line["text"] + "."}
        client.put(f"{here}/lines/{line['id']}", json=text, headers={"If-Match": line["revision"]}).raise_for_status()

    def get(address: str) -> Callable[[], object]:
        return lambda: client.get(address).raise_for_status()

    strip = client.get(here).json()["lines"][0]["strip"]
    wanted = {
        "overview": get("/api/pages"),
        "status": get("/api/status"),
        "page": get(here),
        "line strip, the first of its page": get(strip),
        "saving a line, and fetching its page": save,
        "search": get("/api/search?q=letter"),
    }
    return [middle([timed(name, ask) for _ in range(TIMES)]) for name, ask in wanted.items()]


def make_folder(folder: Path, pages: int, lines: int) -> None:
    """Write blank scans with PAGE files, as if they had been read."""
    width, height = SIZE
    image = Image.new("L", SIZE, 255)
    pitch, step = height // (lines + 1), width // (len(WORDS) + 1)
    read = []
    for number in range(lines):
        top, bottom = number * pitch, number * pitch + pitch * 3 // 4
        boxes = [(step * place, top, step * place + step - 9, bottom) for place in range(len(WORDS))]
        words = tuple(
            PageWord(word, 0.9, ((left, top), (right, top), (right, bottom), (left, bottom)))
            for word, (left, _, right, _) in zip(WORDS, boxes, strict=True)
        )
        polygon = ((0, top), (width, top), (width, bottom), (0, bottom))
        text = Transcription(" ".join(WORDS), 0.95, words)
        read.append(TextLine(f"l{number}", polygon, ((0, bottom - 5), (width, bottom - 5)), text))
    page = Page(NAME, *SIZE, (Region("r1", tuple(read)),))
    file = FORMATS["page"].write(Document((Sheet(page, Scan(lambda: image)),), Provenance.now("benchmark")))
    scan = BytesIO()
    image.save(scan, "JPEG")
    for number in range(pages):
        name = f"{number:04}.jpg"
        (folder / name).write_bytes(scan.getvalue())
        (folder / name).with_suffix(".page.xml").write_bytes(file.replace(NAME.encode(), name.encode()))


def timed(name: str, work: Callable[[], object]) -> RequestTime:
    """Time a function."""
    began, busy = perf_counter(), process_time()
    work()
    return RequestTime(name, perf_counter() - began, process_time() - busy)


def middle(figures: list[RequestTime]) -> RequestTime:
    """The median of repeated requests."""
    return RequestTime(figures[0].name, median(one.seconds for one in figures), median(one.busy for one in figures))


def table(figures: list[RequestTime]) -> str:
    """The figures in Markdown."""
    rows = [(one.name, f"{one.seconds:.3f}", f"{one.busy:.3f}") for one in figures]
    return markdown_table(("request", "seconds", "of the processor"), rows)
