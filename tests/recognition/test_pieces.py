"""A line read in pieces has every character once, every space, and each in its place."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drethtr.images.line import load_line
from drethtr.images.prepare import Piece
from drethtr.recognition import pieces
from drethtr.recognition.confidence.ink import Ink
from drethtr.recognition.pieces import reading_of, stitch
from drethtr.recognition.reading import Character, Reading
from drethtr.recognition.recognizer import Recognizer

SAMPLES = Path(__file__).parents[2] / "samples"


@pytest.mark.parametrize("decoder", ["ctc", "careful"])
def test_words_end_where_the_ink_ends(decoder):
    """Within 5 pixels on average, on lines 64 pixels high; a line seen at several widths is placed on the first."""
    lines = [load_line(path) for path in sorted(SAMPLES.glob("*.png"))]
    away = []
    for line, reading in zip(lines, Recognizer.load(decoder=decoder, threads=1).read_lines(lines), strict=True):
        inked, words = np.flatnonzero(Ink.of(line).columns), reading.words()
        away.append((abs(words[0].left - inked[0]), abs(words[-1].right - (inked[-1] + 1))))
    assert np.mean(away, axis=0) == pytest.approx((0, 0), abs=5)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(height=st.integers(16, 90), width=st.integers(1, 1500))
def test_pieces_are_no_longer_than_a_model_can_take_and_cover_the_line(tiny_model, monkeypatch, height, width):
    """At every width at which the strategy wants them."""
    monkeypatch.setattr(pieces, "LONGEST_PIECE", 100)
    reader = Recognizer(tiny_model, "careful", threads=1).pieces
    found = reader.prepare(3, np.full((height, width), 255, np.uint8))
    assert max(view.shape[1] for piece in found for view in piece.views) <= 100
    assert {piece.line for piece in found} == {3} and found[0].piece.left == 0 and found[-1].piece.right == width
    assert all(one.piece.right > other.piece.left for one, other in pairwise(found))


def test_stitching_takes_each_character_once() -> None:
    left = [Character(c, 0.9, 10.0 * i, 10.0 * i + 10) for i, c in enumerate("hand wri")]
    right = [Character(c, 0.8, 10.0 * i + 50, 10.0 * i + 60) for i, c in enumerate("writing")]
    pieces = [(Piece(0, 80, -np.inf, 65.0), left), (Piece(50, 120, 65.0, np.inf), right)]
    assert stitch(pieces).text == "hand writing"


@pytest.mark.parametrize("shifts", [(0, 0), (-8, 8), (8, -8)], ids=["alike", "both beyond", "neither beyond"])
def test_a_space_at_a_seam_is_neither_lost_nor_doubled(shifts: tuple[float, float]) -> None:
    """Wherever the pieces see it."""
    both = []
    for shift in shifts:
        places = [10.0 * i + (shift if character == " " else 0) for i, character in enumerate(" one two ")]
        both.append([Character(c, 0.9, place, place + 10) for c, place in zip(" one two ", places, strict=True)])
    pieces = [(Piece(0, 70, -np.inf, 45.0), both[0][:6]), (Piece(20, 90, 45.0, np.inf), both[1][3:])]
    assert stitch(pieces).text == "one two"


@pytest.mark.parametrize(
    ("first", "shares"),
    [
        ("one", (Piece(0, 80, -np.inf, 55.0), Piece(30, 70, 55.0, 65.0), Piece(50, 120, 65.0, np.inf))),
        # The first piece saw a letter just beyond its own share.
        ("one.", (Piece(0, 50, -np.inf, 32.0), Piece(20, 90, 32.0, 80.0), Piece(70, 120, 80.0, np.inf))),
    ],
)
def test_a_gap_as_wide_as_a_piece_without_letters_is_a_space(first, shares):
    left = [Character(c, 0.9, 10.0 * i, 10.0 * i + 10) for i, c in enumerate(first)]
    right = [Character(c, 0.9, 10.0 * i + 90, 10.0 * i + 100) for i, c in enumerate("two")]
    assert stitch(list(zip(shares, (left, [], right), strict=True))).text == "one two"


def test_a_space_between_letters_that_overlap_does_not_end_before_it_begins() -> None:
    """Two pieces place the same ink apart by some pixels."""
    pieces = [
        (Piece(0, 70, -np.inf, 50.0), [Character("a", 0.9, 40.0, 56.0)]),
        (Piece(30, 90, 50.0, np.inf), [Character("b", 0.9, 54.0, 66.0)]),
    ]
    assert [(c.text, c.left, c.right) for c in stitch(pieces).characters][1] == (" ", 54.0, 56.0)


def test_nothing_read_is_an_empty_reading() -> None:
    assert reading_of([]) == Reading("", 0.0, ())
