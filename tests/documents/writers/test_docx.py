from dataclasses import replace
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree as ET
from zipfile import ZipFile

from hypothesis import given, settings
from page_examples import PROVENANCE, document_of, letter_page, line_of, pages, with_texts

from drethtr.documents import FORMATS, Page, PageFlag, PageWord, Region, TextLine, Transcription
from drethtr.documents.running_text import READERS

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def parts(*given_pages):
    """The parts of a document as trees."""
    with ZipFile(BytesIO(FORMATS["docx"].write(document_of(*given_pages)))) as archive:
        assert archive.testzip() is None
        return {name: ET.fromstring(archive.read(name)) for name in archive.namelist()}


def found(root, name):
    return list(root.iter(f"{W}{name}"))


def value(element):
    return element.get(f"{W}val")


@settings(max_examples=40)
@given(pages())
def test_the_reader_of_texts_reads_it(page):
    assert READERS[".docx"](FORMATS["docx"].write(document_of(page)), Path("a")).split() == page.text.split()


def test_all_parts_are_there_and_declared():
    files = parts(letter_page())
    declared = {part.get("PartName") for part in files["[Content_Types].xml"]} - {None}
    assert declared == {f"/{name}" for name in files if name.endswith(".xml") and "[" not in name}
    related = [relation.get("Target") for name in files if name.endswith(".rels") for relation in files[name]]
    assert sorted(related) == ["comments.xml", "docProps/core.xml", "styles.xml", "word/document.xml"]


def test_regions_are_paragraphs_and_lines_are_kept():
    paragraphs = found(parts(letter_page())["word/document.xml"], "p")
    assert [len(found(paragraph, "br")) for paragraph in paragraphs] == [1, 0]


def test_doubtful_words_have_the_style_of_their_grade():
    words = [PageWord(f"w{sure}", sure, None, sure < 0.8) for sure in (0.9, 0.7, 0.3, 0.1)]
    words.append(PageWord("flagged", 0.95, None, True))
    line = TextLine("l", transcription=Transcription(" ".join(word.text for word in words), 0.5, tuple(words)))
    files = parts(Page("a.jpg", 8, 6, (Region("r", (line,)),)))
    shaded = {
        run.find(f"{W}t").text: value(style)
        for run in found(files["word/document.xml"], "r")
        for style in found(run, "rStyle")
    }
    assert shaded == {"w0.7": "Even", "w0.3": "Unlikely", "w0.1": "Guess", "flagged": "Even"}
    known = {style.get(f"{W}styleId") for style in found(files["word/styles.xml"], "style") if found(style, "shd")}
    assert known == set(shaded.values())


def test_flags_are_comments_on_their_line():
    flags = (PageFlag("blank", "there is no ink"), PageFlag("repeats", "the text goes in circles"))
    page = letter_page()
    files = parts(with_texts(page, {"l2": replace(page.lines[1].transcription, flags=flags)}))
    comments = {comment.get(f"{W}id"): "".join(comment.itertext()) for comment in files["word/comments.xml"]}
    assert list(comments.values()) == list(map(str, flags))
    for mark in ("commentRangeStart", "commentRangeEnd", "commentReference"):
        assert [element.get(f"{W}id") for element in found(files["word/document.xml"], mark)] == list(comments)


def test_several_pages_have_headings_and_begin_on_a_new_page():
    body = parts(letter_page(), letter_page())["word/document.xml"]
    headings = [p for p in found(body, "p") if value(found(p, "pStyle")[0]) == "Heading1"]
    assert ["".join(p.itertext()) for p in headings] == ["letter.jpg, page 1", "letter.jpg, page 2"]
    assert [len(found(p, "pageBreakBefore")) for p in headings] == [0, 1]


def test_title_version_and_model_are_properties():
    told = "".join(parts(letter_page())["docProps/core.xml"].itertext())
    assert "letter.jpg" in told and str(PROVENANCE) in told and PROVENANCE.timestamp in told


def test_texts_are_no_markup():
    page = Page("<&>.jpg", 8, 6, (Region("r", (line_of("<w:p> & \x07 \tb"),)),))
    [paragraph] = found(parts(page)["word/document.xml"], "p")
    assert "".join(paragraph.itertext()) == "<w:p> & \ufffd  b"
