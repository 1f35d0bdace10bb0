"""Tags of people move with the text that they mark."""

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from drethtr.documents.page_file import PageFile
from drethtr.documents.page_xml.custom import Moved, Passage, moved, names_of, passage_of, without_tags
from drethtr.documents.page_xml.reader import NAMESPACES
from drethtr.documents.transcription import PageWord, Review, Tag, Transcription
from drethtr.editing.changes import LineEdit, edit_line

WORDS = st.lists(st.text("abcdeé", min_size=1, max_size=6), min_size=1, max_size=8, unique=True)


def tag(start, length, name="person"):
    return f"{name} {{offset:{start}; length:{length};}}"


def marked(custom, text):
    """What each tag marks."""
    passages = [passage_of(entry) for entry in re.findall(r"\S+ \{[^}]*\}", custom)]
    return [text[passage.start : passage.end] for passage in passages if passage]


@pytest.mark.parametrize(
    ("old", "new", "before", "after"),
    [
        ("Witby, 4 March", "Whitby, 4 March", ["Witby", "4 March"], ["Whitby", "4 March"]),
        ("Whitby, 4 March 190", "Whitby, 4 March 1905", ["4 March 190"], ["4 March 1905"]),
        ("hitby", "Whitby", ["hitby"], ["Whitby"]),
        ("Whitby", "Whitby, 4 March", ["Whitby"], ["Whitby"]),
        ("to Mary and Ann", "to John and Ann", ["Mary", "Ann"], ["John", "Ann"]),
        ("dear Mary Ann", "dear Mary", ["Mary Ann"], ["Mary"]),
        ("the the the", "the the", ["the the the"], ["the the"]),
        (" Whitby", "Whitby", ["Whitby"], ["Whitby"]),
        ("a\u0301 b", "á b", ["b"], ["b"]),
    ],
)
def test_what_is_marked_stays_marked(old, new, before, after):
    custom = " ".join(tag(old.index(part), len(part)) for part in before)
    found = moved(custom, old, new)
    assert (marked(found.custom, new), found.lost) == (after, ())


def test_a_tag_is_lost_only_with_its_whole_text_and_is_named():
    custom = "readingOrder {index:1;} " + tag(0, 5) + " " + tag(6, 4, "place")
    assert moved(custom, "Witby York", " York".strip()) == Moved(
        "readingOrder {index:1;} " + tag(0, 4, "place"), (tag(0, 5),)
    )


def test_a_gap_has_no_length_and_is_never_lost():
    assert moved("gap {offset:3; length:0; continued:false;}", "La route", "Las route").custom == (
        "gap {offset:4; length:0; continued:false;}"
    )


def test_all_else_of_an_entry_stays_as_it_is():
    custom = "person { length : 5 ;offset:0;  firstname:Anne\\u0020M;continued:true}   x{y:1;}"
    assert moved(custom, "Annee said", "Anne said").custom == custom.replace(": 5", ": 4")
    assert moved(custom, "same", "same") == Moved(custom)


@pytest.mark.parametrize("custom", ["", "no entry", "a {", "} {offset:1;}", "a {offset:;}", "a {offset:99; length:3;}"])
def test_what_marks_nothing_stays(custom):
    assert moved(custom, "old text", "new text") == Moved(custom)


def test_entries_are_found_and_removed_by_name():
    custom = f"readingOrder {{index:0;}} {tag(0, 3, 'unclear')} {tag(4, 3, 'unclear')}"
    assert names_of(custom) == {"readingOrder", "unclear"}
    assert without_tags(custom, "unclear", [Passage(4, 3)]) == f"readingOrder {{index:0;}} {tag(0, 3, 'unclear')}"
    assert without_tags(custom, "unclear") == "readingOrder {index:0;}"


NAME = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
OTHERS = st.text("abcde ", max_size=11).map(str.strip)


@settings(max_examples=300)
@given(OTHERS, OTHERS, OTHERS, OTHERS)
def test_a_tag_on_a_word_that_stays_marks_it_whatever_happens_around_it(before, after, new_before, new_after):
    """The word is longer than all the rest, so that no comparison of the two texts can miss it."""
    old, new = f"{before} {NAME} {after}", f"{new_before} {NAME} {new_after}"
    assert marked(moved(tag(old.index(NAME), len(NAME)), old, new).custom, new) == [NAME]


@settings(max_examples=300)
@given(st.text("abc ", max_size=12), st.text("abc ", max_size=12), st.integers(0, 12), st.integers(0, 12))
def test_tags_stay_within_the_text_or_are_named_as_lost(old, new, start, length):
    assume(start + length <= len(old))
    found = moved(tag(start, length), old, new)
    passage = passage_of(found.custom)
    assert (passage is None) == bool(found.lost)
    if passage is not None:
        assert 0 <= passage.start <= passage.end <= len(new)
        assert not length or old == new or new[passage.start : passage.end].strip()


@settings(max_examples=200)
@given(WORDS, WORDS, WORDS, st.integers(0, 3))
def test_a_tag_moves_by_what_is_written_before_it(before, middle, after, more):
    """Letters of other words may equal those of the text, so that only prefixes and suffixes are changed here."""
    old = " ".join([*before, *middle, *after])
    start, length = len(" ".join(before)) + 1, len(" ".join(middle))
    new = "X" * more + " " + old + " " + "Y" * more
    assert moved(tag(start, length), old, new).custom == tag(start + more + 1, length)


