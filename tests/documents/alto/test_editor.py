"""A word of ALTO that nobody changes stays as its program wrote it, with its hyphenation."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_examples import PROVENANCE

from drethtr.documents.page_file import PageFile
from drethtr.documents.transcription import PageWord, Review, Transcription
from drethtr.documents.update import update
from drethtr.editing.changes import LineEdit, edit_line

DEER = '<String ID="s1" HPOS="11" VPOS="10" WIDTH="90" HEIGHT="41" CONTENT="Deer" WC="0.9" CC="0 0 0 0"/>'
WHIT = """<String HPOS='111' ID="s2" VPOS="10" WIDTH="90" HEIGHT="41" CONTENT="Whit" SUBS_TYPE="HypPart1"
      SUBS_CONTENT="Whitby" WC="0.80" CC="1 2 0 4"><ALTERNATIVE>Whil</ALTERNATIVE></String>"""
SPACE, HYPHEN = '<SP WIDTH="10" HPOS="101" VPOS="10"/>', '<HYP CONTENT="-" WIDTH="4"/>'
LINE = (DEER, SPACE, WHIT, HYPHEN)


ROW = "\n      "


def file_of(*parts, **options):
    text = f"""<?xml version="1.0" encoding="UTF-8"?>
<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#">
  <Description><MeasurementUnit>pixel</MeasurementUnit></Description>
  <Tags><OtherTag ID="d" LABEL="doubtful"/></Tags>
  <Layout><Page ID="p" PHYSICAL_IMG_NR="1" WIDTH="1240" HEIGHT="1500"><PrintSpace><TextBlock ID="b">
    <TextLine ID="l" HPOS="10" VPOS="10" WIDTH="500" HEIGHT="40" BASELINE="10,40 500,40">
      {ROW.join(parts)}
    </TextLine>
  </TextBlock></PrintSpace></Page></Layout>
</alto>
"""
    return PageFile.parse(text.encode(), "a", **options)


def edited(file, text, status=None):
    return edit_line(file, "l", LineEdit(text=text, status=status), lambda line, file: None).file


def content(file):
    element = file.element("l")
    return file.markup.utf8[element.inside : element.inside_end].decode().strip()


@pytest.mark.parametrize("image", [None, (Path("a.png"), 310, 375), (Path("a.png"), 1239, 1499)])
def test_when_a_word_is_corrected_the_others_stay_byte_for_byte(image):
    """Their hyphenation was lost, and their further readings; places moved with a smaller image."""
    file = file_of(*LINE, image=image)
    changed = edited(file, "Dear Whit-")
    first, rest = content(changed).split("/>", 1)
    assert first.startswith('<String ID="s1" CONTENT="Dear" ') and "WC" not in first and "CC" not in first
    assert rest == content(file).split("/>", 1)[1]
    assert changed.line("l").text == "Dear Whit-" and changed.line("l").words[1] == file.line("l").words[1]


def test_what_is_put_back_is_read_as_before():
    file = file_of(*LINE)
    again = edited(edited(file, "Dear Whit-"), "Deer Whit-").line("l")
    assert again.text == file.line("l").text and again.words[1] == file.line("l").words[1]


@pytest.mark.parametrize("text", ["Deer Wit-", "Deer Whit", "Deer", "Deer Whit- by", "Whit- Deer", "Whitby", ""])
def test_a_hyphenation_goes_with_its_word_and_with_the_end_of_the_line(text):
    changed = edited(file_of(*LINE), text)
    assert changed.line("l").text == text and [word.text for word in changed.line("l").words] == text.split()
    assert not re.search("SUBS_|HYP|ALTERNATIVE", content(changed))
    assert (DEER in content(changed)) == ("Deer" in text.split())


@pytest.mark.parametrize("text", ["Whit-", "my Deer Whit-", "Deer of Whit-", "Deer Sir of Whit-"])
def test_a_hyphenated_word_stays_while_words_before_it_come_and_go(text):
    changed = edited(file_of(*LINE), text)
    assert changed.line("l").text == text
    assert content(changed).endswith(WHIT + ROW + HYPHEN)


def test_the_rest_of_a_hyphenated_word_stays():
    rest = '<String CONTENT="by" SUBS_TYPE="HypPart2" SUBS_CONTENT="Whitby"/>'
    assert content(edited(file_of(rest, "<SP/>", '<String CONTENT="tbe"/>'), "by the")).startswith(rest)


def test_a_hyphen_in_the_word_and_in_its_own_element_stays_in_both():
    parts = ('<String CONTENT="tbe"/>', "<SP/>", '<String CONTENT="Whit-" SUBS_TYPE="HypPart1"/>', HYPHEN)
    changed = edited(file_of(*parts), "the Whit-")
    assert content(changed).endswith(ROW.join(parts[1:])) and changed.line("l").text == "the Whit-"


def test_doubts_of_words_that_stay_go_with_a_confirmation_alone():
    doubtful = '<String CONTENT="of" TAGREFS="x d" WC="0.30"/>'
    file = file_of(DEER, doubtful, '<String CONTENT="York" TAGREFS="d"/>')
    assert doubtful in content(edited(file, "Dear of York"))
    confirmed = edited(file, "Dear of York", Review.CONFIRMED)
    assert '<String CONTENT="of" TAGREFS="x" WC="0.30"/>' in content(confirmed)
    assert '<String CONTENT="York"/>' in content(confirmed)


def test_a_line_whose_text_is_removed_keeps_an_empty_string_as_the_schema_wants():
    file = file_of(*LINE)
    removed = file.with_line(replace(file.line("l"), transcription=None))
    assert content(removed) == '<String CONTENT="" />' and removed.line("l").transcription is None


def test_a_new_reading_of_the_same_text_leaves_the_hyphenation_alone():
    file = file_of(*LINE)
    [line] = file.page.lines
    words = tuple(PageWord(word.text, 0.5, word.polygon) for word in line.words)
    read = file.page.with_lines(lambda line: replace(line, transcription=Transcription(line.text, None, words)))
    changed = PageFile.parse(update(file.data, read, PROVENANCE, replace=True), "a")
    assert changed.line("l").words == words
    last = content(changed).splitlines()[-2].strip()
    assert 'CONTENT="Whit"' in last and 'SUBS_TYPE="HypPart1" SUBS_CONTENT="Whitby"' in last and 'WC="0.5000"' in last
    assert content(changed).endswith(HYPHEN) and not re.search("CC=|ALTERNATIVE", content(changed))


WORDS = st.lists(st.sampled_from(["a", "a-", "b", "c", "d-"]), max_size=5)


@given(WORDS, WORDS, st.sampled_from(["", "<SP/>"]), st.booleans(), st.booleans())
def test_any_text_is_read_as_it_was_written(before, after, space, hyphenated, empty):
    strings = [f'<String ID="s{number}" CONTENT="{word}"/>' for number, word in enumerate(before)]
    parts = [part for string in strings for part in ((string, '<String CONTENT=""/>') if empty else (string,))]
    file = file_of(space.join(parts), *(["<Odd/>", HYPHEN] if hyphenated and before else []))
    changed = edited(file, " ".join(after))
    assert changed.line("l").text == " ".join(after) and content(changed).count("<Odd/>") == content(file).count(
        "<Odd/>"
    )
    assert len(re.findall('ID="', content(changed))) == len(set(re.findall(r'ID="\w+"', content(changed))))
