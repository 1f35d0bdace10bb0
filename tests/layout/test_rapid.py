import numpy as np
import pytest
from made_pages import TEXTS, blank, blocks_of, letter, matched, write
from PIL import Image, ImageDraw, ImageFilter
from real_data import PAGES, needs_pages

from drethtr.layout.rapid import RapidDetector
from drethtr.layout.turn import quarters_of, turn_line

FINDER = RapidDetector(side=640)


def texts_in_order(page):
    """The made texts in the order in which their lines are found to be read."""
    found = FINDER.find(page.gray)
    text_of = dict(
        zip(matched(page, [line.polygon for line in found]), (line.text for line in page.lines), strict=True)
    )
    return [text_of.get(number) for block in blocks_of(found) for number in block]


def test_lines_of_a_letter():
    page = letter()
    assert texts_in_order(page) == list(TEXTS)


def test_baselines_run_under_the_letters():
    page = write(blank(700, 300), ["on no summer morn"], top=100, size=50)
    [line] = FINDER.find(page.gray)
    _, _, _, bottom = page.lines[0].box
    assert np.abs(line.baseline[:, 1] - bottom).max() < 8
    assert line.baseline[0, 0] < line.baseline[-1, 0]


def test_two_columns_with_a_heading():
    page = write(blank(1100, 700), ["A heading that runs across both the columns of text"], left=100)
    write(page, TEXTS[:4], left=80, top=200, size=30)
    write(page, TEXTS[4:], left=620, top=200, size=30)
    assert texts_in_order(page) == [line.text for line in page.lines]


def test_marginal_note_is_read_after_the_text():
    page = write(blank(1000, 700), TEXTS, left=330)
    write(page, ["paid in", "full"], left=60, top=300, size=26, pitch=45)
    assert texts_in_order(page) == [*TEXTS, "paid in", "full"]


def test_numbers_of_entries_are_text():
    """Alone they would be folio numbers; in a ruled table they have text in their row."""
    page = blank(940, 760, tone=228)
    dates, names = ("4 March", "4 March", "7 March"), ("John Hale, baker", "Widow Marsh", "Thos. Lowe, carter")
    columns = (("101", "102", "103", "104", "105", "106"), dates * 2, names * 2, ("12.50", "3.20", "8.75") * 2)
    for left, texts in zip((50, 140, 330, 780), columns, strict=True):
        write(page, texts, left=left, top=120, size=36, pitch=95, ink=45)
    for column in (20, 115, 300, 750, 915):
        ImageDraw.Draw(page.image).line([(column, 60), (column, 720)], fill=110, width=3)
    found = RapidDetector().find(page.gray)
    assert len(found) == len(page.lines)


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_page_on_its_side_or_head(quarters):
    """On its side, the lines run up or down the page; on its head, they are found as if it stood on its feet."""
    page = letter()
    turned = np.ascontiguousarray(np.rot90(page.gray, quarters))
    found = FINDER.find(turned)
    height, width = turned.shape
    matched(page, [turn_line(line, -quarters, width, height).polygon for line in found])
    assert {quarters_of(line.baseline) for line in found} == ({3} if quarters % 2 else {0})


@pytest.mark.parametrize("degrees", [-10, -4, 7, 10])
def test_skewed_page(degrees):
    page = letter()
    turned = page.image.rotate(degrees, Image.Resampling.BICUBIC, expand=True, fillcolor=225)
    found = FINDER.find(np.asarray(turned))
    angles = [np.degrees(np.arctan2(*(line.baseline[-1] - line.baseline[0])[::-1])) for line in found]
    assert len(found) == len(TEXTS) and np.allclose(angles, -degrees, atol=2.5)
    order = [number for block in blocks_of(found) for number in block]
    rows = [
        found[number].baseline.mean(0) @ (np.sin(np.radians(degrees)), np.cos(np.radians(degrees))) for number in order
    ]
    assert rows == sorted(rows)


def test_empty_page():
    assert FINDER.find(blank().gray).lines == ()
    grain = np.random.default_rng(0).normal(200, 6, (900, 700)).clip(0, 255).astype(np.uint8)
    assert FINDER.find(grain).lines == ()


def test_photograph_with_a_shadow():
    page = letter()
    height, width = page.gray.shape
    light = np.linspace(1, 0.35, width)[None] * np.linspace(1, 0.8, height)[:, None]
    table = np.full((height + 200, width + 200), 30, np.uint8)
    table[100:-100, 100:-100] = page.gray * light
    found = FINDER.find(np.asarray(Image.fromarray(table).filter(ImageFilter.GaussianBlur(1))))
    matched(page, [line.polygon - 100 for line in found])


def test_white_on_black_and_fax():
    page = letter()
    for picture in (255 - page.gray, np.asarray(page.image.convert("1").convert("L"))):
        matched(page, [line.polygon for line in FINDER.find(picture)])


def test_small_writing_is_looked_at_twice():
    """On the first picture the low letters are a pixel high; the larger one shows them."""
    page = write(blank(1400, 1400), list(TEXTS * 3), left=300, size=22, pitch=45)
    once, twice = (RapidDetector(side=192, fine_side=side).find(page.gray) for side in (192, 1120))
    matched(page, [line.polygon for line in twice])
    assert len(once) < len(twice)


@needs_pages
def test_real_page():
    from drethtr.documents.read import read_page

    page = read_page(PAGES / "fr_2024_modern_banq.alto.xml")
    gray = np.asarray(Image.open(PAGES / page.image).convert("L"))
    found = RapidDetector(side=960).find(gray)
    rows = [np.mean([y for _, y in line.polygon]) for line in page.lines]
    nearest = [int(np.argmin([abs(line.polygon[:, 1].mean() - row) for line in found])) for row in rows]
    assert len(found) == len(rows) and sorted(nearest) == list(range(len(rows)))
    assert [number for block in blocks_of(found) for number in block] == nearest
