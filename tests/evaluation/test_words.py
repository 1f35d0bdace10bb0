import pytest

from drethtr.evaluation.words import between_spaces, by_unicode, with_punctuation_apart


def test_three_conventions():
    text = 'Gaitskell\'s "3.5" (no.)'
    assert between_spaces(text) == ["Gaitskell's", '"3.5"', "(no.)"]
    assert with_punctuation_apart(text) == ["Gaitskell", "'", "s", '"', "3", ".", "5", '"', "(", "no", ".", ")"]
    assert by_unicode(text) == ["Gaitskell's", "3.5", "no"]


def test_only_some_signs_are_separate_words():
    """Those that the published systems split at."""
    assert with_punctuation_apart("5°—«a’b» – $3 d'or") == ["5", "°", "—", "«a’b»", "–", "$3", "d", "'", "or"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("l'été, 1,5 et 1 , 5", ["l'été", "1,5", "et", "1", "5"]),
        ("a_b _ a.b. x:y 3a", ["a_b", "a.b", "x:y", "3a"]),
        ("u\u0308ber Ö\u0308\u2019s", ["u\u0308ber", "Ö\u0308\u2019s"]),
        ("мир, λόγος!", ["мир", "λόγος"]),
        ("中文 ab", ["中", "文", "ab"]),
        ("— … ! ?", []),
        ("Mr. & Mrs.", ["Mr", "Mrs"]),
        ("vier-\u00adzig Ⅳ 2²", ["vier", "zig", "Ⅳ", "2", "²"]),
        ("½ a\ue000b \ue001 ③½", ["½", "a\ue000b", "\ue001", "③", "½"]),
    ],
)
def test_unicode_words(text, words):
    """As the segmenter of ICU and the package uniseg cut them, and dinglehopper keeps them."""
    assert [word.strip("\u00ad") for word in by_unicode(text)] == words
