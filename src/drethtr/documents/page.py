"""A page of a document: its lines in reading order, with their positions and texts.

Coordinates are integer pixels of the upright page image, x from the left, y from the top.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, Self, TypeAlias

from PIL import Image

from drethtr.base.errors import DataError
from drethtr.base.wording import counted
from drethtr.documents.html import ShownLine, lines_html
from drethtr.documents.markup import Element
from drethtr.documents.points import Box, Point, Points, box_around, upright
from drethtr.documents.transcription import PageFlag, PageWord, Review, Tag, Transcription
from drethtr.images.decode import MIRRORED, OPPOSITE, QUARTER_TURNS
from drethtr.images.page import PageSource

TABLE = "table"
"""The kind of a cell, unless the file uses another word."""

MAX_EMPTY = 50
"""Maximum number of cells of a table for each cell with lines; untrusted files may give any row and column."""

ROLES = {
    "margin": "margin",
    "interlinear": "insertion",
    "insertion": "insertion",
    "number": "number",
    "quire": "number",
    "stamp": "stamp",
    "print": "print",
}
"""The roles of lines by their kind, or that of their region, in our words and those of SegmOnto and PAGE."""

LINES = {"InterlinearLine": "insertion"} | {
    f"DefaultLine:{role}": role for role in ("margin", "number", "stamp", "print")
}
"""The kinds that eScriptorium gives to lines, in the words of SegmOnto; those that it lacks extend `DefaultLine`."""

MAX_LINES = 10_000
"""Maximum number of lines of a page: ten times the fullest register, and few enough that an untrusted file exhausts
neither time nor memory."""

SAME_SHAPE = 0.01
"""Tolerance of the aspect ratio if the size of an image differs from the description."""


def role_of(*kinds: str) -> str:
    """The role of a line by its own kind and that of its region, as in `drethtr.layout.finder.Role`; "" for most.

    An insertion comes after the line it belongs to, which is below it.
    """
    return next((role for kind in kinds for part, role in ROLES.items() if part in kind.lower()), "")


def in_words_of(words: Mapping[str, str], kind: str) -> str:
    """A kind in another vocabulary, given as a mapping from its words to ours."""
    return next((theirs for theirs, ours in words.items() if ours == kind), kind)


@dataclass(frozen=True)
class TextLine:
    """A line with its position, as far as known, and its text, None before it is read.

    id        unique id of the line on its page
    polygon   outline of the ink
    baseline  line under the letters, from the first to the last
    kind      a word for what it is, such as `insertion` or that of its file; "" for most lines, see `role_of`
    """

    id: str
    polygon: Points | None = None
    baseline: Points | None = None
    transcription: Transcription | None = None
    kind: str = ""

    @property
    def text(self) -> str:
        """The text, or "" if there is none."""
        return self.transcription.text if self.transcription else ""

    @property
    def review(self) -> Review | None:
        """What a person did with the text, if anything."""
        return self.transcription.review if self.transcription else None

    @property
    def is_reviewed(self) -> bool:
        """Whether a person corrected or confirmed the text."""
        return self.review is not None

    @property
    def confidence(self) -> float | None:
        """The confidence of the text, if available."""
        return self.transcription.confidence if self.transcription else None

    @property
    def words(self) -> tuple[PageWord, ...]:
        """The words, if they are known."""
        return self.transcription.words if self.transcription else ()

    @property
    def tags(self) -> tuple[Tag, ...]:
        """The tags that people set in the text."""
        return self.transcription.tags if self.transcription else ()

    @property
    def flags(self) -> tuple[PageFlag, ...]:
        """Warnings about the line as a whole."""
        return self.transcription.flags if self.transcription else ()

    @property
    def is_placed(self) -> bool:
        """Whether it has a baseline or a polygon."""
        return bool(self.baseline or self.polygon)

    @property
    def box(self) -> Box | None:
        """The bounding box of the polygon, else of the words, else of the baseline."""
        of_words = (point for word in self.words for point in word.polygon or ())
        return box_around(self.polygon or ()) or box_around(of_words) or box_around(self.baseline or ())


class CellPlace(NamedTuple):
    """The place of a cell: the id of its table, its row and its column, from 0."""

    table: str
    row: int
    column: int


def refuse_many(number: int, name: str) -> None:
    """Refuse a page with more than `MAX_LINES` lines.

    Raises:
        DataError: naming its file.
    """
    if number > MAX_LINES:
        raise DataError(f"has {number:,} lines; a page may have {MAX_LINES:,}: split it", name)


@dataclass(frozen=True)
class Region:
    """A block of lines: a column, a marginal note, a cell of a table.

    kind  a word for what it is, such as `text` or `margin`, or that of the file; "" if unknown, `table` for most cells
    cell  its place, if it is a cell of a table
    text  its text as a whole, if the file gives none to its lines; it may have several rows
    """

    id: str
    lines: tuple[TextLine, ...] = ()
    polygon: Points | None = None
    kind: str = ""
    cell: CellPlace | None = None
    text: str = ""

    @property
    def box(self) -> Box | None:
        """The bounding box of the polygon, else of the lines."""
        return box_around(self.polygon or ()) or box_around(
            corner for line in self.lines if (box := line.box) for corner in box.polygon()
        )


def rows_of_table(regions: Sequence[Region]) -> dict[int, dict[int, list[Region]]]:
    """The cells of a table by rows and columns, empty ones included, unless nearly all cells would be empty."""
    cells = [(region, region.cell) for region in regions if region.cell is not None]
    rows, columns = sorted({cell.row for _, cell in cells}), sorted({cell.column for _, cell in cells})
    filled = len(rows) * len(columns) <= MAX_EMPTY * len(cells)
    table: dict[int, dict[int, list[Region]]] = {row: {column: [] for column in columns if filled} for row in rows}
    for region, cell in cells:
        table[cell.row].setdefault(cell.column, []).append(region)
    return table


@dataclass(frozen=True, repr=False)
class Page:
    """A page with its regions in reading order.

    image          file name of the scan, without folders
    width, height  size of the scan in pixels; 0 if unknown
    source         opens the scan, if the page was read from one
    flags          warnings about the page as a whole; only JSON has them
    oddities       values of its description that cannot be understood and are left out, each with its place
    orientation    the EXIF orientation by which the page was turned, if its description is of the stored pixels; else 1
    approved       whether somebody has approved its texts in Transkribus; each is then confirmed, unless it was changed

    Raises:
        DataError: if two lines, or two regions, share an id.
    """

    image: str
    width: int
    height: int
    regions: tuple[Region, ...] = ()
    source: PageSource | None = field(default=None, compare=False)
    flags: tuple[PageFlag, ...] = ()
    oddities: tuple[str, ...] = field(default=(), compare=False)
    orientation: int = field(default=1, compare=False)
    approved: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        for kind, ids in (("lines", [line.id for line in self.lines]), ("regions", [r.id for r in self.regions])):
            if len(set(ids)) < len(ids):
                twice = Counter(ids).most_common(1)[0][0]
                raise DataError(f"page {self.image!r}: two {kind} share the id {twice!r}")

    def __repr__(self) -> str:
        return f"<Page: {self.image}, {self.width} x {self.height} pixels, {counted(len(self.lines), 'line')}>"

    @property
    def lines(self) -> tuple[TextLine, ...]:
        """All lines in reading order."""
        return tuple(line for region in self.regions for line in region.lines)

    @property
    def blocks(self) -> tuple[tuple[Region, ...], ...]:
        """The regions in reading order, the cells of a table together."""
        groups = groupby(self.regions, lambda region: region.cell.table if region.cell else region)
        return tuple(tuple(group) for _, group in groups)

    @property
    def text(self) -> str:
        """The texts of all transcribed lines, one per row."""
        return "".join(f"{line.text}\n" for line in self.lines if line.transcription is not None)

    @property
    def running_text(self) -> str:
        """The text of the page, one row per line; of regions whose lines have none, their own text."""
        rows: list[str] = []
        for region in self.regions:
            of_lines = [line.text for line in region.lines if line.transcription is not None]
            rows += of_lines if any(of_lines) else region.text.splitlines() or of_lines
        return "".join(f"{row}\n" for row in rows)

    def _repr_html_(self) -> str:
        """The page for notebooks: its transcribed lines, each below its strip of the scan."""
        lines = [line for line in self.lines if line.transcription is not None]
        scan = self.shown_scan() if lines else None
        shown = [ShownLine(line.transcription, cut(scan, line.box)) for line in lines if line.transcription is not None]
        doubtful = sum(word.doubtful for line in lines for word in line.words)
        return lines_html(shown, f"{self.image} · lines: {len(lines)}, doubtful words: {doubtful}")

    def shown_scan(self) -> Image.Image | None:
        """The scan for people; None if it is unknown, missing, or of another size."""
        try:
            scan = self.source.image() if self.source is not None else None
        except DataError:
            return None
        return scan if scan is not None and scan.size == (self.width, self.height) else None

    def with_lines(self, change: Callable[[TextLine], TextLine]) -> Self:
        """The page with a function applied to each line."""
        regions = (replace(region, lines=tuple(map(change, region.lines))) for region in self.regions)
        return replace(self, regions=tuple(regions))

    def settled(self) -> Self:
        """The page as exported: texts that a person has confirmed have no doubts."""
        return self.with_lines(
            lambda line: replace(line, transcription=line.transcription and line.transcription.settled)
        )

    def has_shape(self, width: int, height: int) -> bool:
        """Whether an image of this size may be the one described."""
        return not (self.width and self.height) or abs(self.width * height / (self.height * width) - 1) <= SAME_SHAPE

    def on_image(self, image: Path, width: int, height: int, orientation: int = 1) -> Self:
        """The page scaled to the size of its upright image; if that changes it, the page takes the name of the image.

        Args:
            orientation: The EXIF orientation of the image, if the page is described on the stored pixels.

        Raises:
            DataError: if the aspect ratio of the image shows that it is not the one described.
        """
        if orientation != 1:
            return self.turned(orientation).on_image(image, width, height)
        if not self.has_shape(width, height):
            raise DataError(
                f"describes an image of {self.width} x {self.height} pixels, but {image} has {width} x {height} "
                f"when upright; put the right image beside it"
            )
        page = self.resized(width, height)
        return page if page is self else replace(page, image=image.name)

    def resized(self, width: int, height: int) -> Self:
        """The page scaled to another image size; from an unknown size, coordinates are only clipped."""
        if (width, height) == (self.width, self.height):
            return self
        x, y = (new / old if old else 1.0 for new, old in ((width, self.width), (height, self.height)))

        return self.moved(
            lambda point: (min(round(point[0] * x), width), min(round(point[1] * y), height)), width, height
        )

    def turned(self, orientation: int) -> Self:
        """The page of stored pixels, converted to the upright image."""
        width, height = self.width, self.height
        size = (height, width) if orientation in QUARTER_TURNS else (width, height)
        page = self.moved(lambda point: upright(point, orientation, width, height), *size)
        if orientation in MIRRORED:  # mirroring moves the writing to the other side of its baseline
            page = page.with_lines(lambda line: replace(line, baseline=line.baseline and line.baseline[::-1]))
        return replace(page, orientation=orientation)

    def as_described(self) -> Self:
        """The page on the pixels that its description refers to."""
        if self.orientation == 1:
            return self
        return replace(self.turned(OPPOSITE.get(self.orientation, self.orientation)), orientation=1)

    def moved(self, move: Callable[[Point], Point], width: int, height: int) -> Self:
        """The page with all its points moved, on an image of this size."""
        page = self.with_lines(lambda line: moved_line(line, move))
        regions = (replace(region, polygon=all_moved(region.polygon, move)) for region in page.regions)
        return replace(page, width=width, height=height, regions=tuple(regions))


def moved_line(line: TextLine, move: Callable[[Point], Point]) -> TextLine:
    """A line with all its points moved."""
    text = line.transcription
    if text is not None:
        words = (replace(word, polygon=all_moved(word.polygon, move)) for word in text.words)
        flags = (replace(flag, polygon=all_moved(flag.polygon, move)) for flag in text.flags)
        text = replace(text, words=tuple(words), flags=tuple(flags))
    polygon, baseline = all_moved(line.polygon, move), all_moved(line.baseline, move)
    return replace(line, polygon=polygon, baseline=baseline, transcription=text)


def all_moved(points: Points | None, move: Callable[[Point], Point]) -> Points | None:
    """Move each of some points."""
    return points and tuple(map(move, points))


def cut(scan: Image.Image | None, box: Box | None) -> Callable[[], Image.Image] | None:
    """A function that crops a part of a scan; None for an empty part."""
    if scan is None or box is None or not (box.width and box.height):
        return None
    return partial(scan.crop, box)


SizeOf: TypeAlias = Callable[[str], tuple[int, int] | None]
"""Looks up width and height of an image in pixels by name; called only if the file lacks the size."""


class Parsed(NamedTuple):
    """A page, the elements of its lines by line id, and its size in units of the file."""

    page: Page
    lines: Mapping[str, Element]
    size: tuple[int, int]


def file_name(path: str) -> str:
    """The last component of a path or URL of any system; folders in references are never followed."""
    return re.split(r"[/\\]", path.strip())[-1]
