"""Official schemas and independent readers: DRETHTR_ORACLES names a Python that has them (docs/formats.md says how)."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from page_examples import PROVENANCE, document_of, letter_page, line_of, register_page, with_texts
from real_data import PAGES, needs_pages

from drethtr.documents import FORMATS, Canvas, Document, Page, PageFlag, Region, TextLine, Transcription
from drethtr.documents.document import About
from drethtr.documents.read import parse_page
from drethtr.documents.transcription import Review, Tag
from drethtr.documents.update import update

PYTHON = os.environ.get("DRETHTR_ORACLES")
SCRIPT = Path(__file__).with_name("oracles.py")

pytestmark = pytest.mark.skipif(not PYTHON, reason="DRETHTR_ORACLES does not name a Python with the other readers")


def ask(oracle, data, tmp_path):
    path = tmp_path / "page.xml"
    path.write_bytes(data)
    assert PYTHON is not None
    answer = subprocess.run([PYTHON, SCRIPT, oracle, path], capture_output=True, check=True, text=True)
    return json.loads(answer.stdout.splitlines()[-1])


def odd_page():
    lines = (
        TextLine("nowhere", transcription=Transcription("a  b")),
        TextLine("1 no id", baseline=((0, 5), (9, 5))),
        TextLine("empty", ((0, 0), (9, 0), (9, 9)), None, Transcription("", 0.25)),
    )
    return Page("a.jpg", 800, 600, (Region("r", lines), Region("nothing")))


@pytest.mark.parametrize("format", ["page", "alto"])
@pytest.mark.parametrize("page", [letter_page(), odd_page(), Page("a.jpg", 8, 6)], ids=["letter", "odd", "empty"])
def test_what_is_written_and_updated_keeps_to_the_schema(format, page, tmp_path):
    data = FORMATS[format].write(document_of(page))
    assert ask("schema", data, tmp_path) == []
    read = parse_page(data, "x", lambda _: None)[2].page
    new = {line.id: Transcription("neu", 0.5) for line in read.lines} | {
        line.id: line.transcription for line in page.lines if line.words
    }
    updated = update(data, with_texts(read, new), PROVENANCE, replace=True)
    assert ask("schema", updated, tmp_path) == []


def test_tei_keeps_to_the_schema(tmp_path):
    tags = Tag("person", 0, 9), Tag("abbrev", 0, 4, (("expansion", "Madame"),)), Tag("deleted", 10, 2)
    tagged = TextLine("t", transcription=Transcription("M^me Anna to Ly-", tags=tags, review=Review.CONFIRMED))
    note = Page("note.jpg", 800, 600, (Region("m", (line_of("paid"),), kind="margin"),))
    pages = letter_page(), odd_page(), Page("", 0, 0, (Region("r"),)), Page("a.jpg", 8, 6), register_page()
    pages += (Page("tags.jpg", 800, 600, (Region("r", (tagged,)),)),)
    about = About("Letters", "Anne", "MS 7", "Ada; Bo", "https://creativecommons.org/licenses/by/4.0/", "en")
    for document in (replace(document_of(*pages), about=about), document_of(note)):
        assert ask("schema", FORMATS["tei"].write(document), tmp_path) == []


@pytest.mark.parametrize("format", ["page", "alto"])
def test_kraken_reads_what_is_written(format, tmp_path):
    page = letter_page()
    read = ask("kraken", FORMATS[format].write(document_of(page)), tmp_path)
    assert read == [
        [line.id, line.text, list(map(list, line.baseline)), list(map(list, line.polygon))] for line in page.lines
    ]


def test_ocrd_reads_what_is_written_in_reading_order(tmp_path):
    page = letter_page()
    page = replace(page, regions=page.regions[::-1])
    read = ask("ocrd", FORMATS["page"].write(document_of(page)), tmp_path)
    assert read == [[line.id, [line.text], line.text.split()] for line in page.lines]


def test_hocr_tools_accept_what_is_written(tmp_path):
    page = letter_page()
    failed, lines = ask("hocr", FORMATS["hocr"].write(document_of(page)), tmp_path)
    assert failed == []
    assert lines == [line.text for line in page.lines]


def test_python_docx_reads_what_is_written(tmp_path):
    page = letter_page()
    flagged = replace(page.lines[1].transcription, flags=(PageFlag("blank", "there is no ink"),))
    document = document_of(page, with_texts(page, {"l2": flagged}))
    paragraphs, styles, comments = ask("docx", FORMATS["docx"].write(document), tmp_path)
    text = [["Normal", "Liebe Mutter, daſs ich\ngroß <bin> & froh"], ["Normal", "Rom 1805"]]
    headings = [["Heading 1", f"letter.jpg, page {number}"] for number in (1, 2)]
    assert paragraphs == [headings[0], *text, headings[1], *text]
    assert styles["daſs"] == "Doubtful, 50 % or more" and comments == ["blank: there is no ink"]


def test_iiif_annotations_keep_to_the_models(tmp_path):
    [sheet] = document_of(letter_page()).sheets
    sheet = replace(sheet, canvas=Canvas("https://example.org/canvas/1", 800, 600))
    texts = ask("iiif", FORMATS["iiif"].write(Document((sheet,), PROVENANCE)), tmp_path)
    assert "Liebe Mutter, daſs ich" in texts and "Liebe" in texts


@needs_pages
@pytest.mark.parametrize("path", sorted(PAGES.glob("*.xml")), ids=lambda path: path.name)
def test_kraken_reads_a_real_page_with_new_text_as_the_old_one(path, tmp_path):
    data = path.read_bytes()
    page = parse_page(data, "x", lambda _: None)[2].page
    before = ask("kraken", data, tmp_path)
    after = ask("kraken", update(data, page, PROVENANCE, replace=True), tmp_path)
    assert after == before
