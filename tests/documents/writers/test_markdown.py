import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from page_examples import document_of, letter_page, pages

from drethtr.documents import FORMATS, Page, PageFlag, PageWord, Region, TextLine, Transcription
from drethtr.documents.running_text import READERS

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
MARKUP = st.text("*_`[]()<>!#&;-+=.:~|$^\\\"' 12ab", min_size=1, max_size=12)


def markdown(*given_pages):
    return FORMATS["md"].write(document_of(*given_pages)).decode()


def page_of_lines(*texts):
    lines = (TextLine(f"l{number}", transcription=text) for number, text in enumerate(texts))
    return Page("a.jpg", 800, 600, (Region("r", tuple(lines)),))


def shown(text):
    """What a reader of Markdown shows, by paragraph and line."""
    tokens = READER.parse(text)
    assert {token.type for token in tokens} <= {"html_block", "paragraph_open", "inline", "paragraph_close"}
    inline = [token.children for token in tokens if token.type == "inline"]
    assert {child.type for children in inline for child in children} <= {"text", "text_special", "hardbreak"}
    return ["".join(child.content or "\n" for child in children).split("\n") for children in inline]


def test_regions_are_paragraphs_and_lines_are_kept():
    assert shown(markdown(letter_page())) == [["Liebe Mutter, [daſs?] ich", "groß <bin> & froh"], ["Rom 1805"]]


def test_the_version_and_the_model_stand_in_a_comment():
    assert markdown(letter_page()).startswith("<!-- drethtr 1.2.3, model 0123abcd -->\n\nLiebe Mutter,")


@settings(max_examples=200)
@example(["1. a", "2) b", "- c", "# d", "=", "> e", "&amp; f", "<b>", "`g`", "[h](i)", "**j**", "k_l_", "\\"])
@given(st.lists(MARKUP, max_size=4))
def test_no_text_is_taken_for_markup(texts):
    written = markdown(page_of_lines(*map(Transcription, texts)))
    assert [line.split() for [*lines] in shown(written) for line in lines] == [t.split() for t in texts if t.strip()]


@pytest.mark.parametrize("after", ["(b)", ":b", "[b]"])
def test_a_doubtful_word_never_becomes_a_link(after):
    words = (PageWord("a", 0.1, None, True), PageWord(after, 0.1, None, True))
    line = Transcription(f"a{after}", 0.1, (words[0], PageWord(after)))
    assert shown(markdown(page_of_lines(line, line))) == [[f"[a?]{after}"] * 2]


def test_flags_follow_their_line():
    line = Transcription("a", 0.1, flags=(PageFlag("blank", "no *ink*"),))
    assert shown(markdown(page_of_lines(line))) == [["a [!blank: no *ink*]"]]


def test_several_pages_have_headings():
    written = markdown(letter_page(), letter_page())
    assert re.findall(r"^# (.*)", written, re.MULTILINE) == ["letter.jpg, page 1", "letter.jpg, page 2"]


@settings(max_examples=40)
@given(pages())
def test_the_reader_of_texts_reads_it(page):
    page = page.with_lines(lambda line: TextLine(line.id, transcription=Transcription(line.text)))
    assert READERS[".md"](markdown(page).encode(), Path("a.md")).split() == page.text.split()
