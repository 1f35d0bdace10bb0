"""What holds for all formats, and that pages come back from those that are read."""

import json
import time
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from hypothesis import given, settings
from page_examples import PROVENANCE, document_of, letter_page, line_of, pages, register_page, with_texts

import drethtr.documents
from drethtr.documents import FORMATS, Box, CellPlace, Document, Page, PageFlag, Region, TextLine, Transcription
from drethtr.documents.json import read_json
from drethtr.documents.read import parse_page
from drethtr.documents.transcription import Tag
from drethtr.documents.update import update


def keeps_to_the_schema(written):
    from jsonschema import Draft202012Validator  # takes seconds

    schema = json.loads((Path(drethtr.documents.__file__).parent / "page.schema.json").read_text())
    Draft202012Validator(schema).validate(json.loads(written))


def changed_lines(page, change):
    regions = (replace(region, lines=tuple(map(change, region.lines))) for region in page.regions)
    return replace(page, regions=tuple(regions))


def nowhere(_name):
    return None


def test_an_archive_can_be_unpacked_everywhere():
    pages = [(name, b"") for name in ("A", "a", "i: 1/St. 2", "1/nul", "null")]
    with ZipFile(BytesIO(FORMATS["alto"].archive(pages))) as archive:
        names = [name.removesuffix(".alto.xml") for name in archive.namelist()]
    assert names == ["A", "a_2", "i_ 1/St. 2", "1/_nul", "null"]


@pytest.mark.parametrize("name", FORMATS)
def test_an_image_whose_name_is_no_utf_8(name):
    """As old archives leave them."""
    document = document_of(replace(letter_page(), image="caf\udce9.jpg"))
    assert b"\xed\xb3\xa9" not in FORMATS[name].write(document)


@pytest.mark.parametrize("name", FORMATS)
def test_ids_and_flags_with_half_a_character(name):
    """As JSON can have them."""
    line = replace(line_of("text"), id="l\ud800")
    line = replace(line, transcription=replace(line.transcription, flags=(PageFlag("blank", "half \ud800"),)))
    assert FORMATS[name].write(document_of(Page("a.jpg", 800, 600, (Region("r\ud800", (line,), kind="\ud800"),))))


@settings(max_examples=40)
@given(pages())
def test_a_page_comes_back_from_page_xml(page):
    written = FORMATS["page"].write(document_of(page))
    assert parse_page(written, "x", nowhere)[2].page == page


@settings(max_examples=40)
@given(pages())
def test_a_page_comes_back_from_alto_but_for_the_confidence_of_lines_with_words(page):
    def forget(line):
        text = line.transcription
        if text is not None and not text.words and len(text.text.split()) == 1:
            return replace(line, transcription=None)  # ALTO cannot tell such a line from its word
        return replace(line, transcription=text and (replace(text, confidence=None) if text.words else text))

    page = changed_lines(page, forget)
    written = FORMATS["alto"].write(document_of(page))
    assert parse_page(written, "x", nowhere)[2].page == page


@settings(max_examples=40)
@given(pages())
def test_a_page_comes_back_from_json_that_keeps_to_the_schema(page):
    written = FORMATS["json"].write(document_of(page))
    keeps_to_the_schema(written)
    assert read_json(written, "x") == page


@pytest.mark.parametrize("calibrated", [True, False, None])
def test_json_says_whether_confidences_are_calibrated(calibrated):
    def say(line):
        return replace(line, transcription=line.transcription and replace(line.transcription, calibrated=calibrated))

    page = letter_page().with_lines(say)
    written = FORMATS["json"].write(document_of(page))
    keeps_to_the_schema(written)
    assert read_json(written, "x") == page
    earlier = written.replace(b'"calibrated": true,', b"").replace(b'"calibrated": false,', b"")
    assert {line.transcription and line.transcription.calibrated for line in read_json(earlier, "x").lines} == {None}


def test_a_line_of_json_is_one_line():
    said = json.loads(FORMATS["json"].write(document_of(letter_page())))
    said["regions"][1]["lines"][0] |= {"text": "Rom\n1805"}
    said["regions"][1]["lines"][0]["words"][0]["text"] = "Rom\u2028"
    page = read_json(json.dumps(said), "x")
    assert page.lines[-1].text == "Rom 1805" and len(FORMATS["txt"].write(document_of(page)).splitlines()) == 3


def test_a_page_comes_back_from_json_with_the_tags_of_people():
    tags = (Tag("person", 0, 5, (("firstname", "Anne"), ("notice", "she; {her}"))), Tag("gap", 3))
    page = letter_page().with_lines(lambda line: replace(line, transcription=Transcription("a line", tags=tags)))
    written = FORMATS["json"].write(document_of(page))
    keeps_to_the_schema(written)
    assert {line.transcription.tags for line in read_json(written, "x").lines} == {tags}
    earlier = json.loads(written)
    for line in (line for region in earlier["regions"] for line in region["lines"]):
        del line["tags"]
    assert {line.transcription.tags for line in read_json(json.dumps(earlier), "x").lines} == {()}


