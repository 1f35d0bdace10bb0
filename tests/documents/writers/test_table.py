import csv
import io
from dataclasses import replace
from xml.etree import ElementTree as ET
from zipfile import ZipFile

import pytest
from page_examples import document_of, letter_page, line_of, register_page

from drethtr.documents import FORMATS, Page, Region, TextLine, Transcription
from drethtr.documents.writers.table import safe
from drethtr.documents.writers.xlsx import letters

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
OFFICE = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"


def rows(page):
    text = FORMATS["csv"].write(document_of(page)).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_a_row_for_each_word():
    table = rows(letter_page())
    assert len(table) == 10
    assert table[2] == {
        "page": "1",
        "image": "letter.jpg",
        "line": "l1",
        "word": "3",
        "text": "daſs",
        "confidence": "0.9000",
        "doubtful": "yes",
        "flags": "",
        "left": "330",
        "top": "50",
        "right": "410",
        "bottom": "90",
        "made by": "drethtr 1.2.3, model 0123abcd",
    }


def test_pages_have_the_numbers_of_their_file():
    """Where one between them could not be read; without them, they are counted."""
    document = document_of(letter_page(), letter_page())
    first, third = document.sheets
    lacking = replace(document, sheets=(replace(first, number=1), replace(third, number=3)))
    for written, numbers in ((document, {"1", "2"}), (lacking, {"1", "3"})):
        text = FORMATS["csv"].write(written).decode("utf-8-sig")
        assert {row["page"] for row in csv.DictReader(io.StringIO(text, newline=""))} == numbers


def test_pages_of_several_files_are_counted():
    """Each is the first page of its file; none replaces another."""
    register = replace(register_page(), image="r.jpg")
    document = document_of(register, letter_page(), register, replace(letter_page(), image="b.jpg"))
    document = replace(document, sheets=tuple(replace(sheet, number=1) for sheet in document.sheets))
    assert list(sheets(document)) == ["page 1", "page 2", "page 3", "page 4"]
    for format in ("csv", "tables"):
        text = FORMATS[format].write(document).decode("utf-8-sig")
        read = {(row["page"], row["image"]) for row in csv.DictReader(io.StringIO(text, newline=""))}
        assert read == {("1", "r.jpg"), ("2", "letter.jpg"), ("3", "r.jpg"), ("4", "b.jpg")}


def test_a_line_without_words_is_one_row_and_an_unread_one_none():
    lines = (TextLine("a", transcription=Transcription("zwei Worte")), TextLine("b"))
    [row] = rows(Page("a.jpg", 9, 9, (Region("r", lines),)))
    assert (row["text"], row["confidence"], row["left"]) == ("zwei Worte", "", "")


def test_no_cell_is_a_formula():
    line = line_of("=1+1 +x -y @z a=b", id="=l")
    table = rows(Page("=p.jpg", 9, 9, (Region("r", (line,)),)))
    hidden = ["\u00a0=1", "\u200b=1", "\0+1", "  @z"]  # behind what a spreadsheet may skip
    hidden += [f"{filler}=1" for filler in "\u115f\u1160\u3164\uffa0\ufe0f\u180e\u00ad\u2800\u0301\u3000"]
    hidden += ["\uff1d1", "\uff0b1", "\uff0d1", "\uff20a", "\ufe66a"]  # full width, small
    lines = tuple(TextLine(f"l{number}", transcription=Transcription(text)) for number, text in enumerate(hidden))
    found = [row["text"] for row in rows(Page("a.jpg", 9, 9, (Region("r", lines),)))]
    assert found == [f"'{text}" for text in hidden]
    assert safe("a;=1;b") == "a;'=1;b" and safe("a; -1\t+1\n@a") == "a;' -1\t'+1\n'@a" and safe("\t=1") == "'\t'=1"
    assert safe("a; b = c; d") == "a; b = c; d" and safe("") == ""
    assert [row["text"] for row in table] == ["'=1+1", "'+x", "'-y", "'@z", "a=b"]
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in table for cell in row.values())


def test_tables_have_a_row_per_row():
    document = document_of(register_page(), letter_page())
    text = FORMATS["tables"].write(document).decode("utf-8-sig")
    assert list(csv.reader(io.StringIO(text, newline=""))) == [
        ["page", "image", "table", "made by", "column 1", "column 2", "column 3"],
        ["1", "register.jpg", "1", "drethtr 1.2.3, model 0123abcd", "No.", "Name", "Sum"],
        ["1", "register.jpg", "1", "drethtr 1.2.3, model 0123abcd", "1", "", "12.50"],
        ["2", "letter.jpg", "", "drethtr 1.2.3, model 0123abcd"],
    ]


def sheets(document):
    """The cells of each sheet of a workbook, by their places: their texts, and whether they are shaded."""
    with ZipFile(io.BytesIO(FORMATS["xlsx"].write(document))) as archive:
        parts = {name: ET.fromstring(archive.read(name)) for name in archive.namelist()}
    files = {part.get("Id"): f"xl/{part.get('Target')}" for part in parts["xl/_rels/workbook.xml.rels"]}
    listed = [
        (sheet.get("name"), files[sheet.get(f"{OFFICE}id")]) for sheet in parts["xl/workbook.xml"].iter(f"{MAIN}sheet")
    ]
    return {
        name: {cell.get("r"): ("".join(cell.itertext()), cell.get("s") == "1") for cell in parts[file].iter(f"{MAIN}c")}
        for name, file in listed
    }


def test_a_workbook_has_a_sheet_for_each_table():
    found = sheets(document_of(register_page(), letter_page()))
    assert list(found) == ["page 1", "page 2"]
    texts = {"A1": "No.", "B1": "Name", "C1": "Sum", "A2": "1", "C2": "12.50"}
    assert {place: text for place, (text, _) in found["page 1"].items()} == texts
    assert list(found["page 2"].values()) == [(line.text, line.id == "l1") for line in letter_page().lines]


def test_a_workbook_says_what_made_it_and_is_whole():
    written = FORMATS["xlsx"].write(document_of(register_page()))
    assert written == FORMATS["xlsx"].write(document_of(register_page()))
    with ZipFile(io.BytesIO(written)) as archive:
        parts = {name: ET.fromstring(archive.read(name)) for name in archive.namelist()}
    assert any("0123abcd" in (element.text or "") for element in parts["docProps/core.xml"].iter())
    declared = {part.get("PartName") for part in parts["[Content_Types].xml"]} - {None}
    assert declared == {f"/{name}" for name in parts if name.endswith(".xml") and "[" not in name}


@pytest.mark.parametrize(("column", "name"), [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA")])
def test_columns_have_letters(column, name):
    assert letters(column) == name
