import numpy as np
import pytest

from drethtr.layout.ridge import Ridge, cut, join, on_this_page, ridge_of, separating, weighted_median
from drethtr.layout.rules import Rule


def ridge(left, right, row, slope=0.0, thickness=10.0):
    return Ridge(left, row + slope * np.arange(left, right, dtype=float), thickness)


def spans(ridges):
    return sorted((found.left, found.right) for found in ridges)


def test_the_ridge_of_a_slanting_patch():
    rows = 20 + 0.2 * np.arange(100)
    weights = np.maximum(0, 1 - np.abs(np.arange(60)[:, None] - rows) / 4).astype(np.float32)
    found = ridge_of(weights, left=5, top=100)
    assert (found.left, found.right) == (5, 105) and 6 <= found.thickness <= 9
    assert np.allclose(found.middle, 100 + rows, atol=0.5) and found.slope() == pytest.approx(0.2, abs=0.01)
    assert ridge_of(np.zeros((5, 5), np.float32), 0, 0) is None


def test_words_of_a_line_are_joined():
    assert spans(join([ridge(0, 100, 50), ridge(130, 200, 52), ridge(215, 300, 49)])) == [(0, 300)]


@pytest.mark.parametrize("second", [(130, 200, 65), (190, 260, 50)], ids=["the next line", "too far"])
def test_pieces_of_other_lines_are_not(second):
    assert len(join([ridge(0, 100, 50), ridge(*second)])) == 2


def test_large_and_small_writing_are_not_joined():
    assert len(join([ridge(0, 100, 50), ridge(120, 200, 50, thickness=40)])) == 2


def test_a_slanting_line_is_followed():
    assert spans(join([ridge(0, 200, 50, 0.15), ridge(235, 400, 50, 0.15)])) == [(0, 400)]


def test_a_gutter_parts_lines_that_a_gap_between_words_would_not():
    """The same gap of thirty columns: once it runs through all lines, once only through one."""
    columns = [ridge(left, left + 200, row) for row in range(50, 250, 40) for left in (0, 230)]
    assert len(join(columns)) == 10
    words = [ridge(0, 440, row) for row in range(50, 250, 40) if row != 130] + [
        ridge(0, 200, 130),
        ridge(230, 440, 130),
    ]
    assert len(join(words)) == 5


def test_nothing():
    assert join([]) == []


def test_weighted_median():
    assert weighted_median([3.0, 1.0, 2.0], [1, 1, 5]) == 2
    assert weighted_median([3.0, 1.0, 2.0], [9, 1, 5]) == 3


def test_a_rule_cuts_lines_and_keeps_their_pieces_apart():
    rules = [Rule(0, 100, 150, 150)]
    assert spans(cut([ridge(0, 300, 50), ridge(0, 300, 150)], rules)) == [(0, 151), (0, 300), (151, 300)]
    assert len(join([ridge(0, 140, 50), ridge(160, 300, 50)], rules)) == 2
    assert len(join([ridge(0, 140, 50), ridge(160, 300, 50)], [])) == 1


def test_what_a_rule_leaves_of_a_letter_is_dropped():
    assert spans(cut([ridge(0, 155, 50)], [Rule(0, 100, 150, 150)])) == [(0, 151)]


@pytest.mark.parametrize(("crossing", "kept"), [(1, 1), (4, 0)])
def test_a_stroke_is_a_rule_where_lines_end(crossing, kept):
    lines = [ridge(0, 140, row) for row in range(0, 80, 20)]
    lines += [ridge(0, 300, row) for row in range(100, 100 + 20 * crossing, 20)]
    assert len(separating([Rule(0, 400, 150, 150)], lines, 10)) == kept


def test_lines_that_the_edge_cuts_off_are_those_of_a_facing_page():
    page = [ridge(200, 900, row) for row in range(0, 200, 20)]
    ends = [ridge(0, 60, row) for row in range(0, 100, 20)]
    assert on_this_page([*page, *ends], 1000) == page
    first_column = [ridge(row, 110, row) for row in range(0, 100, 20)]
    assert len(on_this_page([*page, *first_column], 1000)) == len(page) + len(first_column)
