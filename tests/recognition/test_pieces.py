"""Pieces of lines: where their characters stand."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drethtr.images.line import load_line
from drethtr.recognition import pieces
from drethtr.recognition.confidence.ink import Ink
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
    monkeypatch.setattr(pieces, "MAX_COLUMNS", 100)
    reader = Recognizer(tiny_model, "careful", threads=1).pieces
    found = reader.prepare(3, np.full((height, width), 255, np.uint8))
    assert max(view.shape[1] for piece in found for view in piece.views) <= 100
    assert {piece.line for piece in found} == {3} and found[0].piece.left == 0 and found[-1].piece.right == width
    assert all(one.piece.right > other.piece.left for one, other in pairwise(found))
