import numpy as np
import pytest

from drethtr.recognition.confidence.checks import (
    Blank,
    Disagreement,
    Observation,
    OutOfAlphabet,
    OutOfDistribution,
    Repetition,
    Truncated,
    Uncovered,
)
from drethtr.recognition.confidence.logistic import Logistic
from drethtr.recognition.confidence.record import ALWAYS, CalibrationRecord
from drethtr.recognition.reading import Character

WIDTH, HEIGHT = 600, 60


def observed(
    text="some words on a line", *, inked=(20, 580), draft=None, ended=True, look=(0.0,), places=None, lost=()
):
    """A line of 600 columns with ink from one to another, the text spread evenly over `places`."""
    columns = np.zeros(WIDTH, dtype=bool)
    columns[slice(*inked)] = True
    left, right = places or inked
    edges = np.linspace(left, right, len(text) + 1)
    characters = tuple(Character(c, 0.9, a, b) for c, a, b in zip(text, edges[:-1], edges[1:], strict=True))
    return Observation(HEIGHT, columns, characters, lost, draft, ended, np.array(look))


@pytest.mark.parametrize("check", [Blank(), *ALWAYS], ids=repr)
def test_a_good_line_is_not_flagged(check):
    assert check(observed()) is None
    assert check(observed(draft="some words on a lime")) is None


def test_a_line_without_ink_is_blank():
    assert Blank()(observed("", inked=(0, 0))).reason == "there is almost no ink on this line"
    flag = Blank()(observed(inked=(10, 13)))
    assert "but text was read" in flag.reason and (flag.left, flag.right) == (0, WIDTH)


@pytest.mark.parametrize("text", ["and the the the the the", "ababababababab", "oooooooooooooooh"])
def test_the_same_again_and_again_is_a_repetition(text):
    flag = Repetition()(observed(text))
    assert "times" in flag.reason and 20 <= flag.left < flag.right <= 580


WRITTEN = ["total ............ 3.50", "1000000000000 fl.", "ha ha ha", "banana, bananas", ""]
LITTLE_OR_LETTERLESS = ["aaaa", "abababab", "." * 30, "no no no", "1234 1234 1234 1234"]


@pytest.mark.parametrize("text", WRITTEN + LITTLE_OR_LETTERLESS)
def test_ordinary_text_is_no_repetition(text):
    assert Repetition()(observed(text)) is None


def test_a_repetition_is_where_it_stands():
    text = "good words, then no no no no no no"
    flag = Repetition()(observed(text, inked=(0, 340)))
    assert flag.left == pytest.approx(10 * text.index(" no"), abs=10) and flag.right == pytest.approx(340, abs=10)


def test_ink_behind_the_text_is_uncovered():
    flag = Uncovered()(observed(inked=(20, 580), places=(20, 300)))
    assert "no character explains" in flag.reason
    assert 300 < flag.left < 360 and flag.right == 580


def test_ink_between_two_words_is_uncovered():
    seen = observed("ab" + 30 * " " + "cd")
    flag = Uncovered()(seen)
    assert seen.characters[1].right < flag.left < flag.right < seen.characters[-2].left


def test_wide_spaces_without_ink_are_fine():
    seen = observed("ab" + 30 * " " + "cd")
    seen.inked[60:540] = False
    assert Uncovered()(seen) is None


def test_ink_without_any_text_is_uncovered():
    assert Uncovered()(observed("")) is not None
    assert Uncovered()(observed("", inked=(0, 0))) is None


@pytest.mark.parametrize(("columns", "flagged"), [(HEIGHT, False), (HEIGHT + 1, True)])
def test_more_ink_than_the_line_is_high_needs_a_character(columns, flagged):
    assert (Uncovered()(observed("", inked=(100, 100 + columns))) is not None) is flagged


@pytest.mark.parametrize(("other", "flagged"), [(10, False), (11, True)])
def test_a_third_of_the_characters_may_differ_from_the_draft(other, flagged):
    seen = observed("a" * (30 - other) + "b" * other, draft="a" * 30)
    assert (Disagreement()(seen) is not None) is flagged


def test_a_decoder_that_leaves_the_image_is_doubted():
    flag = Disagreement()(observed("the same old story", draft="some words on a line"))
    assert "some words on a line" in flag.reason and "characters differ" in flag.reason
    assert Disagreement()(observed("", draft="some words")) is not None
    assert Disagreement()(observed("", draft="")) is None


@pytest.mark.parametrize("text", ["....a" * 4, "aaaab" * 4, "lll" + "llel" * 4, "and the " * 4, "e" * 12])
def test_a_run_within_a_unit_hides_no_repetition(text):
    assert Repetition()(observed(text)) is not None


def test_a_text_without_end_is_truncated():
    assert "20 characters" in Truncated()(observed(ended=False)).reason


def test_what_cannot_be_written_is_told_where_it_stands():
    one, two = (OutOfAlphabet()(observed(lost=places)) for places in ([(40.0, 52.0)], [(40.0, 52.0), (90.0, 99.0)]))
    assert one.reason == "a character that is not in the model's alphabet: left out"
    assert two.reason == "2 characters, here the first, that are not in the model's alphabet: left out"
    assert (one.left, one.right) == (two.left, two.right) == (40, 52)


def test_all_doubts_are_told_but_a_blank_line_is_only_blank():
    record = CalibrationRecord((), OutOfDistribution(Logistic(0.0, (2.0,)), least=1.0))
    odd = observed("no no no no no no", ended=False)
    assert [flag.kind for flag in record.flags(odd)] == ["repetition", "truncated", "unlike-training"]
    assert [flag.kind for flag in CalibrationRecord().flags(odd)] == ["repetition", "truncated"]
    assert [flag.kind for flag in record.flags(odd._replace(inked=0 * odd.inked))] == ["blank"]


def test_unlike_training_is_a_matter_of_score():
    check = OutOfDistribution(Logistic(0.0, (2.0,)), least=1.0)
    assert check(observed(look=(0.6,))) is None
    assert check(observed(look=(0.4,))).kind == "unlike-training"
