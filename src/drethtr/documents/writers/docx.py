"""Write a Word document: a paragraph per region, shaded doubtful words, flags as comments.

Source: Office Open XML, ISO 29500.
"""

from collections.abc import Sequence
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from string import Template
from xml.etree import ElementTree as ET

from drethtr.documents.document import Document, Provenance
from drethtr.documents.markup import as_file, clean
from drethtr.documents.page import TextLine
from drethtr.documents.reflow import reading_blocks, runs
from drethtr.documents.transcription import SHADES, Grade, PageFlag, PageWord
from drethtr.documents.writers.office import OFFICE, packed, relations

STYLES = Path(__file__).with_name("docx_styles.xml")

STYLE = {Grade.CERTAIN: "Even", Grade.LIKELY: "Even", Grade.UNLIKELY: "Unlikely", Grade.GUESS: "Guess"}
"""The styles of doubtful words."""

TEXT = {"xmlns:w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main"}

PARTS = {
    "/word/document.xml": "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
    "/word/styles.xml": "application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml",
    "/word/comments.xml": "application/vnd.openxmlformats-officedocument.wordprocessingml.comments+xml",
}
"""The content type of each part."""


class Comments:
    """The comments of a document, numbered as they are added."""

    def __init__(self, made_by: Provenance) -> None:
        self.author = {"w:author": "drethtr", "w:date": made_by.timestamp, "w:initials": "d"}
        self.root = ET.Element("w:comments", TEXT)

    def add(self, flag: PageFlag) -> dict[str, str]:
        """Add a flag; returns the attribute that refers to the comment."""
        number = {"w:id": str(len(self.root))}
        comment = ET.SubElement(self.root, "w:comment", {**number, **self.author})
        paragraph = paragraph_in(comment, "CommentText")
        add_run(paragraph, str(flag))
        return number


def write_docx(document: Document) -> bytes:
    """Write all pages of a document, each on a new page; several pages have headings."""
    comments = Comments(document.provenance)
    root = ET.Element("w:document", TEXT)
    body = ET.SubElement(root, "w:body")
    for number, (title, page) in enumerate(zip(document.titles, document.pages, strict=True)):
        if len(document.pages) > 1:
            heading = paragraph_in(body, "Heading1", new_page=number > 0)
            add_run(heading, title)
        for block in page.blocks:
            add_block(body, [line for region in block for line in region.lines], comments)
    return package(document, root, comments)


def write_word_prose(document: Document) -> bytes:
    """Write the text of all pages for reading: running paragraphs, without doubts, with raised letters and tables."""
    root = ET.Element("w:document", TEXT)
    body = ET.SubElement(root, "w:body")
    if document.about.title:
        add_run(paragraph_in(body, "Heading1"), document.about.title)
    for block in chain.from_iterable(map(reading_blocks, document.pages)):
        if block.rows:
            add_table(body, block.rows)
        else:
            add_runs(paragraph_in(body), block.text, italic=block.is_margin)
    return package(document, root, Comments(document.provenance))


def add_table(body: ET.Element, rows: Sequence[Sequence[str]]) -> None:
    """Add a table, and the paragraph that Word requires after it."""
    table = ET.SubElement(body, "w:tbl")
    borders = ET.SubElement(ET.SubElement(table, "w:tblPr"), "w:tblBorders")
    for side in ("top", "left", "bottom", "right", "insideH", "insideV"):
        ET.SubElement(borders, f"w:{side}", {"w:val": "single", "w:sz": "4", "w:color": "auto"})
    grid = ET.SubElement(table, "w:tblGrid")
    for _ in range(max(map(len, rows))):
        ET.SubElement(grid, "w:gridCol")
    for row in rows:
        element = ET.SubElement(table, "w:tr")
        for cell in row:
            add_runs(paragraph_in(ET.SubElement(element, "w:tc")), cell)
    paragraph_in(body)


def add_runs(paragraph: ET.Element, text: str, *, italic: bool = False) -> None:
    """Add a text with raised letters."""
    for run in filter(itemgetter(0), runs(text)):
        add_run(paragraph, run.text, raised=run.raised, italic=italic)


def package(document: Document, root: ET.Element, comments: Comments) -> bytes:
    """The file of a document, from its text and comments."""
    body = root[0]
    if not len(body):
        paragraph_in(body)  # Word rejects a body without paragraphs
    parts = {
        "word/document.xml": as_file(root),
        "word/_rels/document.xml.rels": relations(
            {"styles.xml": f"{OFFICE}/styles", "comments.xml": f"{OFFICE}/comments"}
        ),
        "word/styles.xml": Template(STYLES.read_text(encoding="utf-8"))
        .substitute({grade.value: shade for grade, shade in SHADES.items()})
        .encode(),
        "word/comments.xml": as_file(comments.root),
    }
    return packed(document, PARTS, parts)


def add_block(body: ET.Element, lines: Sequence[TextLine], comments: Comments) -> None:
    """Add the lines of a region or table that have text or flags, as one paragraph with line breaks."""
    lines = [line for line in lines if line.text or line.flags]
    paragraph = paragraph_in(body) if lines else body
    for number, line in enumerate(lines):
        if number:
            ET.SubElement(ET.SubElement(paragraph, "w:r"), "w:br")
        add_line(paragraph, line, comments)


def add_line(paragraph: ET.Element, line: TextLine, comments: Comments) -> None:
    """Add the text of a line, with a comment for each flag."""
    numbers = [comments.add(flag) for flag in line.flags]
    for number in numbers:
        ET.SubElement(paragraph, "w:commentRangeStart", number)
    parts = line.transcription.parts if line.transcription else ()
    for style, group in groupby(parts, lambda part: style_of(part[1])):
        add_run(paragraph, "".join(text for text, _ in group), style)
    for number in numbers:
        ET.SubElement(paragraph, "w:commentRangeEnd", number)
        ET.SubElement(ET.SubElement(paragraph, "w:r"), "w:commentReference", number)


def style_of(word: PageWord | None) -> str | None:
    """The style of a doubtful word; None for others."""
    return STYLE[Grade.of(word.confidence)] if word is not None and word.doubtful else None


def paragraph_in(parent: ET.Element, style: str = "Normal", *, new_page: bool = False) -> ET.Element:
    """Add an empty paragraph."""
    paragraph = ET.SubElement(parent, "w:p")
    settings = ET.SubElement(paragraph, "w:pPr")
    ET.SubElement(settings, "w:pStyle", {"w:val": style})
    if new_page:
        ET.SubElement(settings, "w:pageBreakBefore")
    return paragraph


def add_run(
    paragraph: ET.Element, text: str, style: str | None = None, *, raised: bool = False, italic: bool = False
) -> None:
    """Add text, optionally in a character style."""
    run = ET.SubElement(paragraph, "w:r")
    if style is not None or raised or italic:
        settings = ET.SubElement(run, "w:rPr")
        if style is not None:
            ET.SubElement(settings, "w:rStyle", {"w:val": style})
        if italic:
            ET.SubElement(settings, "w:i")
        if raised:
            ET.SubElement(settings, "w:vertAlign", {"w:val": "superscript"})
    ET.SubElement(run, "w:t", {"xml:space": "preserve"}).text = clean(text)
