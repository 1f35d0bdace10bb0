"""The shipped model reads the sample lines, and real ones about as well as its card says."""

from pathlib import Path

import numpy as np
import pytest
from real_data import LINES, needs_lines

from drethtr import Recognizer
from drethtr.datasets.open import open_samples
from drethtr.evaluation.evaluate import evaluate
from drethtr.recognition.model.file import SHIPPED
from drethtr.synthesis.synthetic import Synthetic

ROOT = Path(__file__).parents[1]


def test_shipped_model_reads_the_samples():
    scores = evaluate(Recognizer.load(), open_samples(ROOT / "samples"))
    assert scores.overall.lines == 6 and scores.overall.cer < 0.01


def test_shipped_model_is_small_enough_and_has_a_card():
    assert SHIPPED.stat().st_size <= 16_000_000
    card = Recognizer.load().model.card
    assert {"license", "data", "command", "evaluation"} <= card.keys()
    assert {"convention", "sets", "overall"} <= card["evaluation"].keys()


@needs_lines
@pytest.mark.parametrize("name", ["hooker_en", "peraire_fr", "leopold_de"])
def test_shipped_model_reads_real_lines(name):
    """Of pages not used for training; so few may be twice as hard as those of the card."""
    recognizer = Recognizer.load()
    [told] = [one["cer"] for one in recognizer.model.card["evaluation"]["sets"] if one["name"] == name]
    scores = evaluate(recognizer, open_samples(LINES / f"{name}.val.parquet"), limit=12)
    assert scores.overall.cer < 2 * told


def test_samples_are_what_the_generator_makes():
    """As in `samples/README.md`; pixels may differ by a gray level or two between font engines."""
    texts = tuple(str(ROOT / "tests" / "texts" / f"{language}.txt") for language in ("en", "fr", "de"))
    synthesizer = Synthetic(fonts=str(ROOT / "tests" / "fonts"), texts=texts).build()
    for number, sample in enumerate(open_samples(ROOT / "samples")):
        made = synthesizer.render(number, seed=689)
        assert made.text == sample.text
        assert made.line().shape == sample.line().shape
        assert np.abs(made.line().astype(int) - sample.line()).mean() < 2
