"""The expected cost of a found layout: characters lost in merged lines, added by false ones, or read in another order.

The figures are shares of the characters of a page, beyond the errors of reading, as `evaluation/layout.py` simulates
them from the texts of 111 pages of 16 collections. `recipes/layout_doubt.py` fits them, and measures how often
intervals fitted without a collection hold on it: for 92 % of the pages (LOG.md, 2026-11-28).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from drethtr.documents.page import Page
from drethtr.layout.finder import FoundLine, Kind, Layout
from drethtr.layout.order import level, typical_angle

USUAL, FOR_ODD, UP_TO = 0.020, 0.244, 2.791
"""The expected cost of a page without odd lines, its increase with the share of odd lines, and the factor by which the
true cost may exceed it.

On pages of collections that were left out of the fit, the cost is in the interval on 95 of 103 (LOG.md, 2026-11-28)."""

CROWDED = 0.5
"""Lines above each other at less than this share of their usual height are crowded: one of them may be false."""

CROSSING = 0.3
"""Minimum overlap of the two, as a share of the shorter line, for that to count."""

ASLANT, SMALL = np.radians(4), 0.6
"""Lines at more than this angle to most of the writing, or lower than this share of the usual height, are odd."""

REASON = 0.3
"""Share of odd lines from which a layout is flagged: 8 such pages of 103 cost 19 %, the others 3 %."""


class LayoutDoubt(NamedTuple):
    """The expected cost of a layout with its interval, as shares of characters, and a reason if it is doubtful."""

    expected: float
    low: float
    high: float
    reason: str = ""


NO_DOUBT = LayoutDoubt(0.0, 0.0, 0.0)
"""The doubt about given lines."""

IN_TABLE = LayoutDoubt(0.30, 0.02, 0.5, "a table, read row by row or, with --order columns, column by column")
"""The doubt about pages with tables: on eight of one collection, half of the cost is due to order, a convention."""

ODD = "many lines overlap, are slanted or are small: some may not be lines of this page"


def doubt_of(lines: Sequence[FoundLine], *, table: bool) -> LayoutDoubt:
    """The doubt about the lines of a page; `table` says whether some are in a table."""
    if table:
        return IN_TABLE
    # Several factors and logarithms predicted no better, and gave absurd costs for unusual pages (LOG.md, 2026-11-27).
    odd = odd_share(lines)
    expected = USUAL + FOR_ODD * odd
    return LayoutDoubt(expected, 0.0, min(UP_TO * expected, 1.0), ODD if odd > REASON else "")


def odd_share(lines: Sequence[FoundLine]) -> float:
    """The share of the length of lines that are crowded, aslant or small, each counted for itself, at most 1."""
    if not lines:
        return 0.0
    angle = typical_angle(lines)
    places = [level(number, line, angle) for number, line in enumerate(lines)]
    lefts, rights, rows, heights = np.array([(p.left, p.right, p.row, p.height) for p in places]).T
    lengths, usual = rights - lefts, float(np.median(heights))
    directions = np.array([line.baseline[-1] - line.baseline[0] for line in lines])
    turns = np.abs((np.arctan2(directions[:, 1], directions[:, 0]) - angle + np.pi) % (2 * np.pi) - np.pi)
    crowded = np.zeros(len(lines), dtype=np.bool_)
    for number, place in enumerate(places):
        across = np.minimum(rights, place.right) - np.maximum(lefts, place.left)
        near = np.abs(rows - place.row) < CROWDED * usual
        near[number] = False
        crowded[number] = bool((near & (across > CROSSING * np.minimum(lengths, lengths[number]))).any())
    odd = sum(float(lengths[kind].sum()) for kind in (crowded, turns > ASLANT, heights < SMALL * usual))
    return min(odd / max(float(lengths.sum()), 1e-9), 1.0)


def doubt_of_page(page: Page) -> LayoutDoubt:
    """The doubt about the lines of a page that were found."""
    lines = [FoundLine.at(line.baseline, line.polygon) for line in page.lines if line.baseline and line.polygon]
    return doubt_of(lines, table=any(region.cell is not None for region in page.regions))


def doubt_of_layout(layout: Layout) -> LayoutDoubt:
    """The doubt about an arranged layout."""
    return doubt_of(layout.lines, table=any(region.kind == Kind.TABLE for region in layout.regions or ()))
