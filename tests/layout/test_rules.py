import numpy as np
import pytest
from made_pages import TEXTS, blank, write
from PIL import Image, ImageDraw

from drethtr.layout.rapid import RapidDetector
from drethtr.layout.rules import Rule, find_rules, folds_among, is_rule_between

THICKNESS = 10.0


def picture(*strokes, width=600, height=800, lean=0):
    """A page with upright strokes: column, first row, last row and gray."""
    page = Image.new("L", (width, height), 220)
    for column, top, bottom, gray in strokes:
        ImageDraw.Draw(page).line([(column, top), (column + lean, bottom)], fill=gray, width=3)
    return np.asarray(page)


def columns(rules):
    return [round(rule.at((rule.top + rule.bottom) / 2)) for rule in rules]


def test_long_dark_strokes_are_rules():
    page = picture((100, 50, 700, 60), (300, 50, 700, 200), (450, 50, 120, 60))
    [first, second] = find_rules(page, 0.0, THICKNESS)
    assert columns([first, second]) == [100, 300]
    assert (first.top, first.bottom) == pytest.approx((50, 700), abs=6)


@pytest.mark.parametrize("slope", [-0.15, 0.15])
def test_rules_lean_with_the_writing(slope):
    lean = -slope * 600
    page = picture((300, 100, 700, 60), lean=lean)
    [rule] = find_rules(page, slope, THICKNESS)
    assert abs(rule.at(100) - 300) < 3 and abs(rule.at(700) - (300 + lean)) < 3
    assert find_rules(page, -slope, THICKNESS) == []


def test_pieces_of_a_rule_are_put_together():
    [rule] = find_rules(picture((200, 50, 300, 60), (201, 340, 700, 60)), 0.0, THICKNESS)
    assert rule.length > 640


def test_letters_are_no_rules():
    assert find_rules(write(blank(), TEXTS, size=48).gray, 0.0, THICKNESS) == []


def test_where_a_rule_passes():
    rules = [Rule(100, 500, 200, 240)]
    assert is_rule_between(rules, 300, 210, 230)
    assert not is_rule_between(rules, 300, 221, 300) and not is_rule_between(rules, 600, 200, 300)


def test_the_fold_of_an_opening():
    rules = [Rule(5, 790, 500, 505), Rule(100, 700, 480, 480), Rule(0, 800, 100, 100)]
    assert folds_among(rules, 800, 1000) == rules[:1]
    assert folds_among(rules, 1000, 800) == []


def table(rows=5, rule=120):
    """Three columns with rules between them."""
    page = blank(1100, 120 + 70 * rows)
    cells = (("first", "second", "third", "fourth", "fifth"), TEXTS, ("one", "two", "three", "four", "five"))
    for left, texts in zip((60, 300, 860), cells, strict=True):
        write(page, texts[:rows], left=left, top=40, size=32)
    for column in (270, 830):
        ImageDraw.Draw(page.image).line([(column, 5), (column, 110 + 70 * rows)], fill=rule, width=3)
    return page


def test_a_table_is_found_cell_by_cell():
    page = table()
    layout = RapidDetector(side=1100).find(page.gray)
    assert len(layout.lines) == len(page.lines)
    assert sorted(round(float(ends[:, 0].mean())) for ends in layout.rules) == pytest.approx([270, 830], abs=4)


def test_lines_run_over_a_crease():
    """A stroke over which all lines run parts none of them."""
    page = write(blank(), TEXTS[:6])
    before = RapidDetector(side=960).find(page.gray)
    ImageDraw.Draw(page.image).line([(250, 0), (250, 1000)], fill=190, width=3)
    after = RapidDetector(side=960).find(page.gray)
    assert len(after) == len(before) == 6 and after.rules == ()


def test_an_opening_is_two_pages():
    page = write(write(blank(1400, 700), TEXTS, left=60, size=30), TEXTS, left=760, size=30)
    ImageDraw.Draw(page.image).line([(700, 0), (700, 700)], fill=90, width=4)
    layout = RapidDetector().find(page.gray)
    assert len(layout.folds) == 1 and len(layout) == 2 * len(TEXTS)


def test_ends_of_the_lines_of_a_facing_page_are_left_out():
    page = write(blank(1000, 700), TEXTS, left=250, size=30)
    write(page, [text[-4:] for text in TEXTS], left=-20, size=30)
    assert len(RapidDetector(side=960).find(page.gray)) == len(TEXTS)


def test_thousands_of_strokes_are_a_pattern():
    """They would take minutes to put together."""
    page = np.full((1200, 1200), 220, np.uint8)
    page[:, ::7] = 60
    for row in range(0, 1200, 60):
        page[row : row + 12] = 220
    assert find_rules(page, 0.0, 5.0) == []
