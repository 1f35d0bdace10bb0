"""Verdicts from evidence, with a fit that takes the first feature of a word or gap as its log-odds."""

import numpy as np
import pytest

from drethtr.proofreading.check import WeighedText, judge_text
from drethtr.proofreading.evidence import GAP_FEATURES, WORD_FEATURES, ReadText, TextEvidence
from drethtr.proofreading.fit import LINE_FEATURES, SupportFit
from drethtr.proofreading.given import UNKNOWN, GivenText, Pairing
from drethtr.proofreading.verdict import Kind
from drethtr.recognition.confidence.logistic import Logistic
from drethtr.recognition.confidence.record import SupportWeights

SURE, UNSURE = 5.0, -5.0


def first_of(features):
    return Logistic(0.0, (1.0,) + (0.0,) * (features - 1))


FIT = SupportFit(SupportWeights(first_of(2 * WORD_FEATURES), first_of(2 * GAP_FEATURES), first_of(LINE_FEATURES)))


def weighed(words, gaps, read, between, written=None):
    """A text of `one two three` with the log-odds of its words and gaps, and with what was read for and between them.

    An image token is 10 pixels wide; word n takes tokens 2n and 2n + 1, and the line ends in the last one.
    """
    texts = ("one", "two", "three")
    given = GivenText(texts, written or texts, (), ())
    evidence = TextEvidence(
        given,
        ReadText("", ()),
        Pairing(tuple(read), tuple(between)),
        np.array([[odds] + [0] * (WORD_FEATURES - 1) for odds in words], float),
        np.array([[odds] + [0] * (GAP_FEATURES - 1) for odds in gaps], float),
        tuple((2.0 * n, 2.0 * n + 2) for n in range(3)),
        tuple((2.0 * n, 2.0 * n + 1) for n in range(4)),
    )
    return WeighedText(given, evidence.read, evidence, width=55, scale=10.0)


def verdicts(*args, **kwargs):
    return judge_text(weighed(*args, **kwargs), FIT).words


READ, NOTHING = ("one", "two", "three"), ("", "", "", "")
ALL_SURE = (SURE,) * 4


def test_what_is_read_and_likely_is_supported():
    words = verdicts((SURE,) * 3, ALL_SURE, READ, NOTHING)
    assert [word.text for word in words] == list(READ) and {word.kind for word in words} == {Kind.SUPPORTED}
    assert [(word.left, word.right) for word in words] == [(0, 20), (20, 40), (40, 55)], "no edge is beyond the line"


@pytest.mark.parametrize(
    ("read", "written", "kind", "instead", "reason"),
    [
        ("too", None, Kind.UNSUPPORTED, "too", "the image reads 'too'"),
        ("two", None, Kind.UNSUPPORTED, "", "the image reads the same"),
        ("", None, Kind.INVENTED, "", "no ink for this word"),
        (
            "two",
            ("one", f"tw{UNKNOWN}", "three"),
            Kind.UNSUPPORTED,
            "two",
            "outside the model's alphabet; the image reads",
        ),
    ],
)
def test_an_unlikely_word_is_doubtful_for_a_reason(read, written, kind, instead, reason):
    words = verdicts((SURE, UNSURE, SURE), ALL_SURE, ("one", read, "three"), NOTHING, written)
    assert [word.doubtful for word in words] == [False, True, False]
    assert (words[1].kind, words[1].instead) == (kind, instead) and reason in words[1].reason


def test_ink_that_the_text_leaves_out_is_an_omission_even_if_nothing_was_read_there():
    """Between sure words nothing else explains it."""
    words = verdicts((SURE,) * 3, (SURE, SURE, UNSURE, SURE), READ, NOTHING)
    assert [word.text for word in words] == ["one", "two", "", "three"]
    omitted = words[2]
    assert (omitted.kind, omitted.instead, omitted.left, omitted.right) == (Kind.OMITTED, "", 40, 50)
    assert "ink here that the text does not account for" in omitted.reason


@pytest.mark.parametrize("gap", [1, 2])
def test_ink_beside_a_doubtful_word_is_its_own(gap):
    gaps = [SURE] * 4
    gaps[gap] = UNSURE
    words = verdicts((SURE, UNSURE, SURE), gaps, ("one", "too", "three"), NOTHING)
    assert [word.text for word in words] == ["one", "two", "three"]


@pytest.mark.parametrize("gap", [1, 2])
def test_a_word_that_was_read_apart_is_an_omission_beside_a_doubtful_word_too(gap):
    gaps, between = [SURE] * 4, [""] * 4
    gaps[gap], between[gap] = UNSURE, "and"
    words = verdicts((SURE, UNSURE, SURE), gaps, READ, between)
    assert [word.instead for word in words if word.kind is Kind.OMITTED] == ["and"]


def test_ink_beside_an_omission_is_its_own():
    words = verdicts((SURE,) * 3, (SURE, UNSURE, UNSURE, SURE), READ, ("", "and", "", ""))
    assert [word.text or word.instead for word in words] == ["one", "and", "two", "three"]


def test_a_text_without_evidence_is_unsupported():
    [given] = {weighed((SURE,) * 3, ALL_SURE, READ, NOTHING).given}
    check = judge_text(WeighedText(given, ReadText("read", ()), None, 55, 10.0, "the line is too long"), FIT)
    assert check.probability == 0 and check.reading == "read" and len(check.words) == 3
    for word in check.words:
        assert (word.kind, word.left, word.right, word.reason) == (Kind.UNSUPPORTED, 0, 55, "the line is too long")


def test_a_line_is_as_likely_as_its_least_likely_word_or_gap():
    assert judge_text(weighed((SURE, 1.0, SURE), ALL_SURE, READ, NOTHING), FIT).probability == pytest.approx(
        1 / (1 + np.exp(-1.0))
    )
