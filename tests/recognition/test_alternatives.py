"""What a word may be instead, by the shipped model."""

from pathlib import Path

import pytest

from drethtr import Recognizer
from drethtr.recognition.alternatives import encode_line, word_candidates
from drethtr.recognition.decoding.strategies import Greedy

SAMPLES = Path(__file__).parents[2] / "samples"


@pytest.fixture(scope="module")
def shipped():
    return Recognizer.load()


@pytest.fixture(scope="module")
def seen(shipped):
    return encode_line(shipped, shipped.open_line(SAMPLES / "000000.png"))


@pytest.fixture(scope="module")
def text():
    return (SAMPLES / "000000.gt.txt").read_text(encoding="utf-8").strip()


def test_the_right_word_comes_first_where_a_wrong_one_stands(shipped, seen, text):
    words = text.split()
    for number, word in enumerate(words):
        wrong = " ".join([*words[:number], word[::-1], *words[number + 1 :]])
        start = len(" ".join(words[:number])) + bool(number)
        found = word_candidates(shipped, seen, wrong, start, start + len(word))
        assert found[0].text == word and abs(sum(one.probability for one in found) - 1) < 1e-6


def test_a_confirmed_word_is_ranked_with_the_others(shipped, seen, text):
    first, _, _ = text.partition(" ")
    known = first + "bsolute"
    assert known not in [one.text for one in word_candidates(shipped, seen, text, 0, len(first))]
    assert known in [one.text for one in word_candidates(shipped, seen, text, 0, len(first), [known])]


@pytest.mark.parametrize("decoder", ["ctc", "joint"])
def test_a_text_too_long_for_its_line_has_no_alternatives(shipped, seen, decoder):
    """Its shares were 0 of 0, which is no number, and no JSON."""
    reader = Recognizer(shipped.model, decoder, network=shipped.network)
    assert word_candidates(reader, seen, "a b " * 500 + "end", 2000, 2003) == []


def test_a_decoder_without_ctc_offers_nothing(shipped):
    greedy = Recognizer(shipped.model, Greedy())
    assert encode_line(greedy, greedy.open_line(SAMPLES / "000000.png")) is None
