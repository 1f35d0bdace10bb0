"""Reading order: pages of an opening, columns, headings across them, tables, and marginal notes.

Lines are compared after rotating the page so that its writing is horizontal, in pixels of the page.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from drethtr.base.arrays import Floats
from drethtr.layout.finder import Cell, FoundLine, FoundRegion, Kind, Layout, Order, Role
from drethtr.layout.rules import Rule
from drethtr.layout.turn import quarters_of

# Except for `OFF_ROW`, these were not varied in an experiment. Together they give 97 % of the successions of lines
# correctly on 106 open pages; on ten registers, whose order is a convention, 23 % (LOG.md, 2026-11-27).

ACROSS = 0.12
"""Maximum share of lines that may cross the gutter between two columns: headings."""

NOTE = 0.45
"""A side with fewer lines that are narrower than this share of the other's is a margin: its notes are read after it."""

SIDE_BY_SIDE = 3
"""Minimum number of lines of a column beside lines of the other for the gap between them to be a gutter."""

BESIDE_NOTE = 2
"""`SIDE_BY_SIDE` for a note, which is written more densely: three of its lines may be beside two of the text."""

TABLE_COLUMNS = 3
"""Rules make a table of lines if they separate at least this many columns of at least `SIDE_BY_SIDE` lines."""

AS_LONG = 0.6
"""Minimum length of the rules of a table, relative to the longest rule between lines."""

FILLED = 0.15
"""Minimum number of lines of such a column, relative to that of the fullest."""

TALL = 1 / 3
"""Minimum height of the rules of a table, relative to that of the writing."""

OFF_ROW = 0.5
"""Maximum distance of a line from its row of a table, relative to that of the rows of the fullest column: 85 instead of
64 % of the successions of ten registers that are transcribed by rows (LOG.md, 2026-11-27)."""

AMOUNT = 0.4
"""Lines narrower than this share of those to the left, one in each row, are the amounts of an account."""

IN_ROW = 0.8
"""Minimum share of the amounts that stand in a row of the account."""

APART = 1.6
"""Maximum distance between the lines of a note, relative to the height of their outlines."""

SHORT, INDENTED, GAP = 0.2, 0.03, 1.6
"""A paragraph ends with a line that is shorter than the others by `SHORT` of the width, before a line indented by
`INDENTED` of the width, or at a distance of `GAP` times the usual one."""


class LinePosition(NamedTuple):
    """The position of a line, and its index."""

    number: int
    left: float
    right: float
    row: float
    height: float

    @property
    def middle(self) -> float:
        """The column in the middle of the line."""
        return (self.left + self.right) / 2


class Block(NamedTuple):
    """Lines in reading order, with the cells of a table."""

    places: list[LinePosition]
    kind: Kind = Kind.TEXT
    cells: tuple[Cell, ...] = ()


def arranged(layout: Layout) -> Layout:
    """The layout with its lines in regions in reading order, if this is not known.

    Writing in another direction than most comes last.
    """
    if layout.regions is not None:
        return layout
    regions: list[FoundRegion] = []
    for group in by_direction(layout.lines):
        angle = typical_angle([layout.lines[number] for number in group])
        places = [level(number, layout.lines[number], angle) for number in group]
        rules, folds = (
            [rule for ends in strokes if (rule := leveled(ends, angle)) is not None]
            for strokes in (layout.rules, layout.folds)
        )
        for page in pages_of(places, folds):
            regions += [
                FoundRegion(block.kind, tuple(place.number for place in block.places), cells=block.cells)
                for block in read_by_role(
                    page, [layout.lines[place.number].role for place in page], rules, layout.order
                )
            ]
    return replace(layout, regions=tuple(regions))


