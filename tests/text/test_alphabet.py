import pytest

from drethtr.base.errors import ConfigError
from drethtr.paper.byte_pairs import BytePairs
from drethtr.text.alphabet import AlphabetChange, relative
from drethtr.text.tokenizer import Characters

LETTERS = Characters.learn(["abcdefghijklmnopqrstuvwxyz'- "])


@pytest.mark.parametrize(
    ("new", "like"),
    [("ő", "o"), ("ø", "o"), ("ł", "l"), ("ꝑ", "p"), ("ſ", "s"), ("’", "'"), ("—", "-"), ("É", "e"), ("ª", "a")],
)
def test_a_new_character_looks_like_its_base_letter(new, like):
    assert relative(new, LETTERS.characters) == like


def test_the_same_case_is_nearer_than_the_other():
    assert relative("É", "eE") == "E"


@pytest.mark.parametrize("new", ["⁊", "字", "\u0303", "ß", "th"])
def test_a_character_may_have_no_look_alike(new):
    assert relative(new, LETTERS.characters) is None


def test_new_characters_are_counted_and_rare_ones_stay_out():
    change = AlphabetChange.between(LETTERS, ["ő a ő", "⁊ ő ꝑꝑ"], minimum=2)
    assert change.added == {"ő": 3, "ꝑ": 2} and list(change.added) == ["ő", "ꝑ"]
    assert change.rare == {"⁊": 1} and change.dropped == ""
    assert change.tokenizer == Characters("".join(sorted(LETTERS.characters + "őꝑ")))
    assert change.origin("ő") == "o" and change.origin("⁊") is None


def test_a_combining_sign_is_new_whatever_letters_come_before_it():
    for text in ("numquam ideo q\u0304 p\u0304ter", "q\u0304 p\u0304ter numquam ideo"):
        change = AlphabetChange.between(LETTERS, [text])
        assert change.added == {"\u0304": 2} and not change.rare


def test_new_characters_do_not_begin_as_one_another():
    assert AlphabetChange.between(Characters("a"), ["éÉ"]).origin("É") is None


def test_nothing_new_changes_nothing():
    change = AlphabetChange.between(LETTERS, ["abc"])
    assert change.tokenizer is LETTERS and not change.added and not change.rare


def test_unused_characters_are_dropped_on_request():
    change = AlphabetChange.between(Characters("abc"), ["a", "ac"], drop_unused=True)
    assert change.dropped == "b" and change.tokenizer == Characters("ac")


def test_validation_texts_keep_characters_but_add_none():
    change = AlphabetChange.between(Characters("abc"), ["a"], ["bő"], drop_unused=True)
    assert change.dropped == "c" and change.tokenizer == Characters("ab")


def test_an_alphabet_that_may_not_change_leaves_the_new_unknown():
    change = AlphabetChange.between(LETTERS, ["őő"], change=False)
    assert change.tokenizer is LETTERS and change.rare == {"ő": 2}
    assert AlphabetChange.between(LETTERS, ["őő"], drop_unused=True, change=False) == change


def test_word_pieces_keep_their_alphabet():
    pieces = BytePairs(("a", "b", "ab"), (("a", "b"),))
    assert AlphabetChange.between(pieces, ["abba"]).tokenizer is pieces
    with pytest.raises(ConfigError, match="only an alphabet of single characters"):
        AlphabetChange.between(pieces, ["abc"])
