import numpy as np
import pytest
from made_pages import blank, write
from PIL import Image, ImageFilter

from drethtr.base.errors import DataError
from drethtr.images.straighten import straighten

TEXT = "a line of writing"
PAPER = 225


@pytest.fixture
def page():
    """A page with a line whose letters stand on row 240."""
    made = write(blank(800, 400), [TEXT], left=200, top=200, size=44)
    return made, made.lines[0].box


def around(box, margin=6):
    left, top, right, bottom = box
    corners = (left - margin, top - margin, right + margin, bottom + margin)
    return [(corners[0], corners[1]), (corners[2], corners[1]), (corners[2], corners[3]), (corners[0], corners[3])]


def likeness(first, second):
    """Correlation of two images of about one size, a little blurred: strokes may be a pixel off."""
    images = (Image.fromarray(image).resize(first.shape[::-1]) for image in (first, second))
    first, second = (np.asarray(image.filter(ImageFilter.GaussianBlur(1.5))) for image in images)
    return np.corrcoef(first.ravel().astype(float), second.ravel().astype(float))[0, 1]


def foot(box):
    return box[3] - 10


def plain(page, box):
    return straighten(page.gray, [(box[0], foot(box)), (box[2], foot(box))], around(box))


def test_a_straight_line_is_cut_out_as_it_is(page):
    made, box = page
    strip = plain(made, box)
    height, width = strip.line.shape
    assert abs(height - (box[3] - box[1] + 12)) <= 3
    left = int(strip.places[0, 0])
    cut = made.gray[box[1] - 6 : box[1] - 6 + height, left : left + width]
    assert likeness(cut, strip.line) > 0.98


@pytest.mark.parametrize("degrees", [8, -30, 90, 135, 180, 270])
def test_a_turned_line_comes_out_level(page, degrees):
    made, box = page
    expected = plain(made, box).line
    turned = np.asarray(made.image.rotate(degrees, Image.Resampling.BICUBIC, expand=True, fillcolor=PAPER))
    angle = np.radians(degrees)
    matrix = np.array(((np.cos(angle), -np.sin(angle)), (np.sin(angle), np.cos(angle))))
    old, new = np.array(made.image.size) / 2, np.array(turned.shape[::-1]) / 2

    def moved(points):
        return (np.array(points) - old) @ matrix + new

    strip = straighten(turned, moved([(box[0], foot(box)), (box[2], foot(box))]), moved(around(box)))
    assert likeness(expected, strip.line) > 0.9


def bent(made, box):
    """The page with its line bent like a wave, and the wave."""
    columns = np.arange(made.image.width)
    wave = 25 * np.sin(columns / 90)
    rows = np.arange(made.image.height)[:, None] - np.rint(wave).astype(int)
    return np.take_along_axis(made.gray, rows.clip(0, made.image.height - 1), axis=0), wave


def test_a_bent_line_comes_out_straight(page):
    made, box = page
    gray, wave = bent(made, box)
    columns = np.arange(box[0], box[2], 20)
    low = [(x, foot(box) + wave[x]) for x in columns]
    edge = np.arange(box[0] - 6, box[2] + 6, 10)
    polygon = [(x, box[1] - 6 + wave[x]) for x in edge] + [(x, box[3] + 6 + wave[x]) for x in edge[::-1]]
    strip = straighten(gray, low, polygon)
    assert strip.line.shape[0] < box[3] - box[1] + 30
    straight, still_bent = (np.ptp(np.flatnonzero((line < 128).sum(1) > 12)) for line in (strip.line, gray))
    assert straight <= np.ptp(np.flatnonzero((plain(made, box).line < 128).sum(1) > 12)) + 4 < still_bent - 10


def test_neighbors_are_masked_and_paper_fills_their_place(page):
    made, box = page
    write(made, ["the line above", "x"], left=200, top=160, size=44, pitch=300)
    strip = straighten(made.gray, [(box[0], foot(box)), (box[2], foot(box))], around(box, 0))
    assert set(np.unique(strip.line[:, :3])) == {PAPER}
    assert likeness(plain(made, box).line[3:-3], strip.line) > 0.3
    masked = straighten(made.gray, [(300, foot(box)), (400, foot(box))], around((300, box[1], 400, box[3]), 0))
    assert (masked.line[:, :4] == PAPER).all() and (masked.line < 100).any()


def test_the_tone_of_the_paper_follows_a_shadow(page):
    made, box = page
    light = np.linspace(1, 0.4, made.image.width)
    gray = (made.gray * light).astype(np.uint8)
    line = straighten(gray, [(box[0], foot(box)), (box[2], foot(box))], around(box)).line
    assert int(line[0, 0]) > int(line[0, -1]) + 30


def test_places_lead_back_to_the_page(page):
    made, box = page
    strip = plain(made, box)
    dark = np.flatnonzero((strip.line < 100).any(0))
    outline = np.array(strip.outline(dark[0], dark[-1] + 1))
    assert abs(outline[:, 0].min() - box[0]) <= 3 and abs(outline[:, 0].max() - box[2]) <= 3
    assert outline[:, 1].min() <= box[1] and outline[:, 1].max() >= box[3]


def test_beyond_the_edge_of_the_page_there_is_paper(page):
    made, box = page
    polygon = [(-300, box[1]), (1500, box[1]), (1500, box[3] + 500), (-300, box[3] + 500)]
    strip = straighten(made.gray, [(-200, foot(box)), (1400, foot(box))], polygon)
    assert strip.line.shape[1] < 1100 and (strip.line < 100).any()


@pytest.mark.parametrize(
    ("baseline", "polygon"),
    [
        ([(10, 10), (10, 10)], [(0, 0), (50, 0), (50, 20)]),
        ([(10, 10)], [(0, 0), (50, 0), (50, 20)]),
        ([(10, 10), (90, 10)], []),
        ([(10, 10), (90, 10)], [(10, 5), (50, 5), (90, 5)]),
        ([(10, 10), (90, 10)], [(5000, 5000), (5100, 5000), (5100, 5050)]),
        ([(10, 10), (float("nan"), 10)], [(0, 0), (50, 0), (50, 20)]),
        ([(0, 0), (1e6, 0)], [(0, 0), (1e6, 0), (1e6, 50)]),
    ],
    ids=["no length", "a point", "no polygon", "flat", "off the page", "not a number", "too long"],
)
def test_no_line(page, baseline, polygon):
    with pytest.raises(DataError):
        straighten(page[0].gray, baseline, polygon)


def test_a_scribble_in_an_outline_around_the_page_is_no_line():
    """It would have as many columns as the scribble is long, and as many rows as the page."""
    scribble = [(450 + step / 50, 500 + 5 * (-1) ** step) for step in range(5000)]
    with pytest.raises(DataError, match=r"larger than any line"):
        straighten(blank(1000, 1000).gray, scribble, [(0, 0), (1000, 0), (1000, 1000), (0, 1000)])


@pytest.mark.parametrize(("wide", "fits"), [(8, False), (40, True)])
def test_a_strip_is_as_high_as_nearly_all_columns_need(wide, fits):
    """Of 500 columns, 3% may be cut: a long stroke does not shrink the others."""
    bump = [(200, 40), (200, 5), (200 + wide, 5), (200 + wide, 40)]
    outline = [(50, 40), *bump, (550, 40), (550, 80), (50, 80)]
    strip = straighten(np.full((120, 600), 230, np.uint8), [(50, 70), (550, 70)], outline)
    assert (strip.above > 50) is fits and strip.line.shape[0] <= 80