def read_by_role(
    places: list[LinePosition], roles: Sequence[Role | None], rules: Sequence[Rule], order: Order
) -> list[Block]:
    """The blocks of a page in reading order; some lines have roles other than the body's.

    An insertion follows the line it belongs to, a note its paragraph; numbers above the text come first, others and
    stamps last.
    """
    apart: dict[Role, list[LinePosition]] = {}
    for place, role in zip(places, roles, strict=True):
        if role in (Role.MARGIN, Role.INSERTION, Role.NUMBER, Role.STAMP):
            apart.setdefault(role, []).append(place)
    aside = {place.number for some in apart.values() for place in some}
    body = [place for place in places if place.number not in aside]
    hosts = {place.number: host_of(place, body) for place in apart.get(Role.INSERTION, ())}
    body += [place for place in apart.get(Role.INSERTION, ()) if hosts[place.number] is None]
    if not body:
        return read_with_tables(places, rules, order)
    blocks = with_notes(read_with_tables(body, rules, order), notes_of(apart.get(Role.MARGIN, ())))
    top = min(place.row for place in body)
    numbers = sorted(apart.get(Role.NUMBER, ()), key=lambda place: place.row)
    first, last = (
        [Block([place], Kind.NUMBER) for place in numbers if (place.row < top) is above] for above in (True, False)
    )
    stamps = [Block(in_rows(apart[Role.STAMP]), Kind.STAMP)] if Role.STAMP in apart else []
    # From right to left, since each goes directly after its host, before those already there.
    for place in sorted(apart.get(Role.INSERTION, ()), key=lambda place: -place.left):
        if (host := hosts[place.number]) is not None:
            blocks = [inserted(block, place, host) for block in blocks]
    return [*first, *blocks, *last, *stamps]


def host_of(insertion: LinePosition, body: Sequence[LinePosition]) -> int | None:
    """The number of the line that an insertion belongs to: the next one below it; None if there is none near it."""
    below = [
        (place.row - insertion.row, place.number)
        for place in body
        if place.left < insertion.middle < place.right and insertion.row < place.row < insertion.row + 2 * place.height
    ]
    return min(below)[1] if below else None


def inserted(block: Block, insertion: LinePosition, host: int) -> Block:
    """The block with an insertion after its host, if it has that line; in a table, in the host's cell."""
    at = next((number for number, place in enumerate(block.places, 1) if place.number == host), None)
    if at is None:
        return block
    cells = (
        cell._replace(lines=(*cell.lines, insertion.number)) if host in cell.lines else cell for cell in block.cells
    )
    return block._replace(places=[*block.places[:at], insertion, *block.places[at:]], cells=tuple(cells))


def notes_of(places: Sequence[LinePosition]) -> list[Block]:
    """The notes of a margin: lines below each other, at most `APART` of their height from each other."""
    notes: list[list[LinePosition]] = []
    for place in sorted(places, key=lambda place: place.row):
        near = [
            note
            for note in notes
            if place.row - note[-1].row < APART * place.height
            and note[-1].left < place.right
            and place.left < note[-1].right
        ]
        if near:
            near[0].append(place)
        else:
            notes.append([place])
    return [Block(note, Kind.MARGIN) for note in notes]


def with_notes(blocks: Sequence[Block], notes: Sequence[Block]) -> list[Block]:
    """The blocks with each note after the paragraph beside which it begins; below all text after the last block."""
    found = list(blocks)
    for note in sorted(notes, key=lambda note: note.places[0].row, reverse=True):  # so that places before it stay
        start = note.places[0]
        beside = [
            number
            for number, block in enumerate(found)
            if block.kind is Kind.TEXT and count_beside([start], block.places)
        ]
        if not beside:
            at = sum(block.places[0].row < start.row for block in found)
            found.insert(at, note)
            continue
        number = min(beside, key=lambda number: abs(found[number].places[0].middle - start.middle))
        places = found[number].places
        end = end_of_paragraph(places, start.row)
        parts = [found[number]._replace(places=part) for part in (places[:end], places[end:]) if part]
        found[number : number + 1] = [parts[0], note, *parts[1:]]
    return found


