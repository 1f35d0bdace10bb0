"""Which differences between a text and the ink conventions excuse."""

from pathlib import Path

import pytest

from drethtr import Recognizer
from drethtr.base.errors import ConfigError
from drethtr.images.line import load_line
from drethtr.proofreading.check import CheckedWord, Kind
from drethtr.proofreading.evidence import ReadText
from drethtr.proofreading.rules import (
    Rules,
    abbreviations,
    conventions_named,
    excused_pairs,
    explained,
    punctuation,
    spelling,
)

SAMPLES = Path(__file__).parents[2] / "samples"
ALL = Rules(allowed=conventions_named("spelling,abbreviations,punctuation"))


def word(text, instead, kind=Kind.UNSUPPORTED):
    return CheckedWord(text, 0.1, kind, instead, 0, 1)


@pytest.mark.parametrize(
    ("given", "read", "excused"),
    [
        ("avait", "avoit", True),
        ("avait", "aurait", False),
        ("avoit", "av oit", False),
        ("Herr", "H err", False),
        ("–", "", True),
        ("", ",", True),
        ("maison", "", False),
        ("कि,", "कि", True),
        ("कि", "की", False),
        ("", "maison", False),
    ],
)
def test_conventions_excuse_one_word_for_another(given, read, excused):
    """Several words instead of one are not a matter of spelling, whatever their letters are."""
    assert ALL.excuses(word(given, read)) is excused
    assert not Rules().excuses(word(given, read))


def test_what_is_supported_needs_no_excuse():
    assert not ALL.excuses(word("avait", "avoit", Kind.SUPPORTED))


@pytest.mark.parametrize("least", [-0.1, 1.5])
def test_a_threshold_that_is_no_probability_is_refused(least):
    with pytest.raises(ConfigError, match=str(least)):
        Rules(least)


@pytest.fixture(scope="module")
def recognizer():
    return Recognizer.load(decoder="ctc", threads=1)


def checked(recognizer, rules, text):
    """The check of a text of the second sample line."""
    line = load_line(SAMPLES / "000001.png")
    [read] = recognizer.read_lines([line])
    return rules.check(recognizer, [line], [text], [ReadText.of(read)])[0]


def test_an_excused_word_keeps_its_text_with_the_verdict_on_the_reading(recognizer):
    right = (SAMPLES / "000001.gt.txt").read_text(encoding="utf-8").strip()
    text = right.replace("route", "rovtte").replace("coupée", "chauffée")
    strict, lenient = (checked(recognizer, rules, text) for rules in (Rules(), ALL))
    assert {"rovtte", "chauffée"} <= {word.text for word in strict.doubts}
    assert "chauffée" in {word.text for word in lenient.doubts}
    [excused] = [word for word in lenient.words if word.text == "rovtte"]
    assert excused.kind is Kind.SUPPORTED and not excused.reason
    assert [word.text for word in lenient.words if word.text] == text.split()


def test_a_mark_that_the_ink_lacks_is_excused(recognizer):
    right = (SAMPLES / "000001.gt.txt").read_text(encoding="utf-8").strip()
    text = right.replace(" est ", " — est ")
    [mark] = [word for word in checked(recognizer, Rules(), text).words if word.text == "—"]
    assert mark.doubtful
    [mark] = [word for word in checked(recognizer, ALL, text).words if word.text == "—"]
    assert not mark.doubtful and not mark.reason


@pytest.mark.parametrize(
    ("convention", "text", "read"),
    [
        (punctuation, "maison,", "maison"),
        (punctuation, "«oui»", '"oui"'),
        (punctuation, "Regie-", "Regie="),
        (spelling, "avait", "avoit"),
        (spelling, "etait", "étoit"),
        (spelling, "daß", "dass"),
        (spelling, "Jahr", "iahr"),
        (spelling, "hat", "hath"),
        (spelling, "uns", "vnſ"),
        (abbreviations, "Monsieur", "M^r"),
        (abbreviations, "Monsieur", "Mr"),
        (abbreviations, "und", "&"),
        (abbreviations, "dicto", "do."),
    ],
)
def test_differences_of_a_convention_are_explained(convention, text, read):
    assert convention(text, read)


@pytest.mark.parametrize(
    ("text", "read"), [("Martin", "Durand"), ("1842", "1843"), ("not", "now"), ("1842", "12."), ("maison", "raison")]
)
def test_errors_are_not(text, read):
    assert not explained(text, read, conventions_named("spelling,abbreviations,punctuation"))


def test_conventions_work_together():
    assert explained("«avait»", "avoit.", conventions_named("spelling, punctuation"))
    assert not explained("«avait»", "avoit.", conventions_named("spelling"))


def test_pairs_of_words_that_are_alike_in_two_texts():
    allowed = conventions_named("spelling,punctuation")
    assert excused_pairs("il avait – dit un mot", "il avoit dict vn mot,", allowed) == [
        ("avait", "avoit"),
        ("un", "vn"),
        ("mot", "mot,"),
        ("–", ""),
    ]
    assert excused_pairs("il avait", "il avoit", ()) == []


def test_an_unknown_convention_is_refused():
    with pytest.raises(ConfigError, match="did you mean 'spelling'"):
        conventions_named("speling")
