"""Running text on lines: facts about short texts with misread lines."""

import pytest

from drethtr.proofreading.alignment import align_text

READ = ["The quik brown fox jumps", "over the lazy dog and Regie-", "rung went hone.", "Cows eat gras"]
TEXT = "The quick brown fox jumps over the lazy dog and Regierung went home. Cows eat grass."


def test_each_line_gets_its_words_and_a_broken_word_its_hyphen():
    aligned = align_text(TEXT, READ)
    assert aligned.texts == (
        "The quick brown fox jumps",
        "over the lazy dog and Regie-",
        "rung went home.",
        "Cows eat grass.",
    )
    assert aligned.left == () and aligned.fits


def test_a_hyphen_of_the_text_is_not_doubled():
    aligned = align_text(TEXT.replace("Regierung", "Regie- rung"), READ)
    assert aligned.texts[1:3] == ("over the lazy dog and Regie-", "rung went home.")


def test_text_that_is_on_no_line_is_left():
    front, back = "A preface of the editor, who says a good deal.", "And a long note of the same editor, at the end."
    aligned = align_text(f"{front} {TEXT} {back}", READ)
    assert aligned.left == (front, back)
    assert aligned.texts[0] == "The quick brown fox jumps" and aligned.texts[3] == "Cows eat grass."


def test_a_line_that_is_not_in_the_text_has_none():
    aligned = align_text("The quick brown fox jumps Cows eat grass.", READ)
    assert aligned.texts == ("The quick brown fox jumps", "", "", "Cows eat grass.")


def test_every_word_is_aligned_or_left_once():
    aligned = align_text(f"Something else first, and more of it. {TEXT} Then an end.", READ[:2] + READ[3:])
    found = [word.removesuffix("-") for part in (*aligned.texts, *aligned.left) for word in part.split()]
    whole = f"Something else first, and more of it. {TEXT} Then an end.".split()
    assert sorted("".join(found)) == sorted("".join(whole))


@pytest.mark.parametrize(
    "text", ["", "  \n ", "Und noch viel mehr über ganz andere Dinge, die niemand hier geschrieben hat, aber wer weiß."]
)
def test_another_text_does_not_fit(text):
    assert not align_text(text, READ).fits


def test_a_page_of_another_text_gets_none_of_it():
    german = ["Ein ganz anderes Blatt aus", "einem Buch, das niemand kennt"]
    note = "And a long note of the same editor, about other things."
    aligned = align_text(f"{TEXT} {note}", READ + german)
    assert any(aligned.texts[4:])
    apart = aligned.without_other_pages([4, 2])
    assert apart.texts == (*aligned.texts[:4], "", "") and apart.left == (note,)
    assert align_text(f"{note} {TEXT}", german + READ).without_other_pages([2, 4]).left == (note,)


def test_no_lines_leave_the_whole_text():
    assert align_text("some words", []).left == ("some words",)


def test_a_page_is_found_in_a_book():
    pages = [
        f"Page {n} tells how {n * 7919} sheep and {n * 104729} goats crossed the river {n * 31} times."
        for n in range(2000)
    ]
    lines = pages[1500:1504]
    aligned = align_text(" ".join(pages), lines)
    assert list(aligned.texts) == lines and len(aligned.left) == 2


def test_long_documents_are_aligned_in_parts_as_well():
    lines = [f"line {n} with the number {n * 7919}" for n in range(130)]
    assert list(align_text(" ".join(lines), lines).texts) == lines
