"""What of Markdown is text, and what of text would be Markdown: signs that only say how to show it are no words."""

import re
from pathlib import Path

import pytest
from growth import grows_evenly
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from page_examples import document_of, letter_page, pages

from drethtr.documents import FORMATS, PageFlag, PageWord
from drethtr.documents.markdown import without_markup, write_markdown
from drethtr.documents.page import Page, Region, TextLine
from drethtr.documents.running_text import READERS
from drethtr.documents.transcription import Transcription


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("# The *first* letter #\n\nDear\n====\n\nSir\n---", "The first letter Dear Sir"),
        ("---\ntitle: Letters\ntags:\n- one\n---\nDear sir", "Dear sir"),
        ("---\n\nDear sir\n\n---\n\nYours", "Dear sir Yours"),
        ("* one\n+ two\n- three\n1. four", "one two three 1. four"),
        ("> > Dear\n>sir", "Dear sir"),
        ("| No. | name |\n|---:|:---|\n| 12 | Paul |", "No. name 12 Paul"),
        ("**very *old* man**, ***all***, __so__, _yes_, ~~gone~~", "very old man, all, so, yes, gone"),
        ("5 * 3 and a_b_c and 3 < 4", "5 * 3 and a_b_c and 3 < 4"),
        ('see [this](http://x.y "z") and [that][1]\n\n[1]: http://x.y', "see this and that"),
        ("the seal ![drawing](seal.png) here[^1]\n\n[^1]: An editor's note.", "the seal here"),
        ("M<sup>r</sup> Paul<br>and &amp; &lt; \\*", "Mr Paul and & < *"),
        ("one\\\ntwo <!-- no\nword --> three", "one two three"),
    ],
)
def test_signs_are_not_words(content, words):
    assert without_markup(content).split() == words.split()


@given(st.lists(st.text(st.sampled_from("ab 1.)-+*_#>=:|~`<&;[]()!\\$^"), max_size=20), min_size=1, max_size=3))
def test_what_we_write_reads_as_it_was(texts):
    lines = tuple(TextLine(f"l{n}", transcription=Transcription(text.strip())) for n, text in enumerate(texts))
    written = write_markdown(document_of(Page("a.png", 10, 10, (Region("r", lines),))))
    assert without_markup(written.decode()).split() == " ".join(texts).split()


@pytest.mark.parametrize(
    "sign", ["*a ", "_a ", "`", "[", "<a ", "~~a", "# #", "- ", "|--", "![a](", "&a", "> ", "==", " "]
)
def test_long_texts_of_open_signs_take_time_in_proportion(sign):
    assert grows_evenly(lambda size: without_markup(sign * (size // len(sign))))


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
