"""Find the rules of tables and the folds of openings: long, straight, dark strokes across the direction of the writing.

Lines of writing never continue beyond them. Creases and squared paper, which lines cross, are not rules:
`ridge.separating` tells them apart by the lines (LOG.md, 2026-11-27).
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from drethtr.base.arrays import Booleans, Floats
from drethtr.images.line import Line
from drethtr.layout.components import components

# Rules raised the share of lines found in ten registers from 64.0 to 86.6 %, with 0.6 instead of 22.2 % merged (LOG.md,
# 2026-11-27); the numbers were not varied one by one. A missed rule leaves two cells as one line; a false one cuts a
# line in two, unless `ridge.separating` drops it. So the numbers err on the side of finding rules.

DARKER = 8.0
"""Gray levels by which a rule is darker than what is left and right of it."""

AROUND = 0.8
"""Half the width of that neighborhood, in thicknesses of the writing."""

WINDOW = 4.0
"""Height of the window in which a rule must be almost unbroken, in thicknesses; letters are lower."""

UNBROKEN = 0.9
"""Minimum share of dark rows in that window."""

LONG = 12.0
"""Minimum length of a rule in thicknesses: about four lines of writing."""

BESIDE_ITSELF = 0.5
"""Maximum distance between strokes that continue each other, in thicknesses."""

INTERRUPTED = 8.0
"""Maximum rows between them, in thicknesses."""

MAX_STROKES = 1000
"""Maximum number of strokes to consider; more are a pattern."""

SQUARES, SQUARE = 12, 4.0
"""Minimum number of strokes of squared paper, and the maximum distance between them, in thicknesses. As rules, they
would cut off the first letters of lines: 25 false lines per 100 on such pages (LOG.md, 2026-11-27)."""

FOLD = 0.85
"""Minimum length of a fold, relative to the height of the picture."""

OPENING = 1.1
"""Minimum width of an opening, relative to its height."""

CENTER = (0.4, 0.6)
"""Where the fold of an opening may be, relative to its width."""

Rows = TypeVar("Rows", float, Floats)


class Rule(NamedTuple):
    """A straight stroke from its upper to its lower end, in pixels of the picture in which it was found."""

    top: float
    bottom: float
    at_top: float
    at_bottom: float

    @property
    def length(self) -> float:
        """Rows from end to end."""
        return self.bottom - self.top

    def ends(self) -> Floats:
        """Its upper and lower end: (2, 2) points (x, y)."""
        return np.array(((self.at_top, self.top), (self.at_bottom, self.bottom)))

    def at(self, row: Rows) -> Rows:
        """The column at a row, or at each of some."""
        return self.at_top + (self.at_bottom - self.at_top) * (row - self.top) / max(self.length, 1.0)


def find_rules(picture: Line, slope: float, thickness: float) -> list[Rule]:
    """The rules of a page from left to right.

    Args:
        picture: Grays, uint8 (height, width).
        slope: Of the writing, in rows per column; rules are perpendicular to it.
        thickness: Of a line's core, about the x-height, in pixels.
    """
    shift = np.rint(slope * np.arange(picture.shape[0])).astype(np.intp)
    upright = sheared(picture, shift)
    dark = is_darker(upright, max(2, round(AROUND * thickness)))
    high = max(3, round(WINDOW * thickness))
    thick = dark.copy()  # widened by a pixel on either side, for strokes that lean a little
    thick[:, 1:] |= dark[:, :-1]
    thick[:, :-1] |= dark[:, 1:]
    solid = mean_over(thick, high // 2) > UNBROKEN
    found = []
    for (rows, columns), mask in components(solid):
        if mask.shape[0] < 2:
            continue
        places = np.arange(rows.start, rows.stop)
        middles = columns.start + (mask * np.arange(mask.shape[1])).sum(1) / mask.sum(1)
        course = np.polynomial.Polynomial.fit(places, middles, 1)
        # The window is full only from half its height inside the ends of a stroke.
        top, bottom = max(0, rows.start - high // 2), min(picture.shape[0] - 1, rows.stop + high // 2)
        found.append(
            Rule(float(top), float(bottom), float(course(top) - shift[top]), float(course(bottom) - shift[bottom]))
        )
    if len(found) > MAX_STROKES:
        return []
    strokes = joined_strokes(found, thickness)
    return [] if is_squared(strokes, thickness) else [rule for rule in strokes if rule.length >= LONG * thickness]


def is_squared(strokes: Sequence[Rule], thickness: float) -> bool:
    """Whether strokes are those of squared paper: many, at small and even distances."""
    gaps = np.diff([(stroke.at_top + stroke.at_bottom) / 2 for stroke in strokes])
    gaps = gaps[gaps > BESIDE_ITSELF * thickness]
    usual = float(np.median(gaps)) if len(gaps) >= SQUARES else np.inf
    even = np.abs(gaps - usual) < 0.2 * usual
    return usual < SQUARE * thickness and bool(even.mean() > 0.5)


def joined_strokes(strokes: Sequence[Rule], thickness: float) -> list[Rule]:
    """Strokes that continue each other, put together, from left to right."""
    rules: list[Rule] = []
    for stroke in sorted(strokes, key=lambda stroke: stroke.top):
        for number, rule in enumerate(rules):
            near = abs(rule.at(stroke.top) - stroke.at_top) < BESIDE_ITSELF * thickness
            if near and stroke.top - rule.bottom < INTERRUPTED * thickness and stroke.bottom > rule.bottom:
                rules[number] = Rule(rule.top, stroke.bottom, rule.at_top, stroke.at_bottom)
                break
        else:
            rules.append(stroke)
    return sorted(rules, key=lambda rule: rule.at_top + rule.at_bottom)


def folds_among(rules: Sequence[Rule], height: int, width: int) -> list[Rule]:
    """The fold of an opening, if a picture of this size shows one."""
    if width < OPENING * height:
        return []
    low, high = (share * width for share in CENTER)
    folds = [rule for rule in rules if rule.length > FOLD * height and low < rule.at(height / 2) < high]
    return sorted(folds, key=lambda rule: -rule.length)[:1]


def is_rule_between(rules: Sequence[Rule], row: float, left: float, right: float) -> bool:
    """Whether a rule passes between two columns at a row."""
    return any(rule.top <= row <= rule.bottom and left <= rule.at(row) <= right for rule in rules)


def sheared(picture: Line, shift: NDArray[np.intp]) -> Line:
    """Each row moved to the right by its shift."""
    columns = (np.arange(picture.shape[1])[None] - shift[:, None]).clip(0, picture.shape[1] - 1)
    moved: Line = np.take_along_axis(picture, columns, axis=1)
    return moved


def is_darker(picture: Line, half: int) -> Booleans:
    """Whether pixels are darker than the mean of their row from `half` pixels before to `half` pixels after them."""
    sums = np.cumsum(np.pad(picture.astype(np.int64), ((0, 0), (half + 1, half)), mode="edge"), axis=1)
    around = (sums[:, 2 * half + 1 :] - sums[:, : -2 * half - 1]) / (2 * half + 1)
    darker: Booleans = around - picture > DARKER
    return darker


def mean_over(values: Booleans, half: int) -> Floats:
    """The mean of each column from `half` rows above to `half` rows below; 0 beyond the picture."""
    sums = np.cumsum(np.pad(values, ((half + 1, half), (0, 0))), axis=0, dtype=np.float64)
    means: Floats = (sums[2 * half + 1 :] - sums[: -2 * half - 1]) / (2 * half + 1)
    return means
