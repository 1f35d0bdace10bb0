import numpy as np
import pytest

from drethtr.documents.page import Page, Region, TextLine
from drethtr.layout.doubt import IN_TABLE, doubt_of, doubt_of_layout, doubt_of_page, odd_share
from drethtr.layout.finder import FoundLine, Layout
from drethtr.layout.order import arranged
from drethtr.layout.turn import turn_line


def column(left, right, rows=range(100, 500, 40)):
    return [
        FoundLine.at(
            ((left, row), (right, row)), ((left, row - 20), (right, row - 20), (right, row + 10), (left, row + 10))
        )
        for row in rows
    ]


def test_a_table_is_doubted_most():
    cells = tuple(cell for left in (50, 300, 600) for cell in column(left, left + 150))
    rules = tuple(np.array(((left, 60), (left, 520)), float) for left in (250, 550))
    assert doubt_of_layout(arranged(Layout(cells, rules=rules))) == IN_TABLE and IN_TABLE.reason
    assert doubt_of_layout(arranged(Layout(cells))).expected < IN_TABLE.expected < IN_TABLE.high


def test_lines_below_or_beside_each_other_are_not_odd():
    for lines in (column(100, 900), [*column(100, 450), *column(500, 900)], column(100, 900, (100,)), []):
        assert odd_share(lines) == 0
        doubt = doubt_of(lines, table=False)
        assert doubt.low == 0 < doubt.expected < doubt.high < 0.1 and not doubt.reason


@pytest.mark.parametrize("quarters", [0, 1, 2, 3])
@pytest.mark.parametrize(
    "odd",
    [
        column(110, 890, (108, 228)),
        [FoundLine.at(((100, 560), (700, 620)), ((100, 540), (700, 600), (700, 630), (100, 570)))],
        [
            FoundLine(line.baseline, line.baseline[[0, 1, 1]] + ((0, -8), (0, -8), (0, 2)))
            for line in column(100, 900, (540,))
        ],
    ],
    ids=["crowded", "aslant", "small"],
)
def test_odd_lines_raise_the_doubt(odd, quarters):
    """Whichever way the page lies."""
    usual = column(100, 900)
    lines = [turn_line(line, quarters, 1000, 1000) for line in (*usual, *odd)]
    assert odd_share(lines) > 0.05
    assert doubt_of(lines, table=False).high > doubt_of(usual, table=False).high


def test_a_page_of_odd_lines_is_flagged():
    assert doubt_of([*column(100, 900), *column(110, 880, range(108, 500, 40))], table=False).reason


def test_a_page_in_a_file_is_doubted_as_the_layout_it_came_from():
    layout = Layout((*column(100, 900), *column(110, 880, (108,))))
    lines = tuple(
        TextLine(str(number), tuple(map(tuple, line.polygon.tolist())), tuple(map(tuple, line.baseline.tolist())))
        for number, line in enumerate(layout)
    )
    page = Page("a.jpg", 1000, 1000, (Region("r", lines),))
    assert doubt_of_page(page) == doubt_of_layout(arranged(layout))