def end_of_paragraph(places: Sequence[LinePosition], row: float) -> int:
    """The number of lines of a block up to the end of the paragraph that has a line at a row.

    A paragraph ends with a short line, before an indented one, or before a gap.
    """
    lefts, rights = np.array([(place.left, place.right) for place in places]).T
    usual, ends = float(np.median(lefts)), float(np.quantile(rights, 0.75))
    width = max(ends - usual, 1.0)
    pitch = float(np.median(np.abs(np.diff([place.row for place in places])))) if len(places) > 1 else 0.0
    for number, (place, after) in enumerate(pairwise(places), 1):
        short = place.right < ends - SHORT * width
        ended = short or after.left > usual + INDENTED * width or after.row - place.row > GAP * pitch
        if place.row > row - place.height / 2 and ended:
            return number
    return len(places)


def by_direction(lines: Sequence[FoundLine]) -> list[list[int]]:
    """Indices of the lines that run right, up, left and down the page, the most frequent direction first."""
    quarters: dict[int, list[int]] = {}
    for number, line in enumerate(lines):
        quarters.setdefault(quarters_of(line.baseline), []).append(number)
    return sorted(quarters.values(), key=lambda group: -sum(length_of(lines[number]) for number in group))


def length_of(line: FoundLine) -> float:
    """The distance between its first and last point."""
    return float(np.hypot(*(line.baseline[-1] - line.baseline[0])))


def typical_angle(lines: Sequence[FoundLine]) -> float:
    """The direction of most of the writing, weighted by length."""
    vectors = np.array([line.baseline[-1] - line.baseline[0] for line in lines])
    return float(np.arctan2(*vectors.sum(0)[::-1]))


def level(number: int, line: FoundLine, angle: float) -> LinePosition:
    """The position of a line after rotating the page by `-angle`."""
    columns = line.polygon @ (np.cos(angle), np.sin(angle))
    down = (-np.sin(angle), np.cos(angle))
    height = float(np.ptp(line.polygon @ down))
    return LinePosition(
        number, float(columns.min()), float(columns.max()), float(np.median(line.baseline @ down)), height
    )


def leveled(ends: Floats, angle: float) -> Rule | None:
    """A rule after rotating the page by `-angle`; None if it runs along the writing then, not across it."""
    columns, rows = ends @ (np.cos(angle), np.sin(angle)), ends @ (-np.sin(angle), np.cos(angle))
    upper, lower = np.argsort(rows)
    rule = Rule(float(rows[upper]), float(rows[lower]), float(columns[upper]), float(columns[lower]))
    return rule if abs(rule.at_bottom - rule.at_top) < rule.length else None


def pages_of(places: list[LinePosition], folds: Sequence[Rule]) -> list[list[LinePosition]]:
    """The lines of each page of an opening, from left to right."""
    pages: dict[int, list[LinePosition]] = {}
    for place in places:
        pages.setdefault(sum(fold.at(place.row) < place.middle for fold in folds), []).append(place)
    return [pages[number] for number in sorted(pages)]


def read_with_tables(places: list[LinePosition], rules: Sequence[Rule], order: Order) -> list[Block]:
    """Blocks in reading order, of a page that may have a table."""
    table = table_of(places, rules)
    if table is None:
        return read(places)
    top, bottom, edges = table
    above = [place for place in places if place.row < top]
    below = [place for place in places if place.row > bottom]
    inside = [place for place in places if top <= place.row <= bottom]

    def column(place: LinePosition) -> int:
        return sum(edge.at(place.row) < place.middle for edge in edges)

    return [*read(above), table_block(inside, column, order), *read(below)]


