"""Lines that stand elsewhere in the text than on the page."""

import pytest

from drethtr.proofreading.alignment import align_text, place_lines
from drethtr.proofreading.moved import with_moved

LINES = (
    "The quick brown fox jumps",
    "over the lazy dog in the yard,",
    "while the cows eat their grass",
    "and nobody looks at the clock.",
    "Six hours later it was night.",
)


def of(order, between=" "):
    return between.join(LINES[number] for number in order)


@pytest.mark.parametrize("order", [(0, 2, 1, 3, 4), (4, 0, 1, 2, 3), (1, 2, 3, 4, 0), (0, 3, 1, 2, 4)])
@pytest.mark.parametrize("aligned", [align_text, lambda text, read: place_lines("", text, read)])
def test_a_line_gets_its_text_wherever_that_stands(order, aligned):
    read = [line.replace("o", "a", 1) for line in LINES]
    first = aligned(of(order, "\n"), read)
    found = with_moved(first)
    assert "" in first.texts and first.left
    assert found.texts == LINES and found.left == ()


def test_what_stands_around_a_moved_line_is_left():
    text = f"A note of the editor. {LINES[4]} Another one, longer. {of(range(4))}"
    found = with_moved(align_text(text, LINES))
    assert found.texts == LINES
    assert found.between == ("A note of the editor. Another one, longer.", "", "", "", "", "")


def test_a_line_gets_no_text_that_is_not_like_it():
    text = f"{of((0, 1, 2))} and everybody looks at something else, which was not clear."
    aligned = align_text(text, [*LINES[:3], "Six hours later it was night."])
    assert with_moved(aligned) == aligned


def test_a_page_of_another_text_gets_nothing_of_it_and_the_rest_is_left_once():
    german = ["Ein ganz anderes Blatt aus", "einem Buch, das niemand kennt"]
    text = of((0, 2, 1, 3, 4))
    found = with_moved(align_text(text, [*LINES, *german])).without_other_pages([len(LINES), len(german)])
    assert found.texts == (*LINES, "", "") and found.left == ()
