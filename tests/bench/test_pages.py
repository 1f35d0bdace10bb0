import json

import pytest
from printed_pages import put_page

from drethtr import Recognizer
from drethtr.bench.pages import Detection, compare_outlines, intersection_over_union, measure, report, to_json
from drethtr.documents import Box
from drethtr.layout.projection import Projection
from drethtr.pages.source import open_originals


@pytest.fixture
def pages(tmp_path):
    put_page(tmp_path / "a.png", tmp_path / "a.xml", ["abc def", "a cabbage", "an image"])
    return open_originals(tmp_path / "a.xml")


def test_stages_and_lines_of_a_page(pages, tiny_model):
    [figures] = measure(pages, Recognizer(tiny_model), Projection())
    assert figures.detection.marked == 3 and figures.lines == figures.detection.found
    assert figures.seconds == pytest.approx(figures.load + figures.find + figures.cut + figures.read)
    shown = report([figures], peak=1_234_000_000)
    assert "a.xml" in shown and "1,234 MB" in shown and "of 3 marked lines" in shown
    assert json.loads(json.dumps(to_json([figures], None)))["pages"][0]["lines"] == figures.lines


def box(left, top, right, bottom):
    return Box(left, top, right, bottom).polygon()


LINES = [box(0, row, 400, row + 40) for row in (0, 100, 200)]


@pytest.mark.parametrize(
    ("second", "share"),
    [
        (box(0, 0, 100, 100), 1),
        (box(0, 50, 100, 150), 1 / 3),
        (box(25, 25, 75, 75), 1 / 4),
        (box(200, 0, 300, 100), 0),
        (((0, 0), (100, 0), (0, 100)), 1 / 2),
        ((), 0),
    ],
)
def test_intersection_over_union(second, share):
    assert intersection_over_union(box(0, 0, 100, 100), second) == pytest.approx(share, abs=0.02)


def test_every_line_is_counted_once():
    found = [box(0, 5, 400, 45), box(0, 2, 400, 42), box(0, 210, 400, 250), box(0, 500, 400, 540)]
    result = compare_outlines(LINES, found)
    assert (result.marked, result.found, result.both) == (3, 4, 2)
    assert (result.recall, result.precision) == (pytest.approx(2 / 3), 1 / 2)
    assert result.mean_overlap == pytest.approx((38 / 42 + 30 / 50) / 2, abs=0.03)


def test_outlines_with_little_overlap_do_not_match():
    assert compare_outlines(LINES[:1], [box(0, 0, 150, 40)]).both == 0
    assert compare_outlines(LINES[:1], [box(0, 0, 250, 40)]).both == 1


@pytest.mark.parametrize(("marked", "found"), [(LINES, []), ([], LINES), ([], [])])
def test_nothing_marked_or_found(marked, found):
    result = compare_outlines(marked, found)
    assert result == Detection(len(marked), len(found)) and result.recall == result.precision == 0


def test_pages_add_up():
    assert Detection(3, 4, 2, 1.5) + Detection(1, 1, 1, 0.9) == Detection(4, 5, 3, 2.4)