def table_of(places: Sequence[LinePosition], rules: Sequence[Rule]) -> tuple[float, float, list[Rule]] | None:
    """Upper end, lower end and rules of a table; None if there is none."""
    inner = [rule for rule in rules if parts_lines(rule, places)]
    rows = [place.row for place in places]
    least = max((AS_LONG * rule.length for rule in inner), default=0.0)
    tall = [rule for rule in inner if rule.length > max(least, TALL * (max(rows) - min(rows)))]
    counts: dict[int, int] = {}
    for place in places:
        if any(rule.top <= place.row <= rule.bottom for rule in tall):
            column = sum(rule.at(place.row) < place.middle for rule in tall)
            counts[column] = counts.get(column, 0) + 1
    fewest = max(SIDE_BY_SIDE, FILLED * max(counts.values(), default=0))
    if sum(count >= fewest for count in counts.values()) < TABLE_COLUMNS:
        return None
    return min(rule.top for rule in tall), max(rule.bottom for rule in tall), tall


def parts_lines(rule: Rule, places: Sequence[LinePosition]) -> bool:
    """Whether a rule has lines on both sides: it is not the edge of the paper."""
    sides = [place.middle > rule.at(place.row) for place in places if rule.top <= place.row <= rule.bottom]
    return SIDE_BY_SIDE <= sum(sides) <= len(sides) - SIDE_BY_SIDE


def table_block(places: list[LinePosition], column: Callable[[LinePosition], int], order: Order) -> Block:
    """A table in its order, with its cells."""
    sides: dict[int, list[LinePosition]] = {}
    for place in sorted(places, key=column):
        sides.setdefault(column(place), []).append(place)
    columns = list(sides)
    starts = [row[0].row for row in rows_of(max(sides.values(), key=len), is_beside_all)]
    pitch = float(np.median(np.diff(starts))) if len(starts) > 1 else np.inf

    def is_level(place: LinePosition, row: Sequence[LinePosition]) -> bool:
        near = abs(place.row - np.mean([other.row for other in row])) < OFF_ROW * pitch
        return bool(near and all(are_apart(place, other) or column(place) != column(other) for other in row))

    rows = rows_of(places, is_level)
    cells: dict[tuple[int, int], list[int]] = {}
    for number, row in enumerate(rows):
        for place in row:
            cells.setdefault((number, columns.index(column(place))), []).append(place.number)
    if order is Order.COLUMNS:
        ordered = [place for side in sides.values() for place in in_rows(side)]
    else:
        ordered = [place for row in rows for place in row]
    return Block(ordered, Kind.TABLE, tuple(Cell(*place, tuple(lines)) for place, lines in cells.items()))


def read(places: list[LinePosition]) -> list[Block]:
    """Blocks in reading order, of a page without rules."""
    white = gutter(places)
    if white is None:
        return [Block(in_rows(places))] if places else []
    left = [place for place in places if place.middle < white and place.right <= white]
    right = [place for place in places if place.left >= white]
    headings = [place for place in places if place.left < white < place.right]
    if is_note(left, right):
        return read(headings + right) + as_notes(read(left))
    # Checked before notes on the right: amounts are as short, but each belongs to its row.
    if are_amounts(right, left):
        return [table_block(places, lambda place: int(place.middle > white), Order.ROWS)]
    if is_note(right, left):
        return read(headings + left) + as_notes(read(right))
    blocks: list[Block] = []
    start = -np.inf
    for heading in sorted(headings, key=lambda place: place.row):
        blocks += [*between(left, right, start, heading.row), Block([heading])]
        start = heading.row
    return blocks + between(left, right, start, np.inf)


def as_notes(blocks: Sequence[Block]) -> list[Block]:
    """The blocks of a margin."""
    return [block._replace(kind=Kind.MARGIN) for block in blocks]


def between(left: list[LinePosition], right: list[LinePosition], start: float, end: float) -> list[Block]:
    """Blocks of both sides of a gutter within a range of rows, the left side first."""
    sides = ([place for place in side if start < place.row <= end] for side in (left, right))
    return [block for side in sides for block in read(side)]


def is_note(side: Sequence[LinePosition], other: Sequence[LinePosition]) -> bool:
    """Whether the lines on one side are notes to those on the other: fewer, and much shorter."""
    width = max(place.right for place in side) - min(place.left for place in side)
    usual = float(np.median([place.right - place.left for place in other]))
    return len(side) <= len(other) / 2 and width < NOTE * usual


