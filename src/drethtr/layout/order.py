"""Reading order: group lines into columns, headings across them, and marginal notes.

Lines are compared after rotating the page so that its writing is horizontal, in pixels of the page.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from drethtr.layout.finder import FoundLine
from drethtr.layout.turn import quarters_of

ACROSS = 0.12
"""Maximum share of lines that may cross the gutter between two columns: headings."""

NOTE = 0.45
"""A side with fewer lines that are narrower than this share of the other's is a margin: its notes are read after it."""

SIDE_BY_SIDE = 3
"""Minimum number of lines of a column beside lines of the other for the gap between them to be a gutter."""


class LinePosition(NamedTuple):
    """The position of a line, and its index."""

    number: int
    left: float
    right: float
    row: float
    height: float


def arrange(lines: Sequence[FoundLine]) -> list[list[int]]:
    """Indices of the lines in blocks, in reading order; writing in another direction than most comes last."""
    blocks = []
    for group in by_direction(lines):
        angle = typical_angle([lines[number] for number in group])
        places = [level(number, lines[number], angle) for number in group]
        blocks += [[place.number for place in block] for block in read(places)]
    return blocks


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


def read(places: list[LinePosition]) -> list[list[LinePosition]]:
    """Blocks in reading order."""
    white = gutter(places)
    if white is None:
        return [rows(places)] if places else []
    left = [place for place in places if (place.left + place.right) / 2 < white and place.right <= white]
    right = [place for place in places if place.left >= white]
    headings = [place for place in places if place.left < white < place.right]
    if is_note(left, right):
        return read(headings + right) + read(left)
    if is_note(right, left):
        return read(headings + left) + read(right)
    blocks: list[list[LinePosition]] = []
    start = -np.inf
    for heading in sorted(headings, key=lambda place: place.row):
        blocks += [*between(left, right, start, heading.row), [heading]]
        start = heading.row
    return blocks + between(left, right, start, np.inf)


def between(left: list[LinePosition], right: list[LinePosition], start: float, end: float) -> list[list[LinePosition]]:
    """Blocks of both sides of a gutter within a range of rows, the left side first."""
    sides = ([place for place in side if start < place.row <= end] for side in (left, right))
    return [block for side in sides for block in read(side)]


def is_note(side: list[LinePosition], other: list[LinePosition]) -> bool:
    """Whether the lines on one side are notes to those on the other: fewer, and much shorter."""
    width = max(place.right for place in side) - min(place.left for place in side)
    usual = float(np.median([place.right - place.left for place in other]))
    return len(side) <= len(other) / 2 and width < NOTE * usual


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
    return len(many) >= SIDE_BY_SIDE and beside >= len(few) / 2 and others >= min(len(few), SIDE_BY_SIDE)


def count_beside(places: Sequence[LinePosition], others: Sequence[LinePosition]) -> int:
    """Number of lines that are within the vertical range of some others."""
    rows = [other.row for other in others]
    top, bottom = min(rows), max(rows)
    return sum(top - place.height / 2 <= place.row <= bottom + place.height / 2 for place in places)


def rows(places: Sequence[LinePosition]) -> list[LinePosition]:
    """From top to bottom, and from left to right within a row."""
    ordered: list[list[LinePosition]] = []
    for place in sorted(places, key=lambda place: place.row):
        if ordered and all(is_beside(place, other) for other in ordered[-1]):
            ordered[-1].append(place)
        else:
            ordered.append([place])
    return [place for row in ordered for place in sorted(row, key=lambda place: place.left)]


def is_beside(place: LinePosition, other: LinePosition) -> bool:
    """Whether two lines are in the same row, one after the other."""
    near = abs(place.row - other.row) < 0.4 * min(place.height, other.height)
    return near and (place.left >= other.right or other.left >= place.right)
