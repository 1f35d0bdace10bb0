"""Running text on lines: facts about short texts with misread lines."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein

from drethtr import ConfigError, DataError
from drethtr.proofreading.alignment import GAP, MAX_PAIRS, align_text, place_lines, places

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


def test_the_letters_of_a_string_are_no_lines():
    with pytest.raises(ConfigError, match=r"takes a list of readings"):
        align_text("one two", "one two")


def test_a_hyphen_of_the_text_is_not_doubled():
    aligned = align_text(TEXT.replace("Regierung", "Regie- rung"), READ)
    assert aligned.texts[1:3] == ("over the lazy dog and Regie-", "rung went home.")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Jean-Pierre est venu", ("Jean-", "Pierre est venu")),
        ("Jean-Pierre est venu", ("Jeau¬", "Pierre est veuu")),
        ("the well–known man went home", ("the well=", "known man went home")),
        ("he came at ten: it rained", ("he came at ten:", "it rained")),
    ],
)
def test_a_compound_that_is_broken_at_its_hyphen_has_one(text, read):
    assert "".join(align_text(text, read).texts) == text.replace(": ", ":")


@pytest.mark.parametrize("sign", "-¬=„")
def test_a_broken_word_ends_in_the_sign_of_its_line(sign):
    assert align_text(TEXT, [line.replace("Regie-", f"Regie{sign}") for line in READ]).texts[1].endswith(f"Regie{sign}")


def test_a_hyphen_that_the_next_line_repeats_is_kept():
    """Also behind a line without text, and in a compound that has one hyphen in the text."""
    read = ("die Hand=", "=lung u: der", "", "Kirchen-", "-Rath")
    lines = ("die Hand=", "=lung und der", "", "Kirchen-", "-Rath")
    assert align_text("die Handlung und der Kirchen-Rath", read).texts == lines
    assert align_text("die Hand= =lung und der Kirchen- -Rath", read).texts == lines


@pytest.mark.parametrize("read", [("- first of all", "- second"), ("he came", "– and went")])
def test_a_dash_between_words_is_no_repeated_hyphen(read):
    text = " ".join(read).replace("- ", "").replace("– ", "")
    assert " ".join(align_text(text, read).texts) == text


@pytest.mark.parametrize("sign", "´\ud800")
def test_an_odd_sign_stays_in_its_word(sign):
    text = f"Il croit que l{sign}an dernier les vaches"
    assert align_text(text, ["Il croit que l'an", "dernier les vaches"]).texts == (text[:17], text[18:])
    assert align_text(text, ["Il croit que l", "an dernier les vaches"]).left == ()


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


BROKEN_TEXT = """To the right honourable my very good Lord
the Lord high Treasurer of England

It may please your good Lordship to be advertised
that the bearer hereof hath been a suitor unto me
for the space of three months and more
"""
ROWS = tuple(filter(None, BROKEN_TEXT.splitlines()))
HARDLY_READ = (
    "Te he nyd lnonsable ny ry pod Eord",
    "he Lno jigh Tiesaner af Eglnd",
    "H mq plase yer god Lordslap ta bi aduurted",
    "thet he berer heef hah bn a sutar ota ma",
    "fr he spai of thee mouts e mere",
)


def test_each_line_of_the_text_is_a_line_of_the_page():
    placed = place_lines("text.txt", BROKEN_TEXT, HARDLY_READ)
    assert placed.texts == ROWS and placed.left == ()


def test_lines_that_are_read_alike_get_their_text_by_order():
    assert place_lines("text.txt", BROKEN_TEXT, [HARDLY_READ[0], *[HARDLY_READ[2]] * 3, HARDLY_READ[4]]).texts == ROWS


def test_a_false_line_gets_no_text():
    placed = place_lines("text.txt", BROKEN_TEXT, [*HARDLY_READ[:2], "12", *HARDLY_READ[2:]])
    assert placed.texts == (*ROWS[:2], "", *ROWS[2:])


@pytest.mark.parametrize("missing", range(len(ROWS)))
def test_a_line_that_is_missing_on_either_side_moves_no_other(missing):
    without = [*ROWS[:missing], *ROWS[missing + 1 :]]
    assert place_lines("", "\n".join(without), HARDLY_READ).texts == (*ROWS[:missing], "", *ROWS[missing + 1 :])
    fewer = place_lines("", BROKEN_TEXT, [*HARDLY_READ[:missing], *HARDLY_READ[missing + 1 :]])
    assert fewer.texts == tuple(without) and fewer.left == (ROWS[missing],)


def test_the_placement_is_the_cheapest_in_order():
    random = np.random.default_rng(1)
    for _ in range(200):
        rows, read = (["".join(random.choice(list("abc"), random.integers(1, 5))) for _ in range(4)] for _ in "ab")
        read = read[: random.integers(0, 5)]
        found = places(rows, read)
        assert all(first < second for first, second in pairwise(place for place in found if place is not None))
        cheapest = min(
            cost(rows, read, dict(zip(lines, chosen, strict=True)))
            for count in range(len(read) + 1)
            for lines in combinations(range(len(read)), count)
            for chosen in combinations(range(len(rows)), count)
        )
        chosen = {line: place for line, place in enumerate(found) if place is not None}
        assert cost(rows, read, chosen) == pytest.approx(cheapest, abs=1e-5)


def cost(rows, read, chosen):
    pairs = sum(Levenshtein.normalized_distance(read[line], rows[place]) for line, place in chosen.items())
    return pairs + GAP * (len(rows) + len(read) - 2 * len(chosen))


@pytest.mark.parametrize(("text", "read"), [("", HARDLY_READ), (" \n\n", HARDLY_READ), (BROKEN_TEXT, ()), ("", ())])
def test_without_text_or_lines_nothing_is_placed(text, read):
    placed = place_lines("", text, read)
    assert placed.texts == ("",) * len(read) and " ".join(placed.left) == " ".join(text.split())


def test_too_many_lines_to_compare_are_refused():
    rows = 4000
    with pytest.raises(DataError, match=r"book\.txt: 4,000 lines of text are too many"):
        place_lines("book.txt", "line\n" * rows, ["line"] * (MAX_PAIRS // rows + 1))