def are_amounts(side: Sequence[LinePosition], other: Sequence[LinePosition]) -> bool:
    """Whether the lines on the right are the amounts of an account: short, and each in a row of the others."""
    usual = float(np.median([place.right - place.left for place in other]))
    width = float(np.median([place.right - place.left for place in side]))
    in_row = sum(any(is_beside(place, entry) for entry in other) for place in side)
    return len(side) > SIDE_BY_SIDE and width < AMOUNT * usual and in_row >= IN_ROW * len(side)


def gutter(places: Sequence[LinePosition]) -> float | None:
    """The center of the gutter between lines that are side by side; None if there is none.

    The gutter with the fewest crossing lines is chosen, then the widest: next to a ragged column, a wider one begins at
    the end of its shorter lines.
    """
    best, rank = None, (-len(places), 0.0)
    lefts, rights = np.array([(place.left, place.right) for place in places]).T.reshape(2, -1)
    for edge in np.unique(rights)[:-1]:
        before, after = rights <= edge, lefts >= edge
        if not after.any():
            break
        width = lefts[after].min() - edge
        crossing = len(places) - before.sum() - after.sum()
        if crossing and (crossing > ACROSS * len(places) or min(before.sum(), after.sum()) < SIDE_BY_SIDE):
            continue
        sides = ([places[number] for number in np.flatnonzero(side).tolist()] for side in (before, after))
        if width > 0 and (-crossing, width) > rank and are_side_by_side(*sides):
            best, rank = float(edge + width / 2), (-int(crossing), float(width))
    return best


def are_side_by_side(left: Sequence[LinePosition], right: Sequence[LinePosition]) -> bool:
    """Whether two sides overlap vertically: as columns, or as a note beside a column."""
    few, many = sorted((left, right), key=len)
    beside, others = count_beside(few, many), count_beside(many, few)
    least = BESIDE_NOTE if is_note(few, many) else SIDE_BY_SIDE
    return len(many) >= SIDE_BY_SIDE and beside >= len(few) / 2 and others >= min(len(few), least)


def count_beside(places: Sequence[LinePosition], others: Sequence[LinePosition]) -> int:
    """Number of lines that are within the vertical range of some others."""
    rows = [other.row for other in others]
    top, bottom = min(rows), max(rows)
    return sum(top - place.height / 2 <= place.row <= bottom + place.height / 2 for place in places)


def rows_of(
    places: Sequence[LinePosition], belongs: Callable[[LinePosition, Sequence[LinePosition]], bool]
) -> list[list[LinePosition]]:
    """Rows from top to bottom, their lines from left to right; `belongs` tells whether a line stands in a row."""
    rows: list[list[LinePosition]] = []
    for place in sorted(places, key=lambda place: place.row):
        if rows and belongs(place, rows[-1]):
            rows[-1].append(place)
        else:
            rows.append([place])
    return [sorted(row, key=lambda place: place.left) for row in rows]


def in_rows(places: Sequence[LinePosition]) -> list[LinePosition]:
    """From top to bottom, and from left to right within a row."""
    return [place for row in rows_of(places, is_beside_all) for place in row]


def is_beside_all(place: LinePosition, row: Sequence[LinePosition]) -> bool:
    """Whether a line is in the same row as all of some others."""
    return all(is_beside(place, other) for other in row)


def is_beside(place: LinePosition, other: LinePosition) -> bool:
    """Whether two lines are in the same row, one after the other."""
    # Outlines are about as high as the distance between lines; half of that would be as near to the row above as below.
    return are_apart(place, other) and abs(place.row - other.row) < 0.4 * min(place.height, other.height)


def are_apart(place: LinePosition, other: LinePosition) -> bool:
    """Whether one of two lines ends before the other begins."""
    return place.left >= other.right or other.left >= place.right
