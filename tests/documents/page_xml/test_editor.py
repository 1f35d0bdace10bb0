"""What people wrote on the words of a PAGE line, and its other texts, stay when a word is corrected."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_examples import PROVENANCE

from drethtr.documents.page_file import PageFile
from drethtr.documents.page_xml.reader import NAMESPACES
from drethtr.documents.transcription import PageWord, Review, Transcription
from drethtr.documents.update import update
from drethtr.editing.changes import LineEdit, edit_line

GLYPH = '<Glyph id="g"><Coords points="0,0 9,0 9,9"/><TextEquiv><Unicode>D</Unicode></TextEquiv></Glyph>'
STYLE = "<TextStyle bold='true' fontFamily=\"Fraktur\"/>"
OTHER = '<TextEquiv index="1" dataType="other" dataTypeDetails="normalised"><Unicode>Der Mann</Unicode></TextEquiv>'
ROW = "\n        "


def text(content, attributes=""):
    return f"<TextEquiv{attributes}><Unicode>{content}</Unicode></TextEquiv>"


def word(id, content, left, attributes=' language="German" comments="sic"'):
    place = f'<Coords points="{left},10 {left + 90},10 {left + 90},60 {left},60"/>'
    further = text("Ter", ' index="1"')
    return f'<Word id="{id}"{attributes}>{place}{GLYPH}{text(content)}{further}{STYLE}</Word>'


DER, MAN, KAM = word("w1", "Der", 10), word("w2", "Man", 110), word("w3", "kam", 210)


def file_of(*parts, **options):
    return PageFile.parse(
        f"""<?xml version="1.0" encoding="UTF-8"?>
<PcGts xmlns="{NAMESPACES[-1]}">
  <Page imageFilename="a.png" imageWidth="1240" imageHeight="1500">
    <TextRegion id="r"><Coords points="10,10 900,10 900,200 10,200"/>
      <TextLine id="l">
        {ROW.join(['<Coords points="10,10 900,10 900,60 10,60"/>', *parts, STYLE])}
      </TextLine>
    </TextRegion>
  </Page>
