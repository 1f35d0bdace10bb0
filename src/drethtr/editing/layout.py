"""What a person does to the layout of a page: each action is one change of its file.

A line that nobody has edited loses its text when its place changes, and is read again; until then the page shows the
text that the history keeps. Edited texts stay.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

import numpy as np

from drethtr.base.errors import DataError
from drethtr.documents.page import TABLE, CellPlace, Page, Region, TextLine
from drethtr.documents.page_file import PageFile
from drethtr.documents.points import Box, Points
from drethtr.documents.transcription import Review, Transcription
from drethtr.editing.changes import Changed, Outline, carry_over, tidy, within
from drethtr.editing.journal import Change
from drethtr.editing.places import crossings, hull, neighbor_before, split_offset, split_place
from drethtr.editing.status import status_of
from drethtr.layout.finder import FoundLine
from drethtr.layout.order import LinePosition, gutter, in_rows, level, typical_angle

MIDDLE = (0.3, 0.7)
"""Where the fold of an opening may be, relative to the width of the scan."""

FLAT = 25
"""Width of a line without an outline, relative to its height."""

LEAST_COLUMN = 3
"""Least number of lines of a column."""


@dataclass(frozen=True)
class Place:
    """The page that an action is done on: its id, whether drethtr made its file, and what finds outlines of lines."""

    page: str
    made_here: bool
    outline: Outline


@dataclass(frozen=True)
class Action(ABC):
    """Something that a person does; its fields are what requests give."""

    name: ClassVar[str]

    @abstractmethod
    def done(self, file: PageFile, place: Place) -> Changed:
        """The file after it.

        Raises:
            DataError: if it cannot be done.
        """


@dataclass(frozen=True)
class Draw(Action):
    """Add a line, after another one or where its position suggests."""

    name = "draw"
    baseline: Points | None = None
    polygon: Points | None = None
    after: str | None = None

    def done(self, file: PageFile, place: Place) -> Changed:
        line = TextLine("", within(self.polygon, file.page), within(self.baseline, file.page))
        if line.baseline is None and line.polygon is None:
            raise DataError("a new line needs a baseline or an outline")
        if line.polygon is None:
            line = replace(line, polygon=place.outline(line, file))
        after = self.after or neighbor_before(file.page.lines, line.baseline or line.polygon or ())
        new = replace(line, id=file.free_id("line"))
        note = Change(place.page, new.id, self.name, None, "", None)
        return Changed(file.with_new_lines([new], after), (new.id,), (note,))


@dataclass(frozen=True)
class Delete(Action):
    """Remove lines."""

    name = "delete"
    lines: tuple[str, ...]

    def done(self, file: PageFile, place: Place) -> Changed:
        notes = [Change(place.page, line, self.name, file.line(line).text, None, None) for line in self.lines]
        return Changed(file.without_lines(self.lines), (), tuple(notes))


@dataclass(frozen=True)
class Cut(Action):
    """Cut every line that a stroke crosses, or only some; texts are cut between their words there."""

    name = "cut"
    stroke: Points
    lines: tuple[str, ...] = ()

    def done(self, file: PageFile, place: Place) -> Changed:
        points = {
            line.id: points
            for line in file.page.lines
            if (not self.lines or line.id in self.lines) and (points := crossings(line, self.stroke))
        }
        changed = cut(file, points, place)
        if not changed.lines:
            raise DataError("no line was cut: the stroke crosses none between its ends")
        return changed


@dataclass(frozen=True)
class Split(Action):
    """Cut a line at a point, and its text at an offset, by default between its words there."""

    name = "cut"
    line: str
    point: tuple[int, int]
    offset: int | None = None

    def done(self, file: PageFile, place: Place) -> Changed:
        if file.line(self.line).baseline is None:
            raise DataError(f"line {self.line!r} has no baseline to split; draw one first")
        changed = cut(file, {self.line: [self.point]}, place, self.offset)
        if not changed.lines:
            raise DataError("a line can only be split between its ends; choose a point inside it")
        return changed


def cut(
    file: PageFile, points: Mapping[str, Sequence[tuple[int, int]]], place: Place, offset: int | None = None
) -> Changed:
    """A file with lines cut at points, each from its end to its start; the first part keeps the id."""
    ids, changed = file.editor.ids, list[TextLine]()
    new = dict[str, list[TextLine]]()
    for id, of_line in points.items():
        first, rest = file.line(id), list[TextLine]()
        status = status_of(first, made_here=place.made_here)
        for point in of_line:
            if (halves := halved(first, point, touched=status.touched, offset=offset)) is not None:
                first, second = halves
                rest.insert(0, replace(second, id=ids.claim(id)))
        if rest:
            changed.append(first)
            new[id] = rest
    parts = [part for first in changed for part in (first, *new[first.id])]
    # What nobody has edited is read again.
    read = {part.id: part if part.is_reviewed else replace(part, transcription=None) for part in parts}
    notes = tuple(Change(place.page, part.id, Cut.name, part.text, read[part.id].text, None) for part in parts)
    firsts = [read[first.id] for first in changed]
    after = {id: [read[part.id] for part in lines] for id, lines in new.items()}
    done = file.with_lines(firsts).with_lines_after(after) if changed else file
    return Changed(done, tuple(part.id for part in parts), notes)


def halved(
    line: TextLine, point: tuple[int, int], *, touched: bool, offset: int | None = None
) -> tuple[TextLine, TextLine] | None:
    """A line cut in two, with its text; what a person wrote is corrected in both. None if a part would be empty."""
    if line.baseline is None or (parts := split_place(line, point)) is None:
        return None
    at_word = split_offset(line, point) if offset is None else offset
    texts = [tidy(line.text[:at_word]), tidy(line.text[at_word:])]
    count = len(texts[0].split())
    words = [
        carry_over(of_part, text) for of_part, text in zip((line.words[:count], line.words[count:]), texts, strict=True)
    ]
    review = Review.CORRECTED if touched else None
    first, second = (
        TextLine(line.id, polygon, baseline, Transcription(text, None, known if line.words else (), review=review))
        for (baseline, polygon), text, known in zip(parts, texts, words, strict=True)
    )
    return first, second


@dataclass(frozen=True)
class Join(Action):
    """Join the pieces of a line; the first in reading order keeps its id, and all that others wrote there."""

    name = "join"
    lines: tuple[str, ...]

    def done(self, file: PageFile, place: Place) -> Changed:
        lines = [line for line in file.page.lines if line.id in self.lines]
        if len(lines) < 2 or len(set(self.lines)) != len(lines):
            raise DataError("choose at least two lines of this page to join")
        kept, *gone = lines
        pieces = in_writing_order(lines)
        baseline = tuple(point for piece in pieces for point in piece.baseline or ()) or None
        joined = TextLine(kept.id, hull([point for piece in pieces for point in piece.polygon or ()]) or None, baseline)
        if baseline is not None and (found := place.outline(joined, file)) is not None:
            joined = replace(joined, polygon=found)
        text = tidy(" ".join(piece.text for piece in pieces))
        if any(status_of(piece, made_here=place.made_here).touched for piece in pieces):
            words = tuple(word for piece in pieces for word in piece.words)
            joined = replace(joined, transcription=Transcription(text, None, words, review=Review.CORRECTED))
        notes = [Change(place.page, kept.id, self.name, text, joined.text, None)]
        notes += [Change(place.page, line.id, self.name, line.text, None, None) for line in gone]
        file = file.with_line(joined).without_lines([line.id for line in gone])
        return Changed(file, (kept.id,), tuple(notes))


def in_writing_order(lines: Sequence[TextLine]) -> list[TextLine]:
    """Pieces of one line by where they begin along the longest of them; those below each other stay in order."""
    known = [line for line in lines if line.baseline]
    if len(known) < len(lines):
        return list(lines)
    ends = [np.asarray((line.baseline[0], line.baseline[-1]), dtype=np.float64) for line in known if line.baseline]
    longest = max(ends, key=lambda pair: float(np.hypot(*(pair[1] - pair[0]))))
    along = [pair @ (longest[1] - longest[0]) for pair in ends]
    order = sorted(range(len(lines)), key=lambda number: float(along[number][0]))
    beside = all(along[b][0] >= along[a].mean() for a, b in pairwise(order))
    return [lines[number] for number in order] if beside else list(lines)


@dataclass(frozen=True)
class Move(Action):
    """Move lines, in the order given, after or before another line and into its region, or to the beginning."""

    name = "order"
    lines: tuple[str, ...]
    after: str | None = None
    before: str | None = None

    def done(self, file: PageFile, place: Place) -> Changed:
        beside = (
            self.after or self.before or next((line.id for line in file.page.lines if line.id not in self.lines), "")
        )
        if beside in self.lines:
            raise DataError("lines cannot be moved beside one of themselves")
        known, target = [file.line(line) for line in self.lines], file.line(beside)
        regions = [without(region, self.lines) for region in file.page.regions]
        regions = [
            replace(region, lines=inserted(region.lines, known, region.lines.index(target) + (self.after is not None)))
            if target in region.lines
            else region
            for region in regions
        ]
        return arranged(file, regions, self.lines, self.name, place)


@dataclass(frozen=True)
class Follow(Action):
    """Order lines as a path runs through them: they follow each other where the first of them stood."""

    name = "order"
    lines: tuple[str, ...]

    def done(self, file: PageFile, place: Place) -> Changed:
        if len(set(self.lines)) < 2:
            raise DataError("draw the path through at least two lines")
        of_region = next(region for region in file.page.regions if file.line(self.lines[0]) in region.lines)
        others = [line.id for line in of_region.lines]
        start = next(place for place, line in enumerate(others) if line in self.lines)
        known = [file.line(line) for line in dict.fromkeys(self.lines)]
        regions = [without(region, self.lines) for region in file.page.regions]
        regions = [
            replace(region, lines=inserted(region.lines, known, start)) if region.id == of_region.id else region
            for region in regions
        ]
        return arranged(file, regions, self.lines, self.name, place)


@dataclass(frozen=True)
class SetRegion(Action):
    """Give lines a region of their own, with a kind; or give a region a kind, an outline, more lines."""

    name = "region"
    lines: tuple[str, ...] = ()
    region: str | None = None
    kind: str | None = None
    polygon: Points | None = None

    def done(self, file: PageFile, place: Place) -> Changed:
        known = [line for line in file.page.lines if line.id in self.lines]
        polygon = within(self.polygon, file.page)
        rest = [without(region, self.lines) for region in file.page.regions]
        if self.region is None:
            if not known:
                raise DataError("a region needs lines; choose some")
            new = Region(file.free_id("region"), tuple(known), polygon, tidy(self.kind or ""))
            return arranged(file, placed(file.page, rest, [new]), self.lines, self.name, place)
        if self.region not in file.region_ids:
            raise DataError(f"this page has no region {self.region!r}")
        regions = [
            replace(
                region,
                lines=(*region.lines, *known),
                kind=region.kind if self.kind is None else tidy(self.kind),
                polygon=polygon or region.polygon,
            )
            if region.id == self.region
            else region
            for region in rest
        ]
        return arranged(file, regions, self.lines, self.name, place)


@dataclass(frozen=True)
class Dissolve(Action):
    """Remove a region; its lines go to the one before it, or after it if it is the first."""

    name = "region"
    region: str

    def done(self, file: PageFile, place: Place) -> Changed:
        ids = [region.id for region in file.page.regions]
        if self.region not in ids or len(ids) < 2:
            raise DataError("the only region of a page cannot be removed" if self.region in ids else "no such region")
        number = ids.index(self.region)
        regions = list(file.page.regions)
        gone = regions.pop(number)
        near = max(number - 1, 0)
        lines = (*gone.lines, *regions[near].lines) if number == 0 else (*regions[near].lines, *gone.lines)
        regions[near] = replace(regions[near], lines=lines)
        return arranged(file, regions, [line.id for line in gone.lines], self.name, place)


@dataclass(frozen=True)
class MoveRegion(Action):
    """Move a region after another one, or to the beginning."""

    name = "order"
    region: str
    after: str | None = None

    def done(self, file: PageFile, place: Place) -> Changed:
        regions = {region.id: region for region in file.page.regions}
        if self.region not in regions or self.after == self.region or (self.after and self.after not in regions):
            raise DataError("there is no such region, or it is the same")
        others = [region for region in regions.values() if region.id != self.region]
        start = 0 if self.after is None else others.index(regions[self.after]) + 1
        moved = regions[self.region]
        return arranged(
            file, [*others[:start], moved, *others[start:]], [line.id for line in moved.lines], self.name, place
        )


# Repairs.


@dataclass(frozen=True)
class Replace(Action):
    """Put lines that were found in the place of those that nobody has edited, on the page or in a box of it."""

    name: ClassVar[str] = "find"
    groups: tuple[tuple[TextLine, ...], ...]
    box: Box | None = None

    def done(self, file: PageFile, place: Place) -> Changed:
        inside = [line for line in file.page.lines if self.box is None or is_in(self.box, middle_of(line))]
        kept = [line for line in inside if status_of(line, made_here=place.made_here).touched]
        gone = [line for line in inside if line not in kept]
        taken = [box for line in kept if (box := line.box)]
        groups = [
            [line for line in group if not any(is_in(box, middle_of(line)) for box in taken)] for group in self.groups
        ]
        ids = file.editor.ids
        new = {line.id: replace(line, id=ids.claim("line")) for group in groups for line in group}
        if not new and not gone:
            raise DataError("no lines were found there")
        notes = [Change(place.page, line.id, self.name, line.text, None, None) for line in gone]
        notes += [Change(place.page, line.id, self.name, None, "", None) for line in new.values()]
        before = file.page
        lost = {line.id for line in gone}
        start = before.lines.index(gone[0]) if gone else None
        after = None
        if start is None:
            after = neighbor_before(before.lines, next(iter(new.values())).baseline or ())
        elif others := [line for line in before.lines[:start] if line.id not in lost]:
            after = others[-1].id
        file = file.with_new_lines(list(new.values()), after) if new else file
        file = file.without_lines(lost) if lost else file
        if new and self.box is None:
            named = [
                Region(file.free_id("region"), tuple(file.line(new[line.id].id) for line in group)) for group in groups
            ]
            chosen = {line.id for line in new.values()}
            rest = [without(region, chosen) for region in file.page.regions]
            regions = with_free_ids(file, placed(file.page, rest, [region for region in named if region.lines]))
            return Changed(arranged(file, regions, (), self.name, place).file, tuple(chosen), tuple(notes))
        return Changed(file, tuple(line.id for line in new.values()), tuple(notes))


def is_in(box: Box, point: tuple[float, float]) -> bool:
    """Whether a point lies in a box."""
    return box.left <= point[0] <= box.right and box.top <= point[1] <= box.bottom


@dataclass(frozen=True)
class TwoPages(Action):
    """Cut all lines at the fold of an opening, and read the left page first; the fold is found, unless it is drawn."""

    name = "two-pages"
    stroke: Points | None = None

    def done(self, file: PageFile, place: Place) -> Changed:
        fold = self.stroke or fold_of(file.page)
        across = [line for line in file.page.lines if crossings(line, fold)]
        cut = Cut(fold, tuple(line.id for line in across)).done(file, place) if across else Changed(file, (), ())
        page = cut.file.page
        left, right = list[Region](), list[Region]()
        for region in page.regions:
            sides = sides_of(region.lines, fold)
            parts = [tuple(as_text(side)) if all(sides) else side for side in sides]
            if all(sides):
                left.append(replace(region, lines=parts[0], polygon=None))
                right.append(Region(cut.file.free_id(region.id), parts[1], kind=region.kind))
            else:
                (right if sides[1] else left).append(region)
        done = arranged(cut.file, with_free_ids(cut.file, [*left, *right]), (), self.name, place)
        return Changed(done.file, cut.lines, (*done.notes, *cut.notes))


def sides_of(lines: Sequence[TextLine], fold: Points) -> tuple[tuple[TextLine, ...], tuple[TextLine, ...]]:
    """The lines left and right of a fold."""
    (x, y), (end_x, end_y) = sorted((fold[0], fold[-1]), key=lambda point: point[1])
    sides: tuple[list[TextLine], list[TextLine]] = ([], [])
    for line in lines:
        box = line.box
        row = (box.top + box.bottom) / 2 if box else 0
        at = x + (end_x - x) * (row - y) / max(end_y - y, 1)
        sides[bool(box and (box.left + box.right) / 2 > at)].append(line)
    return tuple(sides[0]), tuple(sides[1])


def fold_of(page: Page) -> Points:
    """The fold of an opening: where the fewest lines cross the middle of the scan, in the middle of that gap.

    Raises:
        DataError: if lines stand on one side only.
    """
    boxes = [box for line in page.lines if (box := line.box)]
    low, high = (round(share * page.width) for share in MIDDLE)
    edges = [low, high, *(edge for box in boxes for edge in (box.left, box.right) if low < edge < high)]
    gaps = []
    for start, end in pairwise(sorted(edges)):
        middle = (start + end) / 2
        crossing = sum(box.left < middle < box.right for box in boxes)
        gaps.append((crossing, -(end - start), abs(middle - page.width / 2), round(middle)))
    _, _, _, x = min(gaps)
    fold = ((x, 0), (x, page.height))
    if not all(sides_of(page.lines, fold)):
        raise DataError("there are lines on one side of the middle only; draw the fold as a cut instead")
    return fold


@dataclass(frozen=True)
class ByRows(Action):
    """Read lines row by row, from left to right: all, or some."""

    name = "rows"
    lines: tuple[str, ...] = ()

    def done(self, file: PageFile, place: Place) -> Changed:
        chosen = chosen_lines(file, self.lines)
        return arranged(file, gathered(file, [as_text(chosen)], chosen), self.lines, self.name, place)


@dataclass(frozen=True)
class ByColumns(Action):
    """Read lines column by column: all, or some. Each column becomes a region."""

    name = "columns"
    lines: tuple[str, ...] = ()

    def done(self, file: PageFile, place: Place) -> Changed:
        chosen = chosen_lines(file, self.lines)
        columns = [[chosen[one.number] for one in column] for column in columns_of(positions(chosen))]
        if len(columns) < 2:
            raise DataError("no columns were found; cut the lines that cross the gap between them first")
        return arranged(file, gathered(file, columns, chosen), self.lines, self.name, place)


@dataclass(frozen=True)
class Table(Action):
    """Make cells of lines by strokes between columns and between rows; without any of these, rows are found.

    A line belongs to the table if it is chosen, or if none is and it lies between the ends of the strokes.
    """

    name = "table"
    columns: tuple[Points, ...] = ()
    rows: tuple[Points, ...] = ()
    lines: tuple[str, ...] = ()

    def done(self, file: PageFile, place: Place) -> Changed:
        if not (self.columns or self.rows):
            raise DataError("draw at least one stroke between two columns or two rows")
        ids = self.lines or tuple(line.id for line in file.page.lines if self.reaches(line))
        notes, changed = list[Change](), list[str]()
        for stroke in self.columns:
            across = tuple(line.id for line in file.page.lines if line.id in ids and crossings(line, stroke))
            if across:
                cut = Cut(stroke, across).done(file, place)
                file, ids = cut.file, (*ids, *cut.lines)
                notes += cut.notes
                changed += cut.lines
        chosen = [line for line in file.page.lines if line.id in ids]
        if not chosen:
            raise DataError("no line lies between the ends of the strokes; choose the lines of the table first")
        rows = self.rows_among(chosen)
        cells: dict[tuple[int, int], list[TextLine]] = {}
        for line in chosen:
            cells.setdefault((rows[line.id], self.column_of(line)), []).append(line)
        table = file.free_id("table")
        new = [
            Region(f"{table}_{row + 1}_{column + 1}", tuple(lines), kind=TABLE, cell=CellPlace(table, row, column))
            for (row, column), lines in sorted(cells.items())
        ]
        regions = [without(region, ids) for region in file.page.regions]
        new = with_free_ids(file, new)
        done = arranged(file, placed(file.page, regions, new), (), self.name, place)
        return Changed(done.file, tuple(dict.fromkeys(changed)), (*done.notes, *notes))

    def reaches(self, line: TextLine) -> bool:
        """Whether a line lies beside the strokes between columns, or above or below those between rows."""
        x, y = middle_of(line)
        tall = [[point[1] for point in stroke] for stroke in self.columns]
        wide = [[point[0] for point in stroke] for stroke in self.rows]
        return any(min(ends) <= y <= max(ends) for ends in tall) or any(min(ends) <= x <= max(ends) for ends in wide)

    def column_of(self, line: TextLine) -> int:
        """The column of a line: how many strokes are to its left."""
        x, y = middle_of(line)
        return sum(at(stroke, y, 1) < x for stroke in self.columns)

    def rows_among(self, lines: Sequence[TextLine]) -> Mapping[str, int]:
        """The row of each line, by the strokes between rows or, without any, by what stands side by side."""
        if self.rows:
            return {
                line.id: sum(at(stroke, x, 0) < y for stroke in self.rows)
                for line in lines
                for x, y in [middle_of(line)]
            }
        rows = in_table_rows(positions(lines))
        return {lines[one.number].id: number for number, row in enumerate(rows) for one in row}


def in_table_rows(places: Sequence[LinePosition]) -> list[list[LinePosition]]:
    """Rows from top to bottom: lines stand in the row of which they are near the middle."""
    rows: list[list[LinePosition]] = []
    for place in sorted(places, key=lambda place: place.row):
        last = rows[-1] if rows else []
        if last and place.row - float(np.mean([one.row for one in last])) < 0.6 * min(
            place.height, *(one.height for one in last)
        ):
            last.append(place)
        else:
            rows.append([place])
    return [sorted(row, key=lambda place: place.left) for row in rows]


def middle_of(line: TextLine) -> tuple[float, float]:
    """The middle of a line."""
    box = line.box
    return ((box.left + box.right) / 2, (box.top + box.bottom) / 2) if box else (0.0, 0.0)


def at(stroke: Points, where: float, axis: int) -> float:
    """Where a stroke is at a coordinate of one axis, on the other; beyond its ends, where these are."""
    points = sorted(stroke, key=lambda point: point[axis])
    return float(np.interp(where, [point[axis] for point in points], [point[1 - axis] for point in points]))


# Lines and regions in another order.


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
    """The positions of lines after rotating the page so that they are horizontal; those without a place are last."""
    found = list(map(found_line, lines))
    angle = typical_angle(found)
    return [level(number, line, angle) for number, line in enumerate(found)]


def found_line(line: TextLine) -> FoundLine:
    """A line with a baseline and an outline, roughly where it lacks one."""
    box = line.box or Box(0, 0, 1, 1)
    baseline = line.baseline or ((box.left, box.bottom), (box.right, box.bottom))
    height = max(box.height, box.width // FLAT)
    outline = line.polygon or Box(box.left, box.bottom - height, box.right, box.bottom).polygon()
    return FoundLine(np.array(baseline, dtype=np.float64), np.array(outline, dtype=np.float64))


def as_text(lines: Sequence[TextLine]) -> list[TextLine]:
    """Lines from top to bottom, and from left to right within a row."""
    return [lines[one.number] for one in in_rows(positions(lines))] if lines else []


def columns_of(places: Sequence[LinePosition]) -> Iterator[list[LinePosition]]:
    """Columns from left to right, divided at gutters, their lines from top to bottom."""
    white = gutter(places) if len(places) > LEAST_COLUMN else None
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
    gone = {region.id for region in emptied}
    rest = [replace(without(region, ids)) for region in file.page.regions]
    kept = [region for region in rest if region.id not in gone]
    return placed(file.page, kept, with_free_ids(file, new))


def with_free_ids(file: PageFile, regions: Sequence[Region]) -> list[Region]:
    """Regions, those that would share an id with others under free ones."""
    ids, seen, found = file.editor.ids, set[str](), list[Region]()
    for region in regions:
        if region.id in seen or region.id not in file.region_ids:
            region = replace(region, id=ids.claim(region.id))
        seen.add(region.id)
        found.append(region)
    return found


def placed(before: Page, regions: Sequence[Region], new: Sequence[Region]) -> list[Region]:
    """Regions with new ones where the first of their lines stood; a region that others divide follows its first part.

    Regions that lost all their lines are left out.
    """
    rank = {line.id: number for number, line in enumerate(before.lines)}
    had = {region.id for region in before.regions if region.lines}
    start = min(rank[line.id] for region in new for line in region.lines)
    kept = [region for region in regions if region.lines or region.id not in had]
    first = [region for region in kept if region.lines and rank[region.lines[0].id] < start]
    count = kept.index(first[-1]) + 1 if first else 0
    return [*kept[:count], *new, *kept[count:]]


def without(region: Region, lines: Sequence[str] | set[str]) -> Region:
    """A region without some lines."""
    return replace(region, lines=tuple(line for line in region.lines if line.id not in lines))


def inserted(lines: Sequence[TextLine], new: Sequence[TextLine], place: int) -> tuple[TextLine, ...]:
    """Lines with others at a place."""
    return (*lines[:place], *new, *lines[place:])


def arranged(file: PageFile, regions: Sequence[Region], lines: Sequence[str], action: str, place: Place) -> Changed:
    """A file with its lines in other regions or another order; regions grow with the lines that they get."""
    before = {region.id: region for region in file.page.regions}
    fitted = [around(region, before.get(region.id)) for region in regions]
    note = Change(place.page, "", action, None, None, None)
    return Changed(file.with_regions(fitted), tuple(lines), (note,))


def around(region: Region, before: Region | None) -> Region:
    """A region with an outline around its lines, if they are others than before and its outline was not drawn now."""
    if before is not None and (region.polygon != before.polygon or not region.lines or region.lines == before.lines):
        return region if region.polygon is not None else replace(region, polygon=box_around_lines(region))
    if before is not None and {line.id for line in region.lines} <= {line.id for line in before.lines}:
        return region
    return region if before is None and region.polygon else replace(region, polygon=box_around_lines(region))


def box_around_lines(region: Region) -> Points | None:
    """The outline of a box around the lines of a region."""
    box = replace(region, polygon=None).box
    return box and box.polygon()


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
