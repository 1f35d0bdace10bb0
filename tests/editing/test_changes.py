"""What a person can do with a line."""

from dataclasses import replace

import pytest
from edited_folders import page_of, put_page, scan
from page_examples import document_of

from drethtr.documents.formats import FORMATS
from drethtr.documents.page_file import PageFile
from drethtr.documents.transcription import PageWord, Review, Transcription
from drethtr.editing.changes import LineEdit, carry_over, edit_line


@pytest.fixture(params=("page", "alto"))
def file(request, tmp_path):
    return PageFile.parse(put_page(tmp_path, "a", request.param).read_bytes(), "a")


def no_outline(line, file):
    return None


def edited(file, line, **values):
    return edit_line(file, line, LineEdit(**values), no_outline).file


def test_a_moved_baseline_of_a_read_line_is_to_be_read_and_a_persons_text_stays(file):
    place = ((10, 20), (90, 25))
    assert edited(file, "l1", baseline=place).line("l1").transcription is None
    assert edited(edited(file, "l1", text="mine"), "l1", baseline=place).line("l1").text == "mine"


@pytest.mark.parametrize("format", ["page", "alto"])
def test_a_corrected_line_with_a_doubtful_word_is_confirmed_in_one_edit(format):
    page = page_of("a.png", scan()).with_lines(doubted)
    before = PageFile.parse(FORMATS[format].write(document_of(page)), "a")
    assert all(word.doubtful for line in before.page.lines for word in line.words)
    after = edited(before, "l1", text="mine", status=Review.CONFIRMED).line("l1")
    assert (after.text, after.review, [word.doubtful for word in after.words]) == ("mine", Review.CONFIRMED, [False])


@pytest.mark.parametrize("format", ["page", "alto"])
def test_the_doubts_of_a_line_that_is_to_be_read_again_are_no_tags_of_its_next_text(format):
    page = page_of("a.png", scan()).with_lines(doubted)
    before = PageFile.parse(FORMATS[format].write(document_of(page)), "a")
    moved = edited(before, "l1", baseline=((10, 20), (90, 25)))
    assert moved.line("l1").transcription is None
    read = moved.with_line(replace(moved.line("l1"), transcription=Transcription("again", 0.9)))
    assert read.line("l1").tags == () and read.line("l0").transcription == before.line("l0").transcription


def doubted(line):
    words = tuple(replace(word, doubtful=True) for word in line.words)
    return replace(line, transcription=replace(line.transcription, words=words))


def test_places_outside_the_page_move_to_its_edge(file):
    far = ((5, 0), (5, 1_000_000))
    assert edited(file, "l1", baseline=far).line("l1").baseline == ((5, 0), (5, file.page.height))


def word(text, left, right, confidence=0.5):
    return PageWord(text, confidence, ((left, 0), (right, 0), (right, 10), (left, 10)))


OLD = (word("one", 0, 30), word("two", 40, 70), word("six", 80, 110))


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("one two six", [(0, 30), (40, 70), (80, 110)]),
        ("one too six", [(0, 30), (40, 70), (80, 110)]),
        ("one six", [(0, 30), (80, 110)]),
        ("one t wo six", [(0, 30), (40, 47), (55, 70), (80, 110)]),
        ("one two and six", [(0, 30), (40, 70), (70, 80), (80, 110)]),
        ("one two six seven", [(0, 30), (40, 70), (80, 110), (110, 120)]),
        ("onetwo six", [(0, 70), (80, 110)]),
        ("", []),
    ],
)
def test_places_of_words_are_carried_over(text, places):
    words = carry_over(OLD, text)
    assert [word.text for word in words] == text.split()
    assert [(word.box.left, word.box.right) for word in words] == places
    assert all((word in OLD) == (word.confidence is not None) for word in words)


def test_without_places_changed_words_get_none():
    kept = word("b", 0, 9)
    assert carry_over((PageWord("a"), kept), "c b") == (PageWord("c"), kept)
