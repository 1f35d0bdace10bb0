import numpy as np

from drethtr.layout.doubt import IN_TABLE, ONE_COLUMN, SIDE_BY_SIDE, doubt_of, doubt_of_layout
from drethtr.layout.finder import FoundLine, Layout
from drethtr.layout.order import arranged


def column(left, right, rows=range(100, 500, 40)):
    return [
        FoundLine(
            np.array(((left, row), (right, row)), float),
            np.array(((left, row - 20), (right, row - 20), (right, row + 10), (left, row + 10)), float),
        )
        for row in rows
    ]


def test_a_table_is_doubted_most():
    cells = tuple(cell for left in (50, 300, 600) for cell in column(left, left + 150))
    rules = tuple(np.array(((left, 60), (left, 520)), float) for left in (250, 550))
    assert doubt_of_layout(arranged(Layout(cells, rules=rules))) == IN_TABLE and IN_TABLE.reason
    assert doubt_of_layout(arranged(Layout(cells))) == SIDE_BY_SIDE
    assert ONE_COLUMN.expected < SIDE_BY_SIDE.expected < IN_TABLE.low < IN_TABLE.expected < IN_TABLE.high


def test_lines_below_each_other_are_one_column():
    assert doubt_of(column(100, 900), table=False) == ONE_COLUMN
    assert doubt_of([*column(100, 900), *column(920, 990, (100,))], table=False) == SIDE_BY_SIDE
    assert doubt_of([], table=False) == ONE_COLUMN