SEALED = {"txt", "pdf", "print", "docx", "word", "xlsx"}
"""Formats without such a name, or with one that is compressed."""


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in SEALED])
def test_every_file_names_the_version_and_the_model(name):
    written = FORMATS[name].write(document_of(letter_page()))
    assert PROVENANCE.model.encode() in written and b"1.2.3" in written


@pytest.mark.parametrize("name", ["page", "alto", "tei", "md", "json", "csv", "html"])
def test_what_is_odd_about_a_line_is_told(name):
    page = letter_page()
    flags = (PageFlag("repeats", "the text goes in circles"), PageFlag("blank", "there is no ink"))
    odd = replace(page.lines[0].transcription, flags=flags)
    document = document_of(with_texts(page, {page.lines[0].id: odd}))
    told = FORMATS[name].write(document).decode()
    assert "there is no ink" in told and "the text goes in circles" in told
    if name == "json":
        assert read_json(told.encode(), "page.json").lines[0].flags == odd.flags


def test_text_holds_nothing_but_the_text():
    written = FORMATS["txt"].write(document_of(letter_page(), letter_page()))
    page = "Liebe Mutter, daſs ich\ngroß <bin> & froh\nRom 1805\n"
    assert written.decode() == f"{page}\n{page}"


@pytest.mark.parametrize("name", FORMATS)
def test_empty_pages_and_unread_lines_are_written(name):
    unread = Page("a.jpg", 800, 600, (Region("r", (TextLine("l"),)), Region("s")))
    for page in (Page("a.jpg", 800, 600), unread):
        assert FORMATS[name].write(document_of(page)) or name == "txt"


@pytest.mark.parametrize("name", ["page", "alto"])
def test_two_thousand_lines_come_back_and_take_new_text(name):
    lines = tuple(line_of("viel Text", top=20 * number, id=f"l{number}", height=20) for number in range(2000))
    page = Page("a.jpg", 800, 40_000, (Region("r", lines, Box(0, 0, 800, 40_000).polygon()),))
    data = FORMATS[name].write(document_of(page))
    assert len(parse_page(data, "x", nowhere)[2].page.lines) == 2000
    new = with_texts(page, {line.id: Transcription(f"neu {line.id}") for line in lines})
    updated = parse_page(update(data, new, PROVENANCE, replace=True), "x", nowhere)[2].page
    assert [line.text for line in updated.lines] == [line.text for line in new.lines]


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_document_gives_the_same_bytes(name):
    assert FORMATS[name].write(document_of(letter_page())) == FORMATS[name].write(document_of(letter_page()))


def test_a_pdf_a_is_the_same_at_another_time():
    """The library that makes its color profile dates it to the second."""
    first = FORMATS["pdfa"].write(document_of(letter_page()))
    time.sleep(1.1)
    assert FORMATS["pdfa"].write(document_of(letter_page())) == first


@pytest.mark.parametrize(
    ("name", "number"), [("alto", b'PHYSICAL_IMG_NR="7"'), ("hocr", b"ppageno 6"), ("csv", b"\r\n7,")]
)
def test_a_page_of_a_book_keeps_its_number(name, number):
    sheet = replace(document_of(letter_page()).sheets[0], number=7)
    assert number in FORMATS[name].write(Document((sheet,), PROVENANCE))


def test_a_document_comes_apart_into_its_pages():
    document = document_of(letter_page(), Page("b.jpg", 800, 600))
    assert [part.pages for part in document.apart()] == [(page,) for page in document.pages]


@pytest.mark.parametrize("name", ["page", "alto", "json"])
def test_kinds_of_regions_and_tables_come_back(name):
    page = register_page()
    data = FORMATS[name].write(document_of(page))
    back = read_json(data, "a") if name == "json" else parse_page(data, "a", lambda image: None)[2].page
    assert back.blocks and [len(block) for block in back.blocks] == [1, 5, 1]
    assert [(region.id, region.kind, region.cell) for region in back.regions] == [
        (region.id, "table" if region.cell else region.kind, region.cell) for region in page.regions
    ]


def test_a_row_of_a_table_is_a_row_of_text():
    page = register_page()
    assert FORMATS["txt"].write(document_of(page)) == b"Accounts\nNo.\tName\tSum\n1\t\t12.50\npaid\n"
    by_columns = sorted(page.regions[1:-1], key=lambda region: region.cell.column)
    page = replace(page, regions=(page.regions[0], *by_columns))
    assert FORMATS["txt"].write(document_of(page)) == b"Accounts\nNo.\n1\nName\nSum\n12.50\n"


@pytest.mark.parametrize("name", ["txt", "tei"])
def test_cells_far_apart_do_not_fill_the_memory(name):
    cells = [
        Region(f"r{place}", (line_of("x", id=f"l{place}"),), cell=CellPlace("t", place, 10**9 - place))
        for place in range(2000)
    ]
    assert len(FORMATS[name].write(document_of(Page("a.jpg", 9, 9, tuple(cells))))) < 1e6
