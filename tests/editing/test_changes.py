"""What a person can do with lines."""

import pytest
from edited_folders import put_page

from drethtr.base.errors import DataError
from drethtr.documents.page import TextLine
from drethtr.documents.page_file import PageFile
from drethtr.documents.transcription import PageWord, Review
from drethtr.editing import changes
from drethtr.editing.changes import LineEdit, carry_over


@pytest.fixture(params=("page", "alto"))
def file(request, tmp_path):
    return PageFile.parse(put_page(tmp_path, "a", request.param).read_bytes(), "a")


def no_outline(line, file):
    return None


def edited(file, line, **values):
    return changes.edit_line(file, line, LineEdit(**values), "p", made_here=True, outline=no_outline).file


def split(file, x, offset=None):
    y = file.line("l0").baseline[0][1]
    return changes.split_line(file, "l0", (x, y), offset, "p", made_here=True)


def merged(file, first, second):
    return changes.merge_lines(file, first, second, "p", made_here=True, outline=no_outline)


def middle(file):
    (left, _), (right, _) = file.line("l0").baseline
    return (left + right) // 2


def test_the_halves_of_a_read_line_are_to_be_read(file):
    changed = split(file, middle(file))
    first, second = map(changed.file.line, changed.lines)
    assert first.transcription is None and second.transcription is None
    assert first.baseline[-1] == second.baseline[0] == (middle(file), file.line("l0").baseline[0][1])
    assert first.box.right == second.box.left and [line.id for line in changed.file.page.lines][:2] == list(
        changed.lines
    )


def test_a_persons_text_is_split_between_words_and_none_of_it_is_lost(file):
    changed = split(edited(file, "l0", status=Review.CONFIRMED), middle(file))
    first, second = map(changed.file.line, changed.lines)
    assert f"{first.text} {second.text}" == file.line("l0").text and first.text and second.text
    assert {line.transcription.review for line in (first, second)} == {Review.CORRECTED}
    assert (*first.words, *second.words) == file.line("l0").words
    changed = split(edited(file, "l0", status=Review.CONFIRMED), middle(file), offset=3)
    assert [changed.file.line(line).text for line in changed.lines] == ["Dea", "r Sir, I have received"]


@pytest.mark.parametrize("x", [0, 10_000])
def test_a_line_is_split_between_its_ends(file, x):
    with pytest.raises(DataError, match="between its ends"):
        split(file, x)


def test_split_and_joined_is_the_same_line(file):
    confirmed = edited(file, "l0", status=Review.CONFIRMED)
    parts = split(confirmed, middle(file))
    joined = merged(parts.file, *reversed(parts.lines))
    before, after = confirmed.line("l0"), joined.file.line("l0")
    assert joined.lines == ("l0",) and [line.id for line in joined.file.page.lines] == ["l0", "l1", "l2", "l3"]
    assert (after.text, after.words, after.box) == (before.text, before.words, before.box)
    assert (after.baseline[0], after.baseline[-1]) == (before.baseline[0], before.baseline[-1])


def test_read_lines_that_are_joined_are_to_be_read(file):
    assert merged(file, "l1", "l2").file.line("l1").transcription is None
    with pytest.raises(DataError, match="itself"):
        merged(file, "l1", "l1")


def test_a_moved_baseline_of_a_read_line_is_to_be_read_and_a_persons_text_stays(file):
    place = ((10, 20), (90, 25))
    assert edited(file, "l1", baseline=place).line("l1").transcription is None
    assert edited(edited(file, "l1", text="mine"), "l1", baseline=place).line("l1").text == "mine"


def test_places_outside_the_page_move_to_its_edge(file):
    far = ((5, 0), (5, 1_000_000))
    assert edited(file, "l1", baseline=far).line("l1").baseline == ((5, 0), (5, file.page.height))
    drawn = changes.add_line(file, TextLine("", None, far), None, "p", placed=False, outline=no_outline)
    assert drawn.file.line(drawn.lines[0]).baseline == ((5, 0), (5, file.page.height))


@pytest.mark.parametrize(
    ("box", "place"),
    [((80, 10, 300, 40), 0), ((500, 62, 600, 95), 1), ((80, 240, 400, 256), 3), ((80, 330, 400, 338), 4)],
)
def test_a_drawn_line_goes_where_it_belongs(file, box, place):
    left, top, right, bottom = box
    drawn = TextLine(
        "", ((left, top), (right, top), (right, bottom), (left, bottom)), ((left, bottom - 2), (right, bottom - 2))
    )
    changed = changes.add_line(file, drawn, None, "p", placed=False, outline=no_outline)
    assert [line.id for line in changed.file.page.lines].index(changed.lines[0]) == place


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
