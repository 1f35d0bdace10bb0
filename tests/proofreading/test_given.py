import pytest

from drethtr.proofreading.given import UNKNOWN, GivenText, pair
from drethtr.text.tokenizer import Characters


@pytest.mark.parametrize(
    ("given", "read", "words", "gaps"),
    [
        ("the house", "the big house", ("the", "house"), ("", "big", "")),
        ("hous red", "house, red", ("house,", "red"), ("", "", "")),
        ("the big house", "the house", ("the", "", "house"), ("", "", "", "")),
        ("the house", "the house at last", ("the", "house"), ("", "", "at last")),
        ("house", "my house", ("house",), ("my", "")),
        ("", "x y", (), ("x y",)),
        ("disobey", "dis obey", ("dis obey",), ("", "")),
    ],
)
def test_a_reading_is_divided_among_words_and_gaps(given, read, words, gaps):
    assert pair(given.split(), read) == (words, gaps)


def test_words_know_their_tokens_and_gaps():
    alphabet = Characters.learn(["abc '"])
    given = GivenText.of(" ab  c’a ", alphabet)
    assert given.words == ("ab", "c’a") and given.written == ("ab", "c'a")
    assert given.spans == ((0, 2), (3, 6)) and [given.gap(n) for n in range(3)] == [(0, 0), (2, 3), (6, 6)]
    assert given.without(0) == (0, 3) and given.without(1) == (2, 6)


def test_characters_that_cannot_be_written_stay_visible():
    assert GivenText.of("aж", Characters.learn(["abc "])).written == (f"a{UNKNOWN}",)
