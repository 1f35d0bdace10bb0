from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from drethtr.synthesis.fonts import Face
from drethtr.synthesis.writing import Pen, thicken, write

WILD = Pen(slant=20, wobble=6, stretch=0.3, spacing=0.3, drift=0.3)
STEADY = Pen(slant=0, wobble=0, stretch=0, spacing=0, drift=0)


@pytest.fixture
def face(make_font):
    return Face(make_font())


@pytest.mark.parametrize("text", ["x", "if", "Two words", "a rather longer line, gypsy queens by the dozen"])
def test_no_ink_reaches_the_border(face, text):
    """What is not at the border was not cut there, however wild the hand."""
    for number in range(40):
        ink = write(text, face, WILD, 64, np.random.default_rng(number)).ink
        assert ink.shape[0] == 64 and ink.max() == 255
        assert not ink[[0, -1]].any() and not ink[:, [0, -1]].any()


def test_leaning_takes_no_ink_away(face):
    """A slant only shifts the rows of the outermost letters, it cuts nothing off them."""
    for number in range(20):
        upright, leaning = (
            write("lkjy", face, replace(STEADY, slant=slant), 64, np.random.default_rng(number)).ink.sum(dtype=int)
            for slant in (0, 1000)
        )
        assert leaning == pytest.approx(upright, rel=0.05)


def test_swashes_far_out_of_their_box_are_kept(make_font):
    """A character that advances by one letter and draws ten."""
    face = Face(make_font(drawn_as={"!": "WWWWWWWWWW"}))
    plain, swash = (write(text, face, STEADY, 64, np.random.default_rng(0)).ink for text in ("abc", "abc!"))
    assert swash.shape[1] > 3 * plain.shape[1] and not swash[:, [0, -1]].any()


def test_edges_hold_their_characters(face):
    """At the middle of low letters there is ink between the edges of a letter, and none between those of a space."""
    text, hand = "ein Mann und kein Wort", replace(WILD, slant=12, wobble=4, drift=0.05)
    for number in range(20):
        writing = write(text, face, hand, 64, np.random.default_rng(number))
        edges = writing.edges()
        assert len(edges) == len(text)
        assert [right for _, right in edges[:-1]] == [left for left, _ in edges[1:]]
        # Low letters of the boxes font are the darkest rows; their middle is found without asking the warp.
        dark = np.flatnonzero(writing.ink.sum(axis=1) > 0.5 * np.median(np.sort(writing.ink.sum(axis=1))[-12:]))
        row = round(np.median(dark))
        band = writing.ink[row - 2 : row + 3].max(axis=0)
        for character, (left, right) in zip(text, edges, strict=True):
            inside = band[round(left + 0.2 * (right - left)) : round(right - 0.2 * (right - left))]
            assert (inside.max() > 90) == (character != " "), (number, character, left, right)


def test_edges_of_a_steady_hand_are_the_advances(face):
    edges = write("noon.", face, STEADY, 64, np.random.default_rng(1)).edges()
    widths = [right - left for left, right in edges[:4]]
    assert widths == pytest.approx([widths[0]] * 4, rel=0.02)


@pytest.mark.parametrize("height", [32, 64, 128])
def test_any_height(face, height):
    assert write("height", face, Pen(), height, np.random.default_rng(0)).ink.shape[0] == height


def test_thick_and_thin_strokes(face):
    thin, thick = (
        write("noon", face, replace(STEADY, stroke=(share, share)), 64, np.random.default_rng(0)).ink.mean()
        for share in (0.05, 0.3)
    )
    assert thick > 1.1 * thin


def test_hairlines_survive_a_thin_pen():
    """A line of half a pixel beside a stroke of four, drawn with the thinnest and the sharpest pen."""
    page = np.zeros((20, 40), np.uint8)
    page[:, 10], page[:, 25:29] = 128, 255
    ink = np.asarray(thicken(Image.fromarray(page), stroke=4, hairline=0.5, wanted=0.5, sharpness=2.8))
    assert ink[10, 10] > 60 and ink[10, 26] == 255 and not ink[10, 15:20].any()
