"""The interface of line segmentation, and what it finds: the layout of a page.

    layout = RapidDetector().find(page)
    [first, *others] = layout.lines

`finders.py` lists the implementations and loads plug-ins.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar, NamedTuple, Protocol, Self, overload, runtime_checkable

import numpy as np

from drethtr.base.arrays import Floats
from drethtr.images.line import Line


class Order(StrEnum):
    """How tables are read: row by row, column by column, or as they usually are, which is row by row."""

    AUTO = "auto"
    ROWS = "rows"
    COLUMNS = "columns"


class Role(StrEnum):
    """The role of a line on its page."""

    BODY = "body"
    MARGIN = "margin"
    INSERTION = "insertion"
    NUMBER = "number"
    STAMP = "stamp"
    PRINT = "print"


class FoundLine(NamedTuple):
    """A line on a page: (n, 2) points (x, y) in pixels of the page, the baseline in reading direction.

    role  None if unknown
    """

    baseline: Floats
    polygon: Floats
    role: Role | None = None

    @classmethod
    def at(cls, baseline: Sequence[Sequence[float]], polygon: Sequence[Sequence[float]]) -> Self:
        """The line at these points."""
        return cls(np.array(baseline, dtype=np.float64), np.array(polygon, dtype=np.float64))


class Kind(StrEnum):
    """Kinds of regions; segmentations may use other words."""

    TEXT = "text"
    MARGIN = "margin"
    TABLE = "table"
    NUMBER = "number"
    STAMP = "stamp"


class Cell(NamedTuple):
    """A cell of a table: its row and column, from 0, and the numbers of its lines."""

    row: int
    column: int
    lines: tuple[int, ...]


class FoundRegion(NamedTuple):
    """A region of a page.

    kind     a word for what it is, see `Kind`
    lines    the numbers of its lines, in reading order
    polygon  its outline, if known
    cells    of a table
    """

    kind: str
    lines: tuple[int, ...]
    polygon: Floats | None = None
    cells: tuple[Cell, ...] = ()


@dataclass(frozen=True)
class Layout(Sequence[FoundLine]):
    """A sequence of the lines of a page, with their order as far as known.

    regions  in reading order, with each line in one of them; None if the order is unknown, see `order.arranged`
    rules    both ends (x, y) of strokes that no line crosses, such as those of tables
    folds    the same for the fold between two pages
    order    of the lines of tables, where the regions are unknown
    """

    lines: tuple[FoundLine, ...] = ()
    regions: tuple[FoundRegion, ...] | None = None
    rules: tuple[Floats, ...] = ()
    folds: tuple[Floats, ...] = ()
    order: Order = Order.AUTO

    @classmethod
    def of(cls, found: "Layout | Sequence[FoundLine]") -> "Layout":
        """The result of a segmentation, which may be a plain list of lines."""
        return found if isinstance(found, Layout) else cls(tuple(found))

    @overload
    def __getitem__(self, number: int) -> FoundLine: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[FoundLine]: ...
    def __getitem__(self, number: int | slice) -> FoundLine | Sequence[FoundLine]:
        return self.lines[number]

    def __len__(self) -> int:
        return len(self.lines)

    def with_lines(self, lines: Mapping[int, FoundLine]) -> Self:
        """The layout with these of its lines, by their numbers; regions that lose all their lines are left out."""
        places = {number: place for place, number in enumerate(lines)}

        def kept(numbers: Sequence[int]) -> tuple[int, ...]:
            return tuple(places[number] for number in numbers if number in places)

        regions = None
        if self.regions is not None:
            rest = (
                region._replace(
                    lines=kept(region.lines),
                    cells=tuple(cell._replace(lines=kept(cell.lines)) for cell in region.cells if kept(cell.lines)),
                )
                for region in self.regions
            )
            regions = tuple(region for region in rest if region.lines)
        return replace(self, lines=tuple(lines.values()), regions=regions)


class MarkedPage(NamedTuple):
    """A page to learn from: gray, uint8 (height, width), and its true lines; those without a role are text."""

    page: Line
    layout: Layout


@runtime_checkable
class Finder(Protocol):
    """A line segmentation: subclass it as a frozen dataclass of settings that is cheap to construct.

    whole  whether every image is one line, to be read without straightening or cropping
    """

    whole: ClassVar[bool] = False

    def find(self, page: Line) -> Layout | Sequence[FoundLine]:
        """The layout of a gray page, uint8 (height, width), or just its lines in any order; empty if it is blank."""
        ...

    def with_threads(self, threads: int) -> "Finder":
        """The same segmentation, computed with this many threads if it does not choose itself."""
        return self
