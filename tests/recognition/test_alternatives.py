"""What a word may be instead, by the shipped model."""

from dataclasses import replace
from pathlib import Path

import pytest

from drethtr import Recognizer
from drethtr.language.languages import NO_LANGUAGE
from drethtr.recognition import alternatives
from drethtr.recognition.alternatives import encode_line, word_candidates
from drethtr.recognition.decoding.strategies import Greedy, Joint

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


@pytest.fixture
def trees(shipped, monkeypatch):
    """How many nodes each tree has that the decoder scores."""
    score, nodes = shipped.network.score_trees, []

    def counted(memory, trees):
        nodes.extend(len(tree.tokens) for tree in trees)
        assert max(nodes) <= alternatives.MAX_NODES
        return score(memory, trees)

    monkeypatch.setattr(shipped.network, "score_trees", counted)
    return nodes


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


@pytest.mark.parametrize("word", ["e\u0301tait", "жили"], ids=["decomposed", "outside the alphabet"])
def test_words_that_are_given_keep_their_spelling(shipped, seen, text, word):
    """One was offered as its own alternative, of another only the letters that the model knows."""
    first, _, rest = text.partition(" ")
    for standing, known in ((word, []), (first, [word])):
        found = word_candidates(shipped, seen, f"{standing} {rest}", 0, len(standing), known)
        assert {standing, *known} <= {one.text for one in found}


@pytest.mark.parametrize("start", [0, 2004], ids=["first word", "last word"])
@pytest.mark.parametrize("decoder", ["ctc", "joint"])
def test_a_text_too_long_for_its_line_has_no_alternatives(shipped, seen, trees, decoder, start):
    """Its shares were 0 of 0, which is no number, and no JSON; its trees took tens of gigabytes."""
    reader = Recognizer(shipped.model, decoder, network=shipped.network)
    assert word_candidates(reader, seen, "end " + "a b " * 500 + "end", start, start + 3) == [] == trees


def test_trees_have_a_largest_size_that_changes_nothing(shipped, seen, text, trees, monkeypatch):
    reader = Recognizer(shipped.model, "joint", network=shipped.network)
    together = word_candidates(reader, seen, text, 0, len(text.split()[0]))
    assert max(trees) > 256
    trees.clear()
    monkeypatch.setattr(alternatives, "MAX_NODES", 256)
    assert word_candidates(reader, seen, text, 0, len(text.split()[0])) == [
        (word, pytest.approx(probability, abs=1e-5)) for word, probability in together
    ]
    assert trees


def test_without_a_language_model_the_decoder_is_asked_what_is_likely(shipped, seen, text):
    model = replace(shipped.model, languages=NO_LANGUAGE, rescorer=None)
    deaf = Recognizer(model, Joint(language_weight=0.0))
    told = Recognizer(model, Joint(language_weight=0.5), network=deaf.network)
    one, other = (word_candidates(reader, seen, text, 0, len(text.split()[0])) for reader in (deaf, told))
    assert one != other


def test_decoders_other_than_ctc_and_joint_offer_nothing(shipped):
    greedy = Recognizer(shipped.model, Greedy())
    assert encode_line(greedy, greedy.open_line(SAMPLES / "000000.png")) is None
