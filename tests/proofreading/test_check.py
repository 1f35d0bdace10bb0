"""`check_text` with the shipped model, on the lines in `samples`."""

from pathlib import Path

import numpy as np
import pytest

from drethtr import ConfigError, DataError, Recognizer, check_text
from drethtr.proofreading.check import Kind, WeighedText, check_lines, judge_text
from drethtr.proofreading.evidence import GAP_FEATURES, WORD_FEATURES, ReadText, TextEvidence
from drethtr.proofreading.fit import LINE_FEATURES, SupportFit
from drethtr.proofreading.given import UNKNOWN, GivenText, Pairing
from drethtr.recognition.confidence.logistic import Logistic
from drethtr.recognition.confidence.record import SupportWeights

SAMPLES = Path(__file__).parents[2] / "samples"
LINE = SAMPLES / "000003.png"
TEXT = (SAMPLES / "000003.gt.txt").read_text(encoding="utf-8").strip()


@pytest.fixture(scope="module")
def recognizer():
    return Recognizer.load(threads=1)


def test_a_right_text_is_supported(recognizer):
    checked = check_text(recognizer, LINE, TEXT)
    assert [word.text for word in checked.words] == TEXT.split()
    assert not checked.doubts and checked.probability > 0.5


def test_another_word_is_unsupported_where_it_stands(recognizer):
    words = TEXT.split()
    checked = check_text(recognizer, LINE, " ".join([words[0], "Zwiebel", *words[2:]]))
    wrong = checked.doubts[0]
    assert (wrong.text, wrong.kind, wrong.instead) == ("Zwiebel", Kind.UNSUPPORTED, words[1])
    right = check_text(recognizer, LINE, TEXT).words[1]
    assert abs(wrong.left - right.left) < 20 and abs(wrong.right - right.right) < 20


def test_an_inserted_and_an_omitted_word_are_found(recognizer):
    words = TEXT.split()
    [invented, *_] = check_text(recognizer, LINE, " ".join([*words[:2], "notwithstanding", *words[2:]])).doubts
    assert (invented.text, invented.kind) == ("notwithstanding", Kind.INVENTED)
    [omitted, *_] = check_text(recognizer, LINE, " ".join([words[0], *words[2:]])).doubts
    assert (omitted.text, omitted.kind, omitted.instead) == ("", Kind.OMITTED, words[1])


def test_an_empty_text_omits_all_that_is_written(recognizer):
    [everything] = check_text(recognizer, LINE, " ").words
    assert everything.kind is Kind.OMITTED and everything.instead == TEXT


@pytest.mark.parametrize("text", ["Привет мир", "word " * 2000])
def test_nothing_of_an_impossible_text_is_supported(recognizer, text):
    checked = check_text(recognizer, LINE, text)
    assert all(word.doubtful for word in checked.words) and checked.probability < 0.1


def test_every_word_on_blank_paper_is_invented(recognizer):
    """Also frequent ones, which the language of the model expects; that nothing is written there is right."""
    ruled = np.full((60, 600), 255, np.uint8)
    ruled[48:50] = 120
    checked = check_text(recognizer, ruled, "the year 1905")
    assert [(word.text, word.kind, word.probability) for word in checked.words] == [
        (word, Kind.INVENTED, 0) for word in ("the", "year", "1905")
    ]
    assert checked.probability == 0 and checked.reading == ""
    nothing = check_text(recognizer, ruled, "")
    assert not nothing.words and nothing.probability > 0.9


def test_texts_do_not_depend_on_the_lines_beside_them(recognizer):
    lines = [recognizer.open_line(SAMPLES / f"00000{n}.png") for n in (1, 2, 3)]
    together = check_lines(recognizer, lines, ["some text", "another", TEXT])
    assert together[2] == check_text(recognizer, LINE, TEXT)


def test_a_page_is_not_checked_as_one_line(recognizer):
    with pytest.raises(DataError, match="is a page, not a line"):
        check_text(recognizer, np.full((300, 900), 255, np.uint8), "abc")


def test_a_model_without_ctc_head_says_so(headless_model):
    with pytest.raises(ConfigError, match="no CTC head"):
        check_text(Recognizer(headless_model), LINE, "abc")


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
