import numpy as np
import pytest
from made_pages import TEXTS, blank, letter, overlap, write
from PIL import Image

from drethtr.layout.given import GivenLine, Outlines, complete, forward
from drethtr.layout.turn import turn_points


def baseline_of(box):
    left, _, right, bottom = box
    return np.array([(left, bottom - 10), ((left + right) / 2, bottom - 10), (right, bottom - 10)], float)


def polygon_of(box):
    left, top, right, bottom = box
    return np.array([(left, top), (right, top), (right, bottom), (left, bottom)], float)


def drawn_around(box):
    """An outline with ascenders and descenders at its own places."""
    left, top, right, bottom = box
    high, low = np.random.default_rng(left * top).uniform(0, 12, (2, 5))
    columns = np.linspace(left, right, 5)
    upper, lower = np.stack((columns, top - high), axis=1), np.stack((columns, bottom + low), axis=1)
    return np.concatenate((upper, lower[::-1]))


@pytest.mark.parametrize("quarters", [0, 1, 2, 3])
def test_polygons_from_baselines(quarters):
    """Around the own ink, not around the neighbors', whichever way the page lies."""
    page = letter()
    width, height = page.image.size
    turned = np.ascontiguousarray(np.rot90(page.gray, quarters))
    given = [GivenLine(turn_points(baseline_of(line.box), quarters, width, height), None) for line in page.lines]
    found = complete(turned, given)
    for line, given_line, made in zip(found, given, page.lines, strict=True):
        assert np.array_equal(line.baseline, given_line.baseline)
        upright = turn_points(line.polygon, -quarters, *turned.shape[::-1])
        assert overlap(made.box, upright) > 0.6


