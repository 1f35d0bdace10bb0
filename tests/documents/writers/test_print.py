"""Texts set for reading."""

from dataclasses import replace

import pypdfium2
import pytest
from page_examples import PROVENANCE, document_of, register_page

from drethtr.documents import FORMATS, Page, Region, TextLine, Transcription
from drethtr.documents.document import About
from drethtr.documents.writers.pdf_font import SerifFont
from drethtr.recognition.model.file import SHIPPED, load_model


def page_of(text):
    return Page("a.jpg", 800, 600, (Region("r", (TextLine("l", transcription=Transcription(text)),)),))


def printed(*pages, title=""):
    data = FORMATS["print"].write(replace(document_of(*pages), about=About(title=title)))
    with pypdfium2.PdfDocument(data) as pdf:
        return [page.get_textpage().get_text_range().split() for page in pdf]


def test_the_text_is_that_of_the_page_with_letters_raised():
    [words] = printed(page_of("M^me de Staël écrit ſes “œuvres”"), title="Lettres")
    assert words == ["Lettres", "Mme", "de", "Staël", "écrit", "ſes", "“œuvres”", "1"]


def test_the_file_names_the_version_and_the_model():
    with pypdfium2.PdfDocument(FORMATS["print"].write(document_of(page_of("a")))) as pdf:
        made_by = pdf.get_metadata_value("Producer")
    assert PROVENANCE.model in made_by and PROVENANCE.version in made_by


def test_tables_keep_their_cells():
    [words] = printed(register_page())
    assert words[:5] == ["Accounts", "No.", "Name", "Sum", "1"]


def test_a_long_text_goes_on_on_the_next_page_and_a_long_word_in_the_next_line():
    text = " ".join(f"word{number}" for number in range(600)) + " " + "x" * 300
    pages = printed(page_of(text))
    assert len(pages) == 2 and [page.pop() for page in pages] == ["1", "2"]
    words = [word for page in pages for word in page]
    assert [*words[:600], "".join(words[600:])] == text.split() and len(words) > 601


def test_characters_that_the_font_lacks_are_told():
    [words] = printed(page_of("ab 漢"))
    assert words[:2] == ["ab", "�"] and "U+6F22." in words


def test_the_font_has_all_that_the_shipped_model_writes():
    font = SerifFont()
    assert [character for character in load_model(SHIPPED).tokenizer.alphabet if not font.glyph(character)] == []


@pytest.mark.parametrize(("letter", "width"), [("i", 320), ("m", 948), (" ", 318)])
def test_widths_are_those_of_the_font(letter, width):
    assert SerifFont().advance(letter) == width
