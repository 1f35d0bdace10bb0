"""What a found layout may cost: characters lost in merged lines, added by false ones, or read in another order.

The figures are shares of the characters of a page, beyond the errors of reading: CER in order with found lines minus
that with given ones, read by CTC, on 72 pages of 16 collections (LOG, 2026-11-27). What tells pages apart is whether
they have a table or lines side by side; overlapping outlines, short lines and jumps of the order do not.
"""

from collections.abc import Sequence
from typing import NamedTuple

from drethtr.layout.finder import FoundLine, Kind, Layout
from drethtr.layout.order import level, rows_of, typical_angle

BESIDE = 0.15
"""Least share of the lines in a row with others for a page to have lines side by side."""


class LayoutDoubt(NamedTuple):
    """The expected cost of a layout with a 90 % interval, as shares of characters, and a reason if it is doubtful."""

    expected: float
    low: float
    high: float
    reason: str = ""


ONE_COLUMN = LayoutDoubt(0.03, 0.0, 0.13)
SIDE_BY_SIDE = LayoutDoubt(0.05, 0.0, 0.17)
IN_TABLE = LayoutDoubt(0.28, 0.14, 0.43, "a table, read row by row or, with --order columns, column by column")
"""By kind of page: the central nine tenths of the costs on those pages, four of them with tables.

How often they hold on other collections is not measured. Wider intervals, up to 0.28 and 0.25 for pages without tables,
held on 93 and 88 % of the pages of collections left out.
"""


def doubt_of(lines: Sequence[FoundLine], *, table: bool) -> LayoutDoubt:
    """The doubt about the lines of a page; `table` says whether some are in a table."""
    if table:
        return IN_TABLE
    angle = typical_angle(lines) if lines else 0.0
    rows = rows_of([level(number, line, angle) for number, line in enumerate(lines)])
    beside = sum(len(row) for row in rows if len(row) > 1)
    return SIDE_BY_SIDE if beside > BESIDE * len(lines) else ONE_COLUMN


def doubt_of_layout(layout: Layout) -> LayoutDoubt:
    """The doubt about an arranged layout."""
    return doubt_of(layout.lines, table=any(region.kind == Kind.TABLE for region in layout.regions or ()))