@pytest.mark.parametrize("quarters", [0, 2])
def test_baselines_drawn_backward_are_turned_around(quarters):
    """Below upright letters only: on a page that lies on its head, lines do run from right to left."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        size, pitch = int(rng.integers(20, 44)), int(rng.integers(50, 90))
        page = write(blank(700, 480), rng.permutation(TEXTS)[: rng.integers(1, 6)], size=size, pitch=pitch)
        gray = np.ascontiguousarray(np.rot90(page.gray, quarters))
        foot = round(0.27 * size)
        right = [
            turn_points(np.array([(left, bottom - foot), (right, bottom - foot)], float), quarters, 700, 480)
            for left, _, right, bottom in (line.box for line in page.lines)
        ]
        backward = rng.random(len(right)) < 0.7 if not quarters else np.zeros(len(right), bool)
        given = [GivenLine(line[::-1] if back else line, None) for line, back in zip(right, backward, strict=True)]
        assert [line.baseline.tolist() for line in forward(gray, given)] == [line.tolist() for line in right], seed


def test_a_line_alone():
    page = write(blank(700, 500), TEXTS[:1], top=200)
    [line] = complete(page.gray, [GivenLine(baseline_of(page.lines[0].box), None)])
    assert overlap(page.lines[0].box, line.polygon) > 0.5


def test_baselines_from_polygons():
    page = letter()
    found = complete(page.gray, [GivenLine(None, polygon_of(line.box)) for line in page.lines])
    for line, made in zip(found, page.lines, strict=True):
        _, top, _, bottom = made.box
        assert np.array_equal(line.polygon, polygon_of(made.box))
        assert (line.baseline[:, 1] > (top + bottom) / 2).all() and (line.baseline[:, 1] < bottom).all()
        assert line.baseline[0, 0] < line.baseline[-1, 0]


def test_a_polygon_that_stands_upright_is_read_upward():
    [line] = complete(blank().gray, [GivenLine(None, polygon_of((100, 200, 140, 700)))])
    (first, last) = line.baseline[0], line.baseline[-1]
    assert first[1] > last[1] and 120 < first[0] < 140


def test_what_is_given_stays():
    page = letter()
    given = [GivenLine(baseline_of(line.box), drawn_around(line.box)) for line in page.lines]
    found = complete(page.gray, given)
    for line, known in zip(found, given, strict=True):
        assert line.baseline is known.baseline and line.polygon is known.polygon


def test_bands_are_drawn_anew_and_given_outlines_used_on_request():
    """Bands of a fixed height cut the ascenders off; the baselines stay."""
    page = letter()
    bands = [
        polygon_of((left, bottom - 18, right, bottom - 2)) for left, _, right, bottom in (x.box for x in page.lines)
    ]
    given = [GivenLine(baseline_of(line.box), band) for line, band in zip(page.lines, bands, strict=True)]
    for line, known, made in zip(complete(page.gray, given), given, page.lines, strict=True):
        assert line.baseline is known.baseline
        assert overlap(made.box, line.polygon) > 0.6 > overlap(made.box, known.polygon)
    kept = complete(page.gray, given, Outlines.GIVEN)
    assert all(line.polygon is band for line, band in zip(kept, bands, strict=True))


def test_slivers_are_drawn_anew():
    """What is left where a program failed to outline a line; the other outlines of the page stay."""
    page = letter()
    boxes = [line.box for line in page.lines]
    polygons = [drawn_around(box) for box in boxes]
    left, _, right, bottom = boxes[1]
    polygons[1] = polygon_of((left, bottom - 12, right, bottom - 8))
    given = [GivenLine(baseline_of(box), polygon) for box, polygon in zip(boxes, polygons, strict=True)]
    found = complete(page.gray, given)
    assert [line.polygon is polygon for line, polygon in zip(found, polygons, strict=True)].count(False) == 1
    assert overlap(boxes[1], found[1].polygon) > 0.6
    assert complete(page.gray, given, Outlines.GIVEN)[1].polygon is polygons[1]


def test_own_outlines_on_request():
    page = letter()
    given = [GivenLine(baseline_of(line.box), drawn_around(line.box)) for line in page.lines]
    bare = complete(page.gray, [line._replace(polygon=None) for line in given])
    for line, own in zip(bare, complete(page.gray, given, Outlines.OWN), strict=True):
        assert np.array_equal(line.polygon, own.polygon)
    assert complete(page.gray, []) == []


@pytest.mark.parametrize(
    "baseline",
    [[(-50, -50), (-20, -50)], [(5000, 10), (6000, 10)], [(0, 999), (900, 999)], [(3, 3), (4, 3)]],
    ids=["above the page", "beside it", "at its foot", "tiny"],
)
def test_baselines_at_odd_places(baseline):
    """Whatever comes out, nothing breaks; what lies off the page cannot be straightened, and that is said there."""
    [line] = complete(np.asarray(Image.new("L", (900, 1000), 200)), [GivenLine(np.array(baseline, float), None)])
    assert np.isfinite(line.polygon).all() and len(line.polygon) >= 3


def test_two_thousand_lines():
    """As many as a page of a register has cells."""
    page = np.full((4100, 800), 225, np.uint8)
    baselines = [np.array([(x, y), (x + 30, y)], float) for x in range(20, 800, 160) for y in range(20, 4020, 10)]
    found = complete(page, [GivenLine(baseline, None) for baseline in baselines])
    assert len(found) == 2000 and all(np.ptp(line.polygon[:, 1]) < 12 for line in found)


@pytest.mark.parametrize("end", [(1_000_000, 5), (5, 1_000_000), (1_000_000, 1_000_000)])
def test_outside_the_page_no_ink_is_looked_for(end):
    """A million columns of nothing would take minutes and gigabytes."""
    page = letter()
    size = page.gray.shape[::-1]
    far = np.array([(5, 5), end], float)
    for line in complete(page.gray, [GivenLine(far, None), GivenLine(far + 1_000_000, None)]):
        assert len(line.polygon) < 5_000 and (line.polygon > -100).all() and (line.polygon < np.add(size, 100)).all()
