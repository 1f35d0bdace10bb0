"""Write hOCR 1.2 as XHTML: pages, regions, lines with baselines, words with confidences.

Source: https://kba.github.io/hocr-spec/1.2/
"""

import math
import re
from xml.etree import ElementTree as ET

from drethtr.documents.document import Document
from drethtr.documents.markup import Identifiers, clean, serialize
from drethtr.documents.page import Page, TextLine
from drethtr.documents.points import Box, Points
from drethtr.documents.transcription import PageWord

NOT_IN_PROPERTY = re.compile(r'[";\\\s]+')
"""Characters that would end a property or its value."""

CAPABILITIES = "ocr_page ocr_carea ocr_line ocrx_word"


def write_hocr(document: Document) -> bytes:
    """Write all pages of a document."""
    root = ET.Element("html", xmlns="http://www.w3.org/1999/xhtml")
    head = ET.SubElement(root, "head")
    ET.SubElement(head, "meta", charset="utf-8")
    ET.SubElement(head, "title").text = clean(document.pages[0].image) or "drethtr"
    ET.SubElement(head, "meta", name="ocr-system", content=clean(str(document.provenance)))
    ET.SubElement(head, "meta", name="ocr-capabilities", content=CAPABILITIES)
    ET.SubElement(head, "meta", name="ocr-number-of-pages", content=str(len(document.pages)))
    body = ET.SubElement(root, "body")
    ids = Identifiers()
    for number, page in zip(document.numbers, document.pages, strict=True):
        add_page(body, page, number, ids)
    return serialize(root)


def add_page(body: ET.Element, page: Page, number: int, ids: Identifiers) -> None:
    """Add a page with its regions and their transcribed lines."""
    image = clean(page.image).replace('"', "'").replace("\\", "/").replace(";", ",")
    title = f'image "{image}"; bbox 0 0 {page.width} {page.height}; ppageno {number - 1}'
    element = ET.SubElement(body, "div", {"class": "ocr_page", "id": ids.claim(f"page_{number}"), "title": title})
    for region in page.regions:
        area = {"class": "ocr_carea", "id": ids.claim(region.id), "title": place(region.box) + kind_of(region.kind)}
        block = ET.SubElement(element, "div", area)
        for line in region.lines:
            if line.text:
                add_line(block, line, ids)


def add_line(block: ET.Element, line: TextLine, ids: Identifiers) -> None:
    """Add a line with its words, or with its text if the words are unknown."""
    title = place(line.box)
    if line.baseline and line.box:
        title += f"; {slope(line.baseline, line.box)}"
    title += kind_of(line.kind)
    element = ET.SubElement(block, "span", {"class": "ocr_line", "id": ids.claim(line.id), "title": title})
    if not line.words:
        element.text = clean(line.text)
    for number, word in enumerate(line.words, 1):
        add_word(element, word, ids.claim(f"{line.id}_w{number}"))


def add_word(line: ET.Element, word: PageWord, id: str) -> None:
    """Add a word with its position; indentation adds the white space between words."""
    title = place(word.box)
    if word.confidence is not None:
        title += f"; x_wconf {round(100 * word.confidence)}"
    ET.SubElement(line, "span", {"class": "ocrx_word", "id": id, "title": title}).text = clean(word.text)


def kind_of(kind: str) -> str:
    """What a region or line is, as a property of our own, which hOCR allows."""
    return f'; x_kind "{NOT_IN_PROPERTY.sub(" ", clean(kind)).strip()}"' if kind else ""


def place(box: Box | None) -> str:
    """The bounding box; all zeros if unknown."""
    return f"bbox {' '.join(map(str, box or (0, 0, 0, 0)))}"


def slope(baseline: Points, box: Box) -> str:
    """The straight line through both ends of the baseline, relative to the bottom left corner of the line's box.

    For a line that is mostly vertical or runs to the left, the counterclockwise angle instead.
    """
    (x, y), (u, v) = baseline[0], baseline[-1]
    if u < x or abs(v - y) > abs(u - x):
        return f"textangle {math.degrees(math.atan2(y - v, u - x)):.0f}"
    gradient = (v - y) / (u - x) if u != x else 0.0
    return f"baseline {gradient:.4f} {round(y + gradient * (box.left - x) - box.bottom)}"
