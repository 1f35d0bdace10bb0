"""A line before its outline is computed: its middle from left to right, and its thickness.

Rows and columns are pixels of the image in which the ridge was found.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from drethtr.base.arrays import Floats
from drethtr.layout.rules import Rule, is_rule_between

# Those without figures were not varied alone. With all of them, 96.9 % of the lines are found, 0.6 % merged and 0.3 %
# split on 62 pages that were not used to choose them (LOG.md, 2026-11-27).

MAX_GAP = 4.0
"""Pieces farther apart than this many thicknesses belong to different lines.

With 7, 4 and 3, 91.1, 91.7 and 91.7 % of the lines are found, and 11.9, 12.6 and 13.0 of 100 are false (LOG.md,
2026-11-27)."""

SAFE_GAP = 1.5
"""Pieces closer than this belong to one line, whatever is above and below."""

BESIDE = 6.0
"""Pieces that end or begin this close to a rule are beside it, in thicknesses."""

CROSSED = 0.5
"""Maximum number of pieces that cross a rule, relative to those beside it: rules of tables have a third, creases five
to none (LOG.md, 2026-11-27)."""

STRIP = 0.12
"""Width of a strip of a facing page, relative to that of the picture."""

EDGE = 0.015
"""Pieces this close to the edge of the picture are cut off by it, relative to its width."""

CUT_OFF = 0.7
"""Minimum share of the pieces in the strip that are cut off; on 54 pages, false lines fell from 8.4 to 6.0 of 100 by
this (LOG.md, 2026-11-27)."""

MIN_PIECE = 0.8
"""Pieces that a rule leaves of a line are dropped if they are shorter than this, in thicknesses."""

OFF_COURSE = 0.75
"""Maximum vertical deviation of a piece from the course of the previous one, in thicknesses."""

VICINITY = 10.0
"""A gutter must be empty for at least this many thicknesses above or below the gap."""


class Ridge(NamedTuple):
    """`middle[i]` is the row at column `left + i`; `thickness` is that of the core, about the x-height."""

    left: int
    middle: Floats
    thickness: float

    @property
    def right(self) -> int:
        """The column after the last."""
        return self.left + len(self.middle)

    def slope(self) -> float:
        """Rows per column, from a linear fit to the middle."""
        columns = np.arange(len(self.middle)) - (len(self.middle) - 1) / 2
        return float(columns @ self.middle) / max(float(columns @ columns), 1.0)


def ridge_of(weights: NDArray[np.float32], left: int, top: int) -> Ridge | None:
    """The ridge of a patch of weights, 0 outside the line, whose corner is at (left, top); None if it is empty."""
    mass = weights.sum(0)
    filled = np.flatnonzero(mass > 0)
    if len(filled) < 2:
        return None
    thickness = float(np.median((weights > 0).sum(0)[filled]))
    rows = (weights * np.arange(weights.shape[0], dtype=np.float32)[:, None]).sum(0)[filled] / mass[filled]
    columns = np.arange(filled[0], filled[-1] + 1)
    middle = smooth(np.interp(columns, filled, rows), 2 * thickness)
    return Ridge(left + int(filled[0]), top + middle, thickness)


def smooth(values: Floats, window: float) -> Floats:
    """A moving average whose window shrinks toward the ends."""
    sums = np.concatenate(([0.0], np.cumsum(values)))
    at = np.arange(len(values))
    half = np.minimum(np.minimum(at, len(values) - 1 - at), round(window / 2))
    averages: Floats = (sums[at + half + 1] - sums[at - half]) / (2 * half + 1)
    return averages


def typical_slope(ridges: Sequence[Ridge]) -> float:
    """The slope of most of the writing: the median over columns."""
    if not ridges:
        return 0.0
    return weighted_median([ridge.slope() for ridge in ridges], [len(ridge.middle) for ridge in ridges])


def weighted_median(values: Sequence[float], weights: Sequence[float]) -> float:
    """The weighted median."""
    order = np.argsort(values)
    passed = np.cumsum(np.asarray(weights, dtype=np.float64)[order])
    return float(np.asarray(values)[order][np.searchsorted(passed, passed[-1] / 2)])


def on_this_page(ridges: Sequence[Ridge], width: int) -> list[Ridge]:
    """The ridges without the ends of a facing page's lines, at the left and the right edge of a picture of this width.

    Numbers in the first column of a table may also reach the edge, but only some of them.
    """
    strip, edge = STRIP * width, EDGE * width
    gone: set[int] = set()
    for distances in ([ridge.left for ridge in ridges], [width - ridge.right for ridge in ridges]):
        narrow = [number for number, distance in enumerate(distances) if distance + len(ridges[number].middle) < strip]
        cut_off = [number for number in narrow if distances[number] < edge]
        if len(cut_off) >= CUT_OFF * len(narrow):
            gone.update(cut_off)
    return [ridge for number, ridge in enumerate(ridges) if number not in gone]


def separating(rules: Sequence[Rule], ridges: Sequence[Ridge], thickness: float) -> list[Rule]:
    """Rules at which pieces of lines end or begin, not creases and squared paper, over which they run."""
    kept = []
    for rule in rules:
        crossing = beside = 0
        for ridge in ridges:
            row = float(ridge.middle.mean())
            if rule.top <= row <= rule.bottom:
                column = rule.at(row)
                if ridge.left < column - thickness and ridge.right > column + thickness:
                    crossing += 1
                elif ridge.left < column + BESIDE * thickness and ridge.right > column - BESIDE * thickness:
                    beside += 1
        if crossing <= CROSSED * beside:
            kept.append(rule)
    return kept


def cut(ridges: Sequence[Ridge], rules: Sequence[Rule]) -> list[Ridge]:
    """The pieces of ridges between rules."""
    pieces = []
    for ridge in ridges:
        ends = [ridge.left, ridge.right]
        for rule in rules:
            if not min(rule.at_top, rule.at_bottom) < ridge.right or max(rule.at_top, rule.at_bottom) < ridge.left:
                continue
            beyond = np.arange(ridge.left, ridge.right) > rule.at(ridge.middle)
            for place in np.flatnonzero(np.diff(beyond)).tolist():
                if rule.top <= ridge.middle[place] <= rule.bottom:
                    ends.append(ridge.left + place + 1)
        if len(ends) == 2:
            pieces.append(ridge)
            continue
        for left, right in pairwise(sorted(ends)):
            if right - left >= MIN_PIECE * ridge.thickness:
                middle = ridge.middle[left - ridge.left : right - ridge.left]
                pieces.append(Ridge(left, middle, ridge.thickness))
    return pieces


def join(ridges: Sequence[Ridge], rules: Sequence[Rule] = ()) -> list[Ridge]:
    """Join the pieces of lines, but neither across a rule nor across the gutter between columns.

    A gutter separates lines even if other lines continue across it. The closest pieces are joined first, each with at
    most one piece before and one after it.
    """
    slope = typical_slope(ridges)
    spans = np.array([[ridge.left, ridge.right, ridge.middle.mean()] for ridge in ridges]).T
    after: dict[int, int] = {}
    before: dict[int, int] = {}
    # Greedily from the smallest gap: the right neighbor is usually closer than a wrong one.
    for _, first, second in sorted(candidates(ridges, slope)):
        if first in after or second in before:
            continue
        one, other = ridges[first], ridges[second]
        meeting = min(one.right, other.left) - 2, max(one.right, other.left) + 2
        if is_rule_between(rules, float(one.middle[-1]), *meeting):
            continue
        if not is_gutter(ridges[first], ridges[second], spans, slope):
            after[first], before[second] = second, first
    joined = []
    for start in range(len(ridges)):
        if start in before:
            continue
        chain = [start]
        while chain[-1] in after:
            chain.append(after[chain[-1]])
        joined.append(connect([ridges[number] for number in chain]))
    return joined


def candidates(ridges: Sequence[Ridge], slope: float) -> list[tuple[float, int, int]]:
    """Pairs of pieces that may belong to one line, with the gap between them in thicknesses first."""
    found = []
    lefts = np.array([ridge.left for ridge in ridges])
    for number, ridge in enumerate(ridges):
        near = np.flatnonzero((lefts > ridge.left) & (lefts < ridge.right + MAX_GAP * 2 * ridge.thickness))
        for other in near.tolist():
            second = ridges[other]
            thickness = (ridge.thickness * second.thickness) ** 0.5
            gap = (second.left - ridge.right) / thickness
            # Pieces may overlap a little, where a letter reaches over the next; they are compared where they meet.
            middle = min(second.left, ridge.right)
            end = ridge.middle[-1 if gap >= 0 else max(0, middle - ridge.left - 1)]
            drift = float(second.middle[0] - end - slope * max(0, second.left - ridge.right)) / thickness
            alike = max(ridge.thickness, second.thickness) < 3 * min(ridge.thickness, second.thickness)
            ahead = second.right > ridge.right
            # The wider the gap, the less the course of the first piece predicts the row of the second.
            if alike and ahead and -1.5 < gap < MAX_GAP and abs(drift) < OFF_COURSE * (1 + 0.1 * max(gap, 0)):
                found.append((max(gap, 0.0) + abs(drift), number, other))
    return found


def is_gutter(left: Ridge, right: Ridge, spans: Floats, slope: float) -> bool:
    """Whether the gap between two pieces is part of a gutter, which no piece crosses nearby.

    `spans` contains left, right and mean row of every piece.
    """
    thickness = (left.thickness * right.thickness) ** 0.5
    if right.left - left.right <= SAFE_GAP * thickness:
        return False
    middle = (left.right + right.left) / 2
    row = left.middle[-1] + slope * (middle - left.right)
    lefts, rights, middles = spans
    distances = middles - row - slope * ((lefts + rights) / 2 - middle)
    # Pieces in the same row are these two, or continue them; at least two pieces above or below must leave the gap
    # free.
    near = (np.abs(distances) < VICINITY * thickness) & (np.abs(distances) > 0.5 * thickness)
    crossing = (lefts < middle - 0.5 * thickness) & (rights > middle + 0.5 * thickness)
    return bool(near.sum() >= 2 and not (near & crossing).any())


def connect(pieces: Sequence[Ridge]) -> Ridge:
    """One ridge through pieces from left to right, linear between them."""
    if len(pieces) == 1:
        return pieces[0]
    left = min(piece.left for piece in pieces)
    right = max(piece.right for piece in pieces)
    columns = np.concatenate([np.arange(piece.left, piece.right) for piece in pieces])
    rows = np.concatenate([piece.middle for piece in pieces])
    order = np.argsort(columns, kind="stable")
    lengths = np.array([len(piece.middle) for piece in pieces])
    thickness = float(np.average([piece.thickness for piece in pieces], weights=lengths))
    middle = smooth(np.interp(np.arange(left, right), columns[order], rows[order]), 2 * thickness)
    return Ridge(left, middle, thickness)
