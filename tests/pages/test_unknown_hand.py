"""When a page is said to be in a hand that the model does not know."""

from dataclasses import replace

import pytest
from page_examples import document_of, letter_page

from drethtr.documents.json import read_json, write_json
from drethtr.documents.page import TextLine
from drethtr.documents.transcription import Review, Transcription
from drethtr.pages.flags import doubt_in, has_unknown_hand, page_flags
from drethtr.recognition.confidence.error_rate import ErrorRate
from drethtr.recognition.decoding.strategies import CTC

RATE = ErrorRate(CTC(), factor=1.0, spread=0.1, noise=2.0, sets=10)


def lines_of(number, confidence, text="a line of ink", review=None):
    return [
        TextLine(f"l{place}", transcription=Transcription(text, confidence, review=review)) for place in range(number)
    ]


def test_ten_lines_with_every_fourth_character_wrong_are_of_an_unknown_hand():
    [flag] = page_flags(lines_of(10, 0.75), RATE)
    assert flag.kind == "unknown-hand" and flag.reason.startswith("about 25 % of the characters are probably wrong")


@pytest.mark.parametrize(
    "lines",
    [
        lines_of(10, 0.85),
        lines_of(9, 0.1),
        lines_of(30, 0.1, text=""),
        lines_of(30, None),
        [*lines_of(9, 0.1), *lines_of(9, 0.1, review=Review.CONFIRMED)],
    ],
    ids=["sure", "few", "empty", "without confidences", "few that nobody confirmed"],
)
def test_it_is_not_said_of_other_lines(lines):
    assert page_flags(lines, RATE) == ()


def test_it_is_not_said_by_a_model_that_does_not_know_its_errors():
    assert page_flags(lines_of(10, 0.1), None) == ()


def test_doubt_is_that_of_all_characters_together():
    assert doubt_in([*lines_of(1, 0.5, "abcd"), *lines_of(1, 0.75, "abcdefgh"), *lines_of(1, 1.0, "")]) == (4, 12, 3, 1)


def test_json_says_it_of_the_page():
    page = replace(letter_page(), flags=page_flags(lines_of(10, 0.1), RATE))
    read = read_json(write_json(document_of(page)), "x")
    assert read == page and has_unknown_hand(read) and not has_unknown_hand(letter_page())