def page_file(custom, text, words=""):
    return PageFile.parse(
        f'<PcGts xmlns="{NAMESPACES[-1]}"><Metadata/><Page imageFilename="a.png" imageWidth="90" imageHeight="9">'
        f'<TextRegion id="r"><Coords points="0,0 9,0 9,9"/><TextLine id="l" custom="{custom}">'
        f'<Coords points="0,0 9,0 9,9"/>{words}<TextEquiv><Unicode>{text}</Unicode></TextEquiv></TextLine></TextRegion>'
        "</Page></PcGts>".encode(),
        "a",
    )


def word(id, text, place, custom=""):
    coords = f'<Coords points="{place},0 {place + 9},0 {place + 9},9 {place},9"/>'
    return (
        f'<Word id="{id}" custom="{custom}">{coords}<TextEquiv conf="0.5"><Unicode>{text}</Unicode></TextEquiv></Word>'
    )


def corrected(file, text=None, status=None):
    return edit_line(file, "l", LineEdit(text, status), lambda line, file: None)


def test_a_corrected_letter_keeps_the_tags_of_the_line():
    custom = f"readingOrder {{index:0;}} {tag(0, 5, 'place')} {tag(7, 12, 'date')}"
    changed = corrected(page_file(custom, "Witby, 4 March 1905"), "Whitby, 4 March 1905")
    after = f"readingOrder {{index:0;}} {tag(0, 6, 'place')} {tag(8, 12, 'date')} drethtr {{review:corrected;}}"
    assert f'custom="{after}"' in changed.file.data.decode()
    assert [note.action for note in changed.notes] == ["text"]


def test_the_history_names_the_tags_of_deleted_words():
    changed = corrected(page_file(tag(0, 5, "place"), "Witby today"), "today")
    assert [(note.action, note.old) for note in changed.notes] == [
        ("text", "Witby today"),
        ("tags", tag(0, 5, "place")),
    ]


def test_words_keep_their_ids_and_tags():
    words = word("w7", "Anne", 0, "readingOrder {index:0;} person {offset:0; length:4;}") + word("w9", "sayd", 10)
    changed = corrected(page_file("", "Anne sayd", words), "Anne said").file.data.decode()
    assert 'id="w7" custom="readingOrder {index:0;} person {offset:0; length:4;}"' in changed
    assert 'id="w9"' in changed


KEPT = "readingOrder {index:0;} gap {offset:3; length:0;} date {length:4; offset:6;  when:1905; continued:true;}"


@pytest.mark.parametrize("space", ["", "  "])
def test_another_tag_leaves_the_tags_of_a_line_as_they_are_written(space):
    custom = f"{KEPT} {tag(0, 5, 'place')}"
    file = page_file(moved(custom, "Witby 1905", f"{space}Witby 1905").custom, f"{space}Witby 1905")
    place, person = Tag("place", 0, 5), Tag("person", 0, 5)
    [gap, date, _] = file.line("l").transcription.tags
    more = file.with_tags("l", [date, place, person])
    assert [gap, date, place, person] == list(more.line("l").transcription.tags)
    assert moved(KEPT, "Witby 1905", f"{space}Witby 1905").custom in more.data.decode()
    assert more.with_tags("l", [person]).line("l").transcription.tags == (gap, person)


DOUBTED = "readingOrder {index:0;} " + tag(0, 4, "unclear")


def test_doubts_of_drethtr_go_with_the_confirmation_and_those_of_people_stay():
    """drethtr marks a doubtful word at the line and at the word, people at the line."""
    words = word("w1", "Anne", 0, DOUBTED) + word("w2", "said", 10)
    file = page_file(f"{tag(0, 4, 'unclear')} {tag(5, 4, 'unclear')}", "Anne said", words)
    changed = corrected(file, status=Review.CONFIRMED).file
    assert f'"{tag(5, 4, "unclear")} drethtr {{review:confirmed;}}"' in changed.data.decode()
    assert changed.data.decode().count("unclear") == 1
    assert not any(word.doubtful for word in changed.line("l").words)


def test_a_corrected_word_is_no_longer_doubtful():
    words = word("w1", "Ane", 0, DOUBTED) + word("w2", "sayd", 10, "unclear {offset:0; length:4;}")
    file = page_file(f"{tag(0, 3, 'unclear')} {tag(4, 4, 'unclear')}", "Ane sayd", words)
    changed = corrected(file, "Anne sayd").file
    assert f'custom="{tag(5, 4, "unclear")} drethtr' in changed.data.decode()
    assert [word.doubtful for word in changed.line("l").words] == [False, True]


def test_a_confirmed_text_is_settled():
    words = (PageWord("a", 0.1, doubtful=True),)
    read = Transcription("a", 0.1, words, review=Review.CORRECTED)
    assert read.settled is read
    assert Transcription("a", 0.1, words, review=Review.CONFIRMED).settled == Transcription(
        "a", words=(PageWord("a"),), review=Review.CONFIRMED
    )
