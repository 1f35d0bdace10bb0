"""Where a query is on a line, and what is shown of it: the text of the line, which its ink need not say."""

import pytest

from drethtr.recognition.posteriors import Posteriors
from drethtr.search.automaton import automaton_of
from drethtr.search.locate import Location, locate
from drethtr.search.query import Spelling, pattern_of

FOLDED = Spelling()
LETTER = 10
"""Width of a letter in pixels."""


def found(query: str, text: str, ink: str, *, over: bool = False) -> Location:
    """A query on a line with a text, whose ink says something surely."""
    lefts = [float(LETTER * place) for place in range(len(ink))]
    automaton = automaton_of(pattern_of(query, FOLDED), FOLDED)
    return locate(Posteriors.certain(ink, lefts, 1.0), text, LETTER * len(ink), automaton, over=over)


@pytest.mark.parametrize(
    ("query", "text", "ink", "snippet"),
    [
        ("stanford", "loved Mrs. Stanford so", "laved Mirs. Stanford so", "loved Mrs. [Stanford] so"),
        ("stanford", "loved Mrs. Stanfard so", "laved Mirs. Stanford so", "loved Mrs. [Stanford] so"),
        ("stan", "Mrs. Stanford so", "Mirs. Stan so", "Mrs. [Stan] so"),
        ("ford", "Mrs. Stanford so", "Mirs. ford so", "Mrs. [ford] so"),
        ("dear sir", "Dear. Six, he said", "Dear Sir he said", "[Dear Sir], he said"),
        ("deár*", "a Dearest", "a darest", "a [Dearest]"),
        ("the", "", "the", "[the]"),
    ],
)
def test_the_text_is_shown_and_only_the_match_is_as_the_ink_may_be_read(query, text, ink, snippet):
    assert found(query, text, ink).snippet == snippet


def test_the_box_is_around_the_word_in_brackets():
    text, ink = "the man and tbe dog", "the mam and the dog"
    assert found("the", text, ink)[::2] == (0.0, "[the] man and tbe dog")
    left, right, shown = found("man", text, ink)
    assert (left, right) == pytest.approx((4 * LETTER, 7 * LETTER), abs=LETTER) and shown.startswith("the [man]")
    left, right, shown = found("dog", text, "the man and the day")
    assert shown.endswith("[dog]") and left == pytest.approx(16 * LETTER, abs=LETTER), "no reading has it"
    assert right == pytest.approx(19 * LETTER, abs=LETTER)


def test_a_word_that_is_nowhere_has_the_whole_line():
    assert found("cat", "the man", "the mam") == (0.0, 7.0 * LETTER, "the man")


def test_a_word_over_a_line_break_is_shown_up_to_it():
    assert found("treasure", "the tréa-", "the trca-", over=True).snippet == "the [tréa]-"
    assert found("treasure", "the trca-", "the trea-", over=True).snippet == "the [trea]-"
    assert found("treasure", "a treasure", "a trea-", over=True).snippet == "a [treasure]"
