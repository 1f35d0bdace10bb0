"""What users of the shipped model rely on: it says so when it is shown what it cannot read.

Pictures without writing and synthetic lines are made here; real lines are read where they are at hand.
"""

from pathlib import Path

import numpy as np
import pytest
from odd_lines import KINDS, blank_paper, odd_lines
from rapidfuzz.distance import Levenshtein
from real_data import LINES

from drethtr.datasets.open import open_all
from drethtr.datasets.sample import choose, clean_lines
from drethtr.evaluation.confidence import measure_confidence
from drethtr.recognition.recognizer import Recognizer
from drethtr.synthesis.synthetic import Synthetic

ROOT = Path(__file__).parents[3]

EACH = 20
"""Pictures of each kind, of which one may pass."""


@pytest.fixture(scope="module")
def recognizer():
    return Recognizer.load()


@pytest.fixture(scope="module")
def synthetic():
    texts = tuple(str(ROOT / "tests" / "texts" / f"{language}.txt") for language in ("en", "fr", "de"))
    synthesizer = Synthetic(fonts=str(ROOT / "tests" / "fonts"), texts=texts).build()
    return [(sample, writing.edges()) for sample, writing in (synthesizer.make(index, seed=7) for index in range(EACH))]


@pytest.fixture(scope="module")
def real():
    if not LINES.is_dir():
        pytest.skip("real lines are not there")
    return choose(clean_lines(open_all([str(LINES / "*.test.parquet")])), 5)


def refused(readings):
    """Share of readings that are flagged or empty."""
    return np.mean([bool(reading.flags) or not reading.text for reading in readings])


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_is_no_writing_is_flagged_or_left_empty(kind, recognizer):
    assert refused(recognizer.read(odd_lines(kind, EACH))) >= 0.95


@pytest.mark.parametrize("lines", ["synthetic", "real"])
def test_turned_lines_are_flagged(lines, recognizer, request):
    found = request.getfixturevalue(lines)
    upright = (
        [sample.line() for sample, _ in found] if lines == "synthetic" else [sample.line() for sample in found[::6]]
    )
    for turn in (lambda line: line[::-1, ::-1], lambda line: line[:, ::-1]):
        assert refused(recognizer.read([turn(line) for line in upright])) >= 0.9


def test_good_lines_are_hardly_flagged(recognizer, synthetic):
    assert refused(recognizer.read([sample.image for sample, _ in synthetic])) <= 0.05


def test_real_lines_are_hardly_flagged_and_confidences_hold(recognizer, real):
    readings = recognizer.read([sample.line() for sample in real])
    assert refused(readings) <= 0.06  # 2.8 % of all test lines; of so few, chance allows some more
    measured = measure_confidence([sample.text for sample in real], readings)
    assert measured.characters.ece < 0.016 and measured.words.ece < 0.085 and measured.words.auroc > 0.78


def test_characters_stand_where_they_were_written(recognizer, synthetic):
    """Half of all edges are within 6 pixels of the truth, on lines 64 pixels high."""
    readings = recognizer.read([sample.image for sample, _ in synthetic])
    distances = []
    for (sample, edges), reading in zip(synthetic, readings, strict=True):
        for block in Levenshtein.opcodes(sample.text, reading.text):
            if block.tag == "equal":
                true = edges[block.src_start : block.src_end]
                found = reading.characters[block.dest_start : block.dest_end]
                for (left, right), character in zip(true, found, strict=True):
                    distances += [abs(left - character.left), abs(right - character.right)]
    assert len(distances) > 200 and np.median(distances) <= 6


@pytest.mark.parametrize("decoder", ["ctc", "joint"])
def test_blank_paper_has_no_text(decoder):
    papers = odd_lines(blank_paper, EACH)
    for reading in Recognizer.load(decoder=decoder, threads=1).read(papers):
        assert reading.text == "" and [flag.kind for flag in reading.flags] == ["blank"]
