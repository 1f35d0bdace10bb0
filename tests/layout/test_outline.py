import numpy as np
import pytest
from made_pages import blank, write

from drethtr.layout.outline import border, ink_of, outline, seam
from drethtr.layout.ridge import Ridge


def ridges(rows, left=80, right=480, thickness=16.0):
    return [Ridge(left, np.full(right - left, float(row)), thickness) for row in rows]


def test_a_line_ends_before_its_neighbors():
    """Where lines stand so close that each would reach over the next."""
    page = write(blank(600, 300), ["minimum in line", "minimum in line", "minimum in line"], pitch=26, size=34)
    rows = [np.mean((line.box[1], line.box[3])) for line in page.lines]
    found = outline(page.gray, ridges(rows), 1.0)
    for number, line in enumerate(found):
        top, bottom = line.polygon[:, 1].min(), line.polygon[:, 1].max()
        assert top < rows[number] < bottom
        assert all(not top + 1 < row < bottom - 1 for row in rows[:number] + rows[number + 1 :])


def test_the_border_goes_around_a_stroke_that_reaches_across():
    page = write(blank(700, 400), ["mmmmmmmm"], top=100, size=60)
    _, _, _, bottom = page.lines[0].box
    gray = page.gray.copy()
    gray[bottom - 20 : bottom + 22, 300:305] = 40
    [line] = outline(gray, ridges([bottom - 18], 80, 600, 22.0), 1.0)
    depth = max(y for x, y in line.polygon if 290 < x < 315)
    assert depth > bottom + 16


def test_a_line_reaches_as_far_as_its_ink_goes_on():
    page = write(blank(700, 300), ["a line of some words"], top=120, size=44)
    left, top, right, bottom = page.lines[0].box
    middle = (top + bottom) / 2 + 4
    [line] = outline(page.gray, ridges([middle], left + 25, right - 25, 20.0), 1.0)
    assert left - 20 < line.polygon[:, 0].min() < left + 6 and right - 6 < line.polygon[:, 0].max() < right + 20


@pytest.mark.parametrize("negative", [False, True])
def test_ink_is_what_differs_from_the_paper_around_it(negative):
    gray = np.tile(np.linspace(250, 120, 160).astype(np.uint8), (96, 1))
    gray[40:44, 30:130] -= 60
    ink = ink_of(255 - gray if negative else gray)
    assert ink[40:44, 30:130].min() > 40 and np.quantile(np.delete(ink, range(40, 44), axis=0), 0.95) < 15


def test_seam():
    cost = np.full((5, 6), 9.0)
    for column, row in enumerate((3, 2, 2, 1, 2, 3)):
        cost[row, column] = 0
    assert seam(cost).tolist() == [3, 2, 2, 1, 2, 3]


def test_the_border_stays_before_another_line_however_dark_it_is_there():
    ink = np.zeros((40, 12))
    ink[4:21] = 255
    blocked = np.zeros(ink.shape, bool)
    blocked[21:24] = True
    assert border(ink, blocked, thickness=10.0, usual=1.7).max() < 21
