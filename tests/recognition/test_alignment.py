"""Running text on lines: facts about short texts with misread lines."""

import pytest

from drethtr.recognition.alignment import lay

READ = ["The quik brown fox jumps", "over the lazy dog and Regie-", "rung went hone.", "Cows eat gras"]
TEXT = "The quick brown fox jumps over the lazy dog and Regierung went home. Cows eat grass."


def test_each_line_gets_its_words_and_a_broken_word_its_hyphen():
    laid = lay(TEXT, READ)
    assert laid.texts == (
        "The quick brown fox jumps",
        "over the lazy dog and Regie-",
        "rung went home.",
        "Cows eat grass.",
    )
    assert laid.left == () and laid.fits


def test_a_hyphen_of_the_text_is_not_doubled():
    laid = lay(TEXT.replace("Regierung", "Regie- rung"), READ)
    assert laid.texts[1:3] == ("over the lazy dog and Regie-", "rung went home.")


def test_text_that_is_on_no_line_is_left():
    front, back = "A preface of the editor, who says a good deal.", "And a long note of the same editor, at the end."
    laid = lay(f"{front} {TEXT} {back}", READ)
    assert laid.left == (front, back)
    assert laid.texts[0] == "The quick brown fox jumps" and laid.texts[3] == "Cows eat grass."


def test_a_line_that_is_not_in_the_text_has_none():
    laid = lay("The quick brown fox jumps Cows eat grass.", READ)
    assert laid.texts == ("The quick brown fox jumps", "", "", "Cows eat grass.")


def test_every_word_is_laid_or_left_once():
    laid = lay(f"Something else first, and more of it. {TEXT} Then an end.", READ[:2] + READ[3:])
    found = [word.removesuffix("-") for part in (*laid.texts, *laid.left) for word in part.split()]
    whole = f"Something else first, and more of it. {TEXT} Then an end.".split()
    assert sorted("".join(found)) == sorted("".join(whole))


@pytest.mark.parametrize(
    "text", ["", "  \n ", "Und noch viel mehr über ganz andere Dinge, die niemand hier geschrieben hat, aber wer weiß."]
)
def test_another_text_does_not_fit(text):
    assert not lay(text, READ).fits


def test_no_lines_leave_the_whole_text():
    assert lay("some words", []).left == ("some words",)


def test_a_page_is_found_in_a_book():
    pages = [
        f"Page {n} tells how {n * 7919} sheep and {n * 104729} goats crossed the river {n * 31} times."
        for n in range(2000)
    ]
    lines = pages[1500:1504]
    laid = lay(" ".join(pages), lines)
    assert list(laid.texts) == lines and len(laid.left) == 2


def test_long_documents_are_laid_in_parts_as_well():
    lines = [f"line {n} with the number {n * 7919}" for n in range(130)]
    assert list(lay(" ".join(lines), lines).texts) == lines
