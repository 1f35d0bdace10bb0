"""What of Markdown is text: signs that only say how to show it are no words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from drethtr.documents.document import Document, Provenance, Scan, Sheet
from drethtr.documents.markdown import without_markup
from drethtr.documents.page import Page, Region, TextLine
from drethtr.documents.transcription import Transcription
from drethtr.documents.writers.markdown import write_markdown


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
    scan = Scan(lambda: Image.new("L", (10, 10)))
    page = Page("a.png", 10, 10, (Region("r", lines),))
    written = write_markdown(Document((Sheet(page, scan),), Provenance.now("test")))
    assert without_markup(written.decode()).split() == " ".join(texts).split()


@pytest.mark.parametrize(
    "sign", ["*a ", "_a ", "`", "[", "<a ", "~~a", "# #", "- ", "|--", "![a](", "&a", "> ", "==", " "]
)
def test_long_texts_of_open_signs_take_time_in_proportion(sign):
    assert without_markup(sign * 200_000) is not None
