from dataclasses import replace

import numpy as np
import pytest

from drethtr.data.fonts import Face
from drethtr.data.writing import Pen, write

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


def test_swashes_far_out_of_their_box_are_kept(make_font):
    """A character drawn as ten others in a row reaches five times its height to the right of its advance."""
    face = Face(make_font(drawn_as={"!": "WWWWWWWWWW"}))
    plain, swash = (write(text, face, STEADY, 64, np.random.default_rng(0)).ink for text in ("abc", "abc!"))
    assert swash.shape[1] > 2.5 * plain.shape[1] and not swash[:, [0, -1]].any()


def test_edges_hold_their_characters(face):
    """At the middle of low letters there is ink between the edges of a letter, and none between those of a space."""
    text = "ein Mann und kein Wort"
    for number in range(20):
        writing = write(text, face, replace(WILD, drift=0.1), 64, np.random.default_rng(number))
        edges = writing.edges()
        assert len(edges) == len(text)
        assert [right for _, right in edges[:-1]] == [left for left, _ in edges[1:]]
        row = round(writing.warp.waist * 64)
        band = writing.ink[row - 2 : row + 3].max(axis=0)
        for character, (left, right) in zip(text, edges, strict=True):
            inside = band[round(left + 0.2 * (right - left)) : round(right - 0.1 * (right - left))]
            assert (inside.max() > 128) == (character != " "), (character, left, right)


def test_edges_of_a_steady_hand_are_the_advances(face):
    widths = np.array(
        [right - left for left, right in write("noon", face, STEADY, 64, np.random.default_rng(1)).edges()]
    )
    assert widths == pytest.approx(np.full(4, widths.mean()), rel=0.03)


@pytest.mark.parametrize("height", [32, 64, 128])
def test_any_height(face, height):
    assert write("height", face, Pen(), height, np.random.default_rng(0)).ink.shape[0] == height


def test_thick_and_thin_strokes(face):
    thin, thick = (
        write("noon", face, replace(STEADY, stroke=(share, share)), 64, np.random.default_rng(0)).ink.mean()
        for share in (0.05, 0.3)
    )
    assert thick > 1.2 * thin
