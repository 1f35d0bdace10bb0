"""Pieces of lines: where their characters stand."""

from pathlib import Path

import numpy as np
import pytest

from drethtr.images.line import load_line
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
