"""Repairs of a whole layout: two pages, rows, columns, tables, and lines that are found again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

import numpy as np

from drethtr.base.errors import DataError
from drethtr.documents.page import TABLE, CellPlace, Page, Region, TextLine
from drethtr.documents.page_file import PageFile
from drethtr.documents.points import Box, Points
from drethtr.editing.changes import Changed, Outline
from drethtr.editing.journal import Change
from drethtr.editing.layout import Action, Cut, Delete, Dissolve, Draw, Follow, Join, Move, MoveRegion, SetRegion, Split
from drethtr.editing.places import as_read, box_as_read, crossings, neighbor_before, quarters_of_page
from drethtr.editing.regions import arranged, in_regions, placed, with_free_ids, without
from drethtr.editing.status import status_of
from drethtr.editing.surroundings import in_surroundings
from drethtr.layout.finder import FoundLine
from drethtr.layout.order import LinePosition, gutter, in_rows, level, rows_of, typical_angle

MIDDLE = (0.3, 0.7)
"""Where the fold of an opening may be, relative to the width of the scan."""

FLAT = 25
"""Width of a line without an outline, relative to its height."""

MIN_COLUMN = 3
"""Minimum number of lines of a column."""


@dataclass(frozen=True)
class Replace(Action):
    """Replace the lines that nobody has edited by newly found ones, on the page or in a box of it.

    On a page, lines are in the regions found with them; in a box, they join the regions around them.
    """

    name: ClassVar[str] = "find"
    regions: tuple[Region, ...]
    box: Box | None = None

    def done(self, file: PageFile, outline: Outline) -> Changed:
        inside = [line for line in file.page.lines if self.box is None or is_in(self.box, middle_of(line))]
        kept = [line for line in inside if status_of(line, file).touched]
        gone = [line for line in inside if not status_of(line, file).touched]
        found = self.found_beside(kept, file)
        new = [line for region in found for line in region.lines]
        if not (new or gone):
            raise DataError("no lines were found there")
        notes = [Change(line.id, self.name, line.text) for line in gone]
        notes += [Change(line.id, self.name, new="") for line in new]
        # New lines are added first, since each is placed after an existing line, and all of those may be removed.
        # Regions come last, when it is known which are empty. In a box regions stay, as it may hold only a part of
        # them.
        changed = file
        if new:
            changed = changed.with_lines_after({line_before(gone, new, file.page): new})
        if gone:
            changed = changed.without_lines({line.id for line in gone})
        if new and self.box is None:
            changed = in_regions(changed, regions_with(found, changed, file.page))
        elif new:
            changed = in_surroundings(changed, [line.id for line in new])
        return Changed(changed, tuple(line.id for line in new), tuple(notes))

    def found_beside(self, kept: Sequence[TextLine], file: PageFile) -> list[Region]:
        """The found regions, without lines at the places of kept ones; lines and tables get free ids."""
        ids, taken = file.new_editor().ids, [box for line in kept if (box := line.box)]
        tables = {
            table: ids.claim("table")
            for table in dict.fromkeys(region.cell.table for region in self.regions if region.cell)
        }
        return [
            replace(
                region,
                lines=tuple(
                    replace(line, id=ids.claim("line"))
                    for line in region.lines
                    if not any(is_in(box, middle_of(line)) for box in taken)
                ),
                cell=region.cell and region.cell._replace(table=tables[region.cell.table]),
            )
            for region in self.regions
        ]


def line_before(gone: Sequence[TextLine], new: Sequence[TextLine], content: Page) -> str | None:
    """The id of the line that new lines follow: they take the place of removed lines, else that of their position."""
    if not gone:
        return neighbor_before(content.lines, new[0].baseline or ())
    start = content.lines.index(gone[0])
    return content.lines[start - 1].id if start else None


def regions_with(found: Sequence[Region], file: PageFile, before: Page) -> list[Region]:
    """The regions of a file, with new lines moved to those they were found in; emptied regions are removed."""
    free, new = file.free_id("region"), {line.id for region in found for line in region.lines}
    own = [
        replace(region, id=free, lines=tuple(file.line(line.id) for line in region.lines))
        for region in found
        if region.lines
    ]
    had = {region.id for region in before.regions if region.lines}
    others = [without(region, new) for region in file.page.regions if region.lines or region.id not in had]
    return with_free_ids(file, placed(file.page, others, own))


def is_in(box: Box, point: tuple[float, float]) -> bool:
    """Whether a point lies in a box."""
    return box.left <= point[0] <= box.right and box.top <= point[1] <= box.bottom


@dataclass(frozen=True)
class TwoPages(Action):
    """Cut all lines at the fold of an opening, and read the left page first; the fold is found, unless it is drawn."""

    name = "two-pages"
    stroke: Points | None = None

    def done(self, file: PageFile, outline: Outline) -> Changed:
        quarters = quarters_of_page(file.page.lines)
        fold = self.stroke or fold_of(file.page, quarters)
        across = [line for line in file.page.lines if crossings(line, fold)]
        cut = Cut(fold, tuple(line.id for line in across)).done(file, outline) if across else Changed(file, (), ())
        left, right = list[Region](), list[Region]()
        for region in cut.file.page.regions:
            sides = sides_of(region.lines, fold, quarters)
            parts = [tuple(as_text(side)) if all(sides) else side for side in sides]
            if all(sides):
                left.append(replace(region, lines=parts[0], polygon=None))
                right.append(Region(cut.file.free_id(region.id), parts[1], kind=region.kind))
            else:
                (right if sides[1] else left).append(region)
        done = arranged(cut.file, with_free_ids(cut.file, [*left, *right]), (), self.name)
        return Changed(done.file, cut.lines, (*done.notes, *cut.notes))


def sides_of(
    lines: Sequence[TextLine], fold: Points, quarters: int
) -> tuple[tuple[TextLine, ...], tuple[TextLine, ...]]:
    """The lines left and right of a fold, as the page is read."""
    (x, y), (end_x, end_y) = sorted(as_read((fold[0], fold[-1]), quarters), key=lambda point: point[1])
    sides: tuple[list[TextLine], list[TextLine]] = ([], [])
    for line in lines:
        middle, row = middle_of(line, quarters)
        # Unlike `at`: a fold extends beyond the ends of the stroke.
        sides[middle > x + (end_x - x) * (row - y) / max(end_y - y, 1)].append(line)
    return tuple(sides[0]), tuple(sides[1])


def fold_of(content: Page, quarters: int) -> Points:
    """The fold of an opening: where the fewest lines cross the middle of the page as it is read, midway in that gap.

    Raises:
        DataError: if lines stand on one side only.
    """
    boxes = [box for line in content.lines if (box := box_as_read(line, quarters))]
    start, end = as_read(((0, 0), (content.width, content.height)), quarters)
    (left, right), (top, bottom) = map(sorted, zip(start, end, strict=True))
    low, high = (round(left + share * (right - left)) for share in MIDDLE)
    edges = [low, high, *(edge for box in boxes for edge in (box.left, box.right) if low < edge < high)]
    gaps = []
    for begin, close in pairwise(sorted(edges)):
        middle = (begin + close) / 2
        crossing = sum(box.left < middle < box.right for box in boxes)
        gaps.append((crossing, begin - close, abs(middle - (left + right) / 2), round(middle)))
    _, _, _, x = min(gaps)
    fold = as_read(((x, top), (x, bottom)), -quarters)
    if not all(sides_of(content.lines, fold, quarters)):
        raise DataError("there are lines on one side of the middle only; draw the fold as a cut instead")
    return fold


@dataclass(frozen=True)
class ByRows(Action):
    """Read lines row by row, from left to right: all, or some."""

    name = "rows"
    lines: tuple[str, ...] = ()

    def done(self, file: PageFile, outline: Outline) -> Changed:
        chosen = chosen_lines(file, self.lines)
        return arranged(file, gathered(file, [as_text(chosen)], chosen), self.lines, self.name)


@dataclass(frozen=True)
class ByColumns(Action):
    """Read lines column by column: all, or some. Each column becomes a region."""

    name = "columns"
    lines: tuple[str, ...] = ()

    def done(self, file: PageFile, outline: Outline) -> Changed:
        chosen = chosen_lines(file, self.lines)
        columns = [[chosen[one.number] for one in column] for column in columns_of(positions(chosen))]
        if len(columns) < 2:
            raise DataError("no columns were found; cut the lines that cross the gap between them first")
        return arranged(file, gathered(file, columns, chosen), self.lines, self.name)


@dataclass(frozen=True)
class Table(Action):
    """Make cells of lines by strokes between columns and between rows; without any of these, rows are found.

    A line belongs to the table if it is chosen, or if none is and it lies between the ends of the strokes.
    """

    name = "table"
    columns: tuple[Points, ...] = ()
    rows: tuple[Points, ...] = ()
    lines: tuple[str, ...] = ()

    def done(self, file: PageFile, outline: Outline) -> Changed:
        if not (self.columns or self.rows):
            raise DataError("draw at least one stroke between two columns or two rows")
        quarters = quarters_of_page(file.page.lines)
        columns, rows = (tuple(as_read(one, quarters) for one in part) for part in (self.columns, self.rows))
        turned = replace(self, columns=columns, rows=rows)
        ids = self.lines or tuple(line.id for line in file.page.lines if turned.reaches(line, quarters))
        notes, changed = list[Change](), list[str]()
        for stroke in self.columns:
            across = tuple(line.id for line in file.page.lines if line.id in ids and crossings(line, stroke))
            if across:
                cut = Cut(stroke, across).done(file, outline)
                file, ids = cut.file, (*ids, *cut.lines)
                notes += cut.notes
                changed += cut.lines
        chosen = [line for line in file.page.lines if line.id in ids]
        if not chosen:
            raise DataError("no line lies between the ends of the strokes; choose the lines of the table first")
        row_of = turned.rows_among(chosen, quarters)
        cells: dict[tuple[int, int], list[TextLine]] = {}
        for line in chosen:
            cells.setdefault((row_of[line.id], turned.column_of(line, quarters)), []).append(line)
        table = file.free_id("table")
        new = [
            Region(
                f"{table}_{row + 1}_{column + 1}", tuple(as_text(own)), kind=TABLE, cell=CellPlace(table, row, column)
            )
            for (row, column), own in sorted(cells.items())
        ]
        regions = [without(region, ids) for region in file.page.regions]
        new = with_free_ids(file, new)
        done = arranged(file, placed(file.page, regions, new), (), self.name)
        return Changed(done.file, tuple(dict.fromkeys(changed)), (*done.notes, *notes))

    def reaches(self, line: TextLine, quarters: int) -> bool:
        """Whether a line lies beside the strokes between columns, or above or below those between rows."""
        x, y = middle_of(line, quarters)
        tall = [[point[1] for point in stroke] for stroke in self.columns]
        wide = [[point[0] for point in stroke] for stroke in self.rows]
        return any(min(ends) <= y <= max(ends) for ends in tall) or any(min(ends) <= x <= max(ends) for ends in wide)

    def column_of(self, line: TextLine, quarters: int) -> int:
        """The column of a line: how many strokes are to its left."""
        x, y = middle_of(line, quarters)
        return sum(at(stroke, y, 1) < x for stroke in self.columns)

    def rows_among(self, lines: Sequence[TextLine], quarters: int) -> Mapping[str, int]:
        """The row of each line, by the strokes between rows or, without any, by what stands side by side."""
        if self.rows:
            return {
                line.id: sum(at(stroke, x, 0) < y for stroke in self.rows)
                for line in lines
                for x, y in [middle_of(line, quarters)]
            }
        rows = rows_of(positions(lines), is_in_table_row)
        return {lines[one.number].id: number for number, row in enumerate(rows) for one in row}


def is_in_table_row(place: LinePosition, row: Sequence[LinePosition]) -> bool:
    """Whether a line stands near the middle of a row."""
    # More tolerant than `order.is_beside`: the person says that this is a table, so there must be rows.
    height = min(one.height for one in (place, *row))
    return place.row - float(np.mean([one.row for one in row])) < 0.6 * height


def middle_of(line: TextLine, quarters: int = 0) -> tuple[float, float]:
    """The middle of a line on the scan, or on a page that is turned by `as_read`."""
    box = box_as_read(line, quarters)
    return ((box.left + box.right) / 2, (box.top + box.bottom) / 2) if box else (0.0, 0.0)


def at(stroke: Points, where: float, axis: int) -> float:
    """The coordinate of a stroke on one axis, given the other; beyond its ends, that of the nearest end."""
    points = sorted(stroke, key=lambda point: point[axis])
    return float(np.interp(where, [point[axis] for point in points], [point[1 - axis] for point in points]))


def chosen_lines(file: PageFile, ids: Sequence[str]) -> list[TextLine]:
    """Lines by their ids, all if there are none, in reading order.

    Raises:
        DataError: if there is no line.
    """
    found = [line for line in file.page.lines if line.id in ids or not ids]
    if not found:
        raise DataError("this page has no lines")
    return found


def positions(lines: Sequence[TextLine]) -> list[LinePosition]:
    """The positions of lines after rotating the page so that they are horizontal; lines without a place come last."""
    found = list(map(found_line, lines))
    angle = typical_angle(found)
    return [level(number, line, angle) for number, line in enumerate(found)]


def found_line(line: TextLine) -> FoundLine:
    """A line with baseline and outline; a missing one is estimated roughly."""
    box = line.box or Box(0, 0, 1, 1)
    baseline = line.baseline or ((box.left, box.bottom), (box.right, box.bottom))
    height = max(box.height, box.width // FLAT)
    outline = line.polygon or Box(box.left, box.bottom - height, box.right, box.bottom).polygon()
    return FoundLine.at(baseline, outline)


def as_text(lines: Sequence[TextLine]) -> list[TextLine]:
    """Lines from top to bottom, and from left to right within a row."""
    return [lines[one.number] for one in in_rows(positions(lines))] if lines else []


def columns_of(places: Sequence[LinePosition]) -> Iterator[list[LinePosition]]:
    """Columns from left to right, divided at gutters, their lines from top to bottom."""
    white = gutter(places) if len(places) > MIN_COLUMN else None
    if white is None:
        yield in_rows(places)
        return
    for is_left in (True, False):
        yield from columns_of([place for place in places if (place.middle < white) is is_left])


def gathered(file: PageFile, groups: Sequence[Sequence[TextLine]], chosen: Sequence[TextLine]) -> list[Region]:
    """The regions of a page with some of its lines in new groups, where the first of them stood.

    The first region that has only such lines is the first group, and so on, so that regions keep what others wrote.
    """
    ids = {line.id for line in chosen}
    emptied = [
        region for region in file.page.regions if region.lines and ids.issuperset(line.id for line in region.lines)
    ]
    free = [region for region in emptied if region.cell is None]
    new = [
        replace(free[number], lines=tuple(group), polygon=None)
        if number < len(free)
        else Region(file.free_id("region"), tuple(group), kind=free[0].kind if free else "")
        for number, group in enumerate(groups)
    ]
    kept = [without(region, ids) for region in file.page.regions if region not in emptied]
    return placed(file.page, kept, with_free_ids(file, new))


ACTIONS: Mapping[str, type[Action]] = {
    "draw": Draw,
    "delete": Delete,
    "cut": Cut,
    "split": Split,
    "join": Join,
    "move": Move,
    "path": Follow,
    "region": SetRegion,
    "dissolve": Dissolve,
    "move-region": MoveRegion,
    "two-pages": TwoPages,
    "rows": ByRows,
    "columns": ByColumns,
    "table": Table,
}
"""The actions by the names that requests give."""