</PcGts>
""".encode(),
        "a",
        **options,
    )


def edited(file, content, status=None):
    return edit_line(file, "l", LineEdit(text=content, status=status), lambda line, file: None).file


def words_of(file):
    return re.findall(r"<Word .*?</Word>", file.data.decode(), re.DOTALL)


@pytest.mark.parametrize("status", [None, Review.CONFIRMED])
@pytest.mark.parametrize("image", [None, (Path("a.png"), 310, 375), (Path("a.png"), 1239, 1499)])
def test_when_a_word_is_corrected_all_else_stays_byte_for_byte(image, status):
    """Languages, comments, letters and styles of all words went, and the texts of other people."""
    file = file_of(DER, MAN, KAM, text("Der Man kam", ' index="0"'), OTHER, image=image)
    changed = edited(file, "Der Mann kam", status)
    found = changed.data.decode()
    assert changed.line("l").text == "Der Mann kam"
    assert ROW + DER in found and ROW + KAM in found and ROW + OTHER + ROW + STYLE in found
    assert [one.text for one in changed.line("l").words] == ["Der", "Mann", "kam"]
    assert '<Coords points="110,10 200,10 200,60 110,60"/>' in words_of(changed)[1]


def test_a_corrected_word_keeps_its_attributes_and_styles():
    [_, changed, _] = words_of(edited(file_of(DER, MAN, KAM, text("Der Man kam")), "Der Mann kam"))
    assert changed.startswith('<Word id="w2" language="German" comments="sic"><Coords points="110,10 ')
    assert changed.endswith(f"{STYLE}</Word>") and changed.count("<TextEquiv>") == 1
    assert "Mann" in changed and "Glyph" not in changed and "Ter" not in changed


@pytest.mark.parametrize(
    ("content", "stay", "count"),
    [("Man kam", [MAN, KAM], 2), ("Der Man", [DER, MAN], 2), ("Der alte Man kam", [DER, MAN, KAM], 4), ("", [], 0)],
)
def test_words_come_and_go_between_those_that_stay(content, stay, count):
    changed = edited(file_of(DER, MAN, KAM, text("Der Man kam")), content)
    found = words_of(changed)
    assert changed.line("l").text == content and [one.text for one in changed.line("l").words] == content.split()
    assert len(found) == count and [one for one in found if "sic" in one] == stay


@pytest.mark.parametrize("numbers", [(0, 1, 2), (1, 2, 3)])
@pytest.mark.parametrize("content", ["Der Mann kam", "Der alte Man kam", "kam", "so kam Der Man"])
def test_words_are_read_in_their_order_wherever_they_stand_in_the_file(numbers, content):
    words = [
        word(f"w{number}", one, 10 + 100 * number, f' custom="readingOrder {{index:{number};}} abbrev {{offset:0;}}"')
        for number, one in zip(numbers, ("Der", "Man", "kam"), strict=True)
    ]
    changed = edited(file_of(words[2], words[0], words[1], text("Der Man kam")), content)
    assert [one.text for one in changed.line("l").words] == content.split()
    if content == "Der Mann kam":
        assert words[0] in changed.data.decode() and words[2] in changed.data.decode()


INDEXES = st.sampled_from(["", ' index="0"', ' index="1"', ' index="2"', ' index="x"'])
WORDS = st.lists(st.sampled_from("abcd"), max_size=4)


@given(st.lists(st.tuples(INDEXES, st.sampled_from(["a b", "c", ""])), min_size=1, max_size=3), WORDS)
def test_of_texts_that_compete_the_new_one_is_read_and_the_others_stay(texts, words):
    others = [text(content, f'{index} comments="{place}"') for place, (index, content) in enumerate(texts)]
    file, content = file_of(*others), " ".join(words)
    changed = edited(file, content, Review.CORRECTED)
    assert changed.line("l").text == content
    if content and content != file.line("l").text:
        assert sum(one in changed.data.decode() for one in others) == len(others) - 1


@given(WORDS, WORDS)
def test_any_text_is_read_as_it_was_written(before, after):
    words = [word(f"w{place}", one, 10 + 100 * place) for place, one in enumerate(before)]
    changed = edited(file_of(*words, text(" ".join(before))), " ".join(after))
    assert changed.line("l").text == " ".join(after)
    if before:
        assert [one.text for one in changed.line("l").words] == after
    ids = re.findall(r'<Word id="(\w+)"', changed.data.decode())
    assert len(ids) == len(set(ids))


def test_a_new_reading_leaves_the_texts_of_others_and_the_attributes_of_words():
    file = file_of(DER, MAN, text("Der Man", ' conf="0.3" index="0"'), OTHER)
    [line] = file.page.lines
    words = tuple(PageWord(one.text, 0.5, one.polygon, doubtful=True) for one in line.words)
    read = file.page.with_lines(lambda line: replace(line, transcription=Transcription(line.text, 0.5, words)))
    changed = PageFile.parse(update(file.data, read, PROVENANCE, replace=True), "a")
    assert changed.line("l").words == words and changed.line("l").transcription.confidence == 0.5
    assert OTHER in changed.data.decode() and changed.data.decode().count('language="German" comments="sic"') == 2
    assert "Glyph" not in changed.data.decode()


def test_a_place_behind_the_words_leaves_their_order():
    coords = '<Coords points="10,10 900,10 900,60 10,60"/>'
    in_order = file_of(DER, KAM, text("Der kam")).data.decode()
    file = PageFile.parse(in_order.replace(coords, "", 1).replace(KAM, KAM + coords).encode(), "a")
    assert [one.text for one in edited(file, "so Der kam").line("l").words] == ["so", "Der", "kam"]


def test_a_word_without_a_place_gets_that_of_its_reading():
    file = file_of(f'<Word id="w1" language="German">{text("Der")}</Word>', text("Der"))
    words = (PageWord("Der", 0.5, ((10, 10), (90, 10), (90, 60))),)
    read = file.page.with_lines(lambda line: replace(line, transcription=Transcription("Der", 0.5, words)))
    changed = PageFile.parse(update(file.data, read, PROVENANCE, replace=True), "a")
    assert changed.line("l").words == words and '<Word id="w1" language="German">' in changed.data.decode()
