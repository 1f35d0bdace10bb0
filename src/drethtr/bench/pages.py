"""Benchmark pages with marked lines: detection rates, seconds per stage, and peak memory."""

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from math import sqrt
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

import numpy as np
from PIL import Image, ImageDraw

from drethtr.base.arrays import Booleans
from drethtr.cli.reports import table
from drethtr.documents.points import Box, Points, box_around
from drethtr.evaluation.layout import best_pairs
from drethtr.layout.finder import Finder, Layout
from drethtr.layout.order import arranged
from drethtr.pages import transcribe_page
from drethtr.pages.line_reading import readable_strip
from drethtr.pages.placing import on_page
from drethtr.pages.source import Original
from drethtr.paper.speed.race import RESET, resident
from drethtr.recognition.recognizer import Recognizer


@dataclass(frozen=True)
class Detection:
    """Numbers of reference lines, detected lines, and matched pairs; `overlap` is the sum of the pairs' IoU."""

    marked: int = 0
    found: int = 0
    both: int = 0
    overlap: float = 0.0

    def __add__(self, other: "Detection") -> "Detection":
        return Detection(
            self.marked + other.marked, self.found + other.found, self.both + other.both, self.overlap + other.overlap
        )

    @property
    def recall(self) -> float:
        """The share of reference lines that were detected."""
        return self.both / max(self.marked, 1)

    @property
    def precision(self) -> float:
        """The share of detected lines that match a reference line."""
        return self.both / max(self.found, 1)

    @property
    def mean_overlap(self) -> float:
        """Mean intersection over union of the pairs."""
        return self.overlap / max(self.both, 1)


class Match(NamedTuple):
    """The numbers of a reference outline and of the detected one that matches it, with their IoU."""

    marked: int
    found: int
    overlap: float


def compare_outlines(marked: Sequence[Points], found: Sequence[Points]) -> Detection:
    """Count the outlines that `match_outlines` matches."""
    matches = match_outlines(marked, found)
    return Detection(len(marked), len(found), len(matches), sum(match.overlap for match in matches))


def match_outlines(marked: Sequence[Points], found: Sequence[Points]) -> list[Match]:
    """Match each reference outline with at most one detected outline, best IoU first, down to an IoU of 0.5."""
    shares = np.array([[intersection_over_union(a, b) for b in found] for a in marked]).reshape(len(marked), len(found))
    return [Match(*pair, float(shares[pair])) for pair in best_pairs(shares, 0.5)]


def intersection_over_union(first: Points, second: Points) -> float:
    """Intersection over union of two polygons."""
    a, b = box_around(first), box_around(second)
    if a is None or b is None or a.left >= b.right or b.left >= a.right or a.top >= b.bottom or b.top >= a.bottom:
        return 0.0
    window = Box(min(a.left, b.left), min(a.top, b.top), max(a.right, b.right), max(a.bottom, b.bottom))
    areas = [area(polygon, window) for polygon in (first, second)]
    return float((areas[0] & areas[1]).sum() / max((areas[0] | areas[1]).sum(), 1))


def area(polygon: Points, window: Box) -> Booleans:
    """The pixels of a window that a polygon covers."""
    drawn = Image.new("1", (window.width + 1, window.height + 1))
    ImageDraw.Draw(drawn).polygon([(x - window.left, y - window.top) for x, y in polygon], fill=1)
    return np.asarray(drawn)


LARGE = 48_000_000
"""Pixels of the scan on which memory is measured: 6,000 x 8,000 of a usual page."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class PageFigures:
    """The figures of one page: seconds by stage, and detected lines against marked ones."""

    name: str
    lines: int
    load: float
    find: float
    cut: float
    read: float
    detection: Detection

    @property
    def seconds(self) -> float:
        """Seconds of all stages."""
        return self.load + self.find + self.cut + self.read


def measure(pages: Sequence[Original], recognizer: Recognizer, finder: Finder) -> list[PageFigures]:
    """Read every page twice, and keep the second time, since the first loads the networks."""
    return [[measure_page(page, recognizer, finder) for _ in range(2)][-1] for page in pages]


def measure_page(page: Original, recognizer: Recognizer, finder: Finder) -> PageFigures:
    """Read one page, timing each stage."""
    gray, load = timed(page.source.gray)
    lines, find = timed(lambda: finder.find(gray))
    layout, sort = timed(lambda: arranged(Layout.of(lines)))
    order = [number for region in layout.regions or () for number in region.lines]
    strips, cut = timed(lambda: [readable_strip(gray, lines[number], recognizer) for number in order])
    _, read = timed(lambda: recognizer.read_lines([strip.line for strip in strips if strip is not None]))
    height, width = gray.shape
    given = page.given_for(gray)
    marked = [line.polygon for line in given.lines if line.polygon] if given is not None else []
    detection = compare_outlines(marked, [on_page(line.polygon, width, height) for line in lines])
    return PageFigures(page.name, len(lines), load, find + sort, cut, read, detection)


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """Call a function; returns its result and the seconds it took."""
    start = perf_counter()
    result = work()
    return result, perf_counter() - start


def peak_bytes(page: Original, finder: Finder, device: str, threads: int | None) -> int | None:
    """Peak memory of a process that reads the page scaled to `LARGE` pixels; None if the system cannot measure it."""
    if not RESET.exists():
        return None
    with TemporaryDirectory() as folder, ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        # In a separate process: memory that this one has taken and freed would hide the peak.
        path = Path(folder) / "scan.jpg"
        image = page.source.image()
        scale = sqrt(LARGE / (image.width * image.height))  # of both sides alike: an opening stays one
        size = round(image.width * scale), round(image.height * scale)
        image.resize(size, Image.Resampling.BICUBIC).save(path, quality=90)
        return pool.submit(read_and_weigh, path, finder, device, threads).result()


def read_and_weigh(path: Path, finder: Finder, device: str, threads: int | None) -> int:
    """Read a page in this process, and return the peak memory of the process."""
    transcribe_page(path, Recognizer.load(device=device, threads=threads), finder)
    return resident("VmHWM")


def report(figures: Sequence[PageFigures], peak: int | None) -> str:
    """The figures as text."""
    titles = ("page", "lines", "load s", "find s", "cut s", "read s", "all s", "recall %", "precision %", "mean IoU")
    cells = []
    for page in figures:
        found = page.detection
        seconds = (f"{value:.2f}" for value in (page.load, page.find, page.cut, page.read, page.seconds))
        rates = f"{100 * found.recall:.1f}", f"{100 * found.precision:.1f}", f"{found.mean_overlap:.2f}"
        cells.append((Path(page.name).name, f"{page.lines}", *seconds, *rates))
    rows = [table(titles, cells)]
    total = sum((page.detection for page in figures), Detection())
    mean = sum(page.seconds for page in figures) / len(figures)
    rows.append(
        f"\n{mean:.2f} s per page; {total.both} of {total.marked} marked lines found, and {total.found - total.both} "
        "others; a line counts as found if its outline and the marked one have an IoU of at least 0.5"
    )
    if peak is not None:
        rows.append(f"{peak / 1e6:,.0f} MB at the peak, with a scan of {LARGE / 1e6:.0f} million pixels")
    return "\n".join(rows)


def to_json(figures: Sequence[PageFigures], peak: int | None) -> dict[str, Any]:
    """The figures as plain values; times are in seconds."""
    return {"pages": [asdict(page) for page in figures], "peak_bytes": peak}
