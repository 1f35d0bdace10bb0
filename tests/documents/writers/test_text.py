import json

import pytest
from page_examples import PROVENANCE
from PIL import Image

from drethtr.documents.document import Document, Scan, Sheet
from drethtr.documents.formats import LINE_FORMATS, TEXT_WITH_DOUBTS
from drethtr.documents.page import Page, Region, TextLine
from drethtr.documents.transcription import PageFlag, PageWord, Transcription
from drethtr.documents.writers.text import marked

FLAG = PageFlag("uncovered", "no character accounts for 80 columns\tof ink here")
WORDS = (PageWord("an", 0.9), PageWord("old", 0.4, doubtful=True), PageWord("ox", 0.6))
LINE = Transcription("an old ox", 0.9, WORDS, (FLAG,))


def document(line=LINE, name="a.png"):
    """The document of an image of a single line."""
    page = Page("a.png", 9, 9, (Region("r", (TextLine("l", transcription=line),)),))
    sheet = Sheet(page, Scan(lambda: Image.new("L", (9, 9))), 1, details={"text": line.text, "more": [1, 2]})
    return Document((sheet,), PROVENANCE, name=name)


def test_doubts_are_marked_in_text_where_asked():
    text = "an [old?] ox [!uncovered: no character accounts for 80 columns\tof ink here]"
    assert TEXT_WITH_DOUBTS.write(document()).decode() == text + "\n"
    assert TEXT_WITH_DOUBTS.row(document()).decode() == f"a.png\t{text.replace(chr(9), ' ')}\n"
    assert LINE_FORMATS["txt"].write(document()) == b"an old ox\n"


@pytest.mark.parametrize("format", [LINE_FORMATS["txt"], LINE_FORMATS["tsv"], TEXT_WITH_DOUBTS])
def test_a_name_does_not_break_its_row(format):
    assert format.row(document(name="a\tb\nc.png")).startswith(b"a b c.png\tan ")


def test_a_line_without_doubts_is_its_text():
    sure = document(Transcription("an old ox", 0.9))
    assert TEXT_WITH_DOUBTS.write(sure) == LINE_FORMATS["txt"].write(sure)


def test_a_line_on_which_nothing_is_read_has_its_flags():
    assert marked(Transcription("", 0.0, (), (PageFlag("blank", "there is no ink"),))) == "[!blank: there is no ink]"


def test_tables_tell_flags_and_their_reasons():
    tsv = LINE_FORMATS["tsv"]
    names, cells = (row.decode().rstrip("\n").split("\t") for row in (tsv.header, tsv.row(document())))
    found = dict(zip(names, cells, strict=True))
    assert found["flags"].startswith("uncovered: no character accounts")
    assert found["made by"] == "drethtr 1.2.3, model 0123abcd"
    assert tsv.write(document()) == tsv.header + tsv.row(document())


def test_json_tells_all():
    format = LINE_FORMATS["json"]
    found = json.loads(format.write(document()))
    assert list(found) == ["file", "text", "more", "made_by"] and found["more"] == [1, 2]
    assert found["made_by"] == {"drethtr": "1.2.3", "model": "0123abcd", "created": "2026-11-21T12:30:00Z"}
    assert json.loads(format.row(document())) == found and format.row(document()).count(b"\n") == 1
