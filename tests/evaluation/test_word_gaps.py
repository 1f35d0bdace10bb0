"""Gaps are where there is no ink, and belong to the spaces of the text."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from drethtr.base.errors import ConfigError
from drethtr.datasets.open import open_samples
from drethtr.datasets.sample import fingerprint
from drethtr.evaluation.word_gaps import word_gaps
from drethtr.recognition.recognizer import Recognizer

SAMPLES = open_samples(Path(__file__).parents[2] / "samples")


def test_words_are_cut_apart():
    found = word_gaps(Recognizer.load(), SAMPLES)
    shares: list[float] = []
    for sample in SAMPLES:
        gaps, line = found[fingerprint(sample)], sample.line()
        ink = (np.median(line) - line.astype(float)).clip(0).sum(axis=0)
        assert all(sample.text[gap.character] == " " for gap in gaps)
        assert [gap.column for gap in gaps] == sorted({gap.column for gap in gaps})
        shares += [ink[gap.column] / ink.max() for gap in gaps]
    assert len(shares) >= 0.8 * sum(sample.text.count(" ") for sample in SAMPLES)
    assert np.mean(shares) < 0.1 and max(shares) < 0.5  # a descender or the grain of the paper may reach into a gap


def test_the_text_of_another_line_has_none():
    wrong = [replace(sample, text=SAMPLES[n - 1].text) for n, sample in enumerate(SAMPLES)]
    assert not word_gaps(Recognizer.load(), wrong)


def test_a_model_without_ctc_head_is_refused(headless_model):
    with pytest.raises(ConfigError, match="has no CTC head to locate words"):
        word_gaps(Recognizer(headless_model), SAMPLES)
