"""Synthetic pages: the layout says where the writing is, whatever was done to the picture."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from drethtr.base.errors import ConfigError, DataError
from drethtr.layout.finder import Kind, Role
from drethtr.synthesis.pages import SyntheticPages
from drethtr.synthesis.photograph import Bend

ROOT = Path(__file__).parents[1]
FONTS, TEXT = str(ROOT / "fonts"), str(ROOT / "texts" / "en.txt")
KINDS = ("letters", "openings", "registers", "accounts", "noted", "columns")


def only(kind, **settings):
    """A synthesizer of pages of one kind."""
    shares = dict.fromkeys(KINDS, 0.0) | {kind: 1.0}
    return SyntheticPages(fonts=FONTS, texts=(TEXT,), side=(600, 800), **shares, **settings).build()


@pytest.mark.parametrize("kind", KINDS)
def test_every_line_is_once_in_the_order_and_on_the_picture(kind):
    pages = only(kind)
    for index in range(2):
        page = pages.render(index, seed=1)
        layout, (height, width) = page.layout, page.page.shape
        ordered = [number for region in layout.regions for number in region.lines]
        assert sorted(ordered) == list(range(len(layout))) and len(layout) > 2
        for line in layout:
            for points in (line.baseline, line.polygon):
                assert len(points) >= 2 and (points >= 0).all() and (points <= (width, height)).all()
            assert line.role in set(Role)
        for region in layout.regions:
            in_cells = [number for cell in region.cells for number in cell.lines]
            assert sorted(in_cells) == sorted(region.lines) or not in_cells


@pytest.mark.parametrize("kind", KINDS)
def test_ink_is_above_baselines(kind):
    page = only(kind, bleeding=0.0).render(0, seed=2)
    darker = []
    for line in page.layout:
        rows = np.arange(-9, 10)
        xs, ys = (
            np.interp(np.linspace(0, 1, 60), np.linspace(0, 1, len(line.baseline)), part) for part in line.baseline.T
        )
        places = (ys + rows[:, None]).round().astype(int).clip(0, page.page.shape[0] - 1)
        strip = page.page[places, xs.round().astype(int).clip(0, page.page.shape[1] - 1)].astype(float)
        darker.append(strip[10:].mean() - strip[4:10].mean())
    assert np.median(darker) > 0 and np.mean(np.array(darker) > 0) > 0.8


def test_the_same_page_again():
    first, again, other = (only("letters").render(index, seed=3) for index in (5, 5, 6))
    assert np.array_equal(first.page, again.page)
    assert [line.polygon.tolist() for line in first.layout] == [line.polygon.tolist() for line in again.layout]
    assert first.page.shape != other.page.shape or not np.array_equal(first.page, other.page)


def test_what_is_on_which_page():
    noted = [only("noted").render(n, seed=4).layout for n in range(4)]
    assert any(region.kind == Kind.MARGIN for layout in noted for region in layout.regions)
    account = only("accounts").render(0, seed=4).layout
    assert any(region.kind == Kind.TABLE and region.cells for region in account.regions)


def test_an_insertion_follows_its_line():
    roles = []
    for index in range(12):
        layout = only("letters").render(index, seed=5).layout
        for region in layout.regions:
            for before, number in zip(region.lines, region.lines[1:], strict=False):
                if layout.lines[number].role == Role.INSERTION and layout.lines[before].role == Role.BODY:
                    roles.append(
                        layout.lines[number].baseline[:, 1].mean() - layout.lines[before].baseline[:, 1].mean()
                    )
    assert roles and np.mean(np.array(roles) < 0) > 0.9


def test_points_are_bent_with_the_picture():
    shifts = np.random.default_rng(0).normal(0, 6, (9, 9, 2))
    bend = Bend(400, 300, shifts)
    flat = np.zeros((300, 400), np.uint8)
    flat[150:153, 200:203] = 255
    bent = np.asarray(bend.picture(Image.fromarray(flat)), float)
    rows, columns = np.mgrid[:300, :400]
    center = np.array(((columns * bent).sum(), (rows * bent).sum())) / bent.sum() + 0.5
    assert np.abs(center - bend.forward(np.array(((201.5, 151.5),)))[0]).max() < 0.7


@pytest.mark.parametrize(("blank", "answer"), [(8, "no font in .* has all characters"), (9999, "has hardly any text")])
def test_blank_lines_choose_no_font(blank, answer, tmp_path):
    """Any font draws all of them; its page would have no words."""
    text = tmp_path / "en.txt"
    text.write_text("жук\n" + "\n" * blank, encoding="utf-8")
    pages = SyntheticPages(fonts=FONTS, texts=(str(text),)).build()
    for seed in range(8):
        rng = np.random.default_rng(seed)
        with pytest.raises(DataError, match=answer):
            pages.hand(pages.scene(rng, opening=False), rng)


def test_settings_are_checked():
    with pytest.raises(ConfigError, match="frequencies"):
        SyntheticPages(fonts="x", texts=("y",), letters=-1.0)
    with pytest.raises(ConfigError, match="side"):
        SyntheticPages(fonts="x", texts=("y",), side=(500, 300))
