from dataclasses import replace
from pathlib import Path

import pytest
from page_examples import letter_page, line_of, with_texts

from drethtr.base.errors import DataError
from drethtr.documents import Box, Page, PageWord, Region, TextLine, Transcription


def test_lines_are_changed_and_nothing_else():
    page = letter_page()
    new = with_texts(page, {"l2": Transcription("neu", 0.5)})
    assert [line.text for line in new.lines] == ["Liebe Mutter, daſs ich", "neu", "Rom 1805"]
    assert (new.lines[0], new.lines[2]) == (page.lines[0], page.lines[2])
    assert new.lines[1].polygon == page.lines[1].polygon and new.lines[1].confidence == 0.5
    assert [replace(region, lines=()) for region in new.regions] == [replace(r, lines=()) for r in page.regions]
    assert page.lines[1].text == "groß <bin> & froh"


@pytest.mark.parametrize("regions", [(Region("a"), Region("a")), (Region("a", (TextLine("x"), TextLine("x"))),)])
def test_ids_are_unique(regions):
    with pytest.raises(DataError, match="share the id"):
        Page("p.jpg", 1, 1, regions)


def test_a_page_says_in_short_what_it_is():
    page = Page("a.png", 30, 40, (Region("r", (TextLine("l"),)),))
    assert repr(page) == "<Page: a.png, 30 x 40 pixels, 1 line>"


def test_page_text_leaves_out_unread_lines():
    lines = (line_of("eins"), TextLine("l2"), TextLine("l3", transcription=Transcription("")))
    assert Page("p.jpg", 9, 9, (Region("r", lines),)).text == "eins\n\n"


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (("Der", "alte", "Mann"), True),
        (("Der", "alte Mann"), True),
        (("Der", "Mann"), False),
        (("Der", "alte", "Mnn"), False),
        ((), True),
    ],
)
def test_words_are_all_of_the_text_or_none(words, kept):
    """What writes words would else lose text."""
    given = tuple(map(PageWord, words))
    assert Transcription("Der alte Mann", None, given).words == (given if kept else ())


def test_a_page_whose_image_was_scaled_names_that_one():
    page = Page("scan.tif", 200, 100)
    assert page.on_image(Path("scan.jpg"), 100, 50) == Page("scan.jpg", 100, 50)
    assert page.on_image(Path("scan.jpg"), 200, 100) is page


def test_boxes_come_from_what_is_known():
    word = PageWord("a", polygon=((3, 4), (8, 2), (5, 9)))
    assert word.box == Box(3, 2, 8, 9)
    assert TextLine("l").box is None
    assert TextLine("l", baseline=((1, 5), (9, 5)), transcription=Transcription("a", None, (word,))).box == word.box
    assert Region("r", (TextLine("l", baseline=((1, 5), (9, 5))),)).box == Box(1, 5, 9, 5)


def test_a_resized_page_comes_back():
    page = letter_page()
    double = page.resized(1600, 1200)
    assert double.lines[0].words[0].box == Box(100, 100, 300, 180)
    assert double.lines[0].baseline == ((100, 160), (980, 160))
    assert double.resized(800, 600) == page


def test_a_page_of_unknown_size_takes_the_size_of_its_image():
    page = Page("p.jpg", 0, 0, (Region("r", (line_of("eins"),)),))
    assert page.resized(800, 600) == Page("p.jpg", 800, 600, page.regions)


def test_what_was_off_a_page_of_unknown_size_is_at_its_edge():
    far = TextLine("l", ((0, 0), (10**6, 0), (10**6, 10**6)), ((0, 5), (10**6, 5)))
    [line] = Page("p.jpg", 0, 0, (Region("r", (far,)),)).resized(800, 600).lines
    assert line == TextLine("l", ((0, 0), (800, 0), (800, 600)), ((0, 5), (800, 5)))
