"""Write PAGE XML 2019-07-15, with reading order, tags and doubtful words also in Transkribus' notation."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from drethtr.documents.document import Document, Provenance
from drethtr.documents.markup import Identifiers, clean, serialize
from drethtr.documents.page import LINES, TABLE, Region, TextLine, in_words_of
from drethtr.documents.page_xml.custom import entry_of
from drethtr.documents.page_xml.reader import KINDS, NAMESPACES, ZONES
from drethtr.documents.points import Points, box_around, flat_polygon, written
from drethtr.documents.transcription import PageWord, Transcription

NAMESPACE = NAMESPACES[-1]
TYPES = frozenset(
    [
        "paragraph",
        "heading",
        "caption",
        "header",
        "footer",
        "page-number",
        "drop-capital",
        "credit",
        "floating",
        "signature-mark",
        "catch-word",
        "marginalia",
        "footnote",
        "footnote-continued",
        "endnote",
        "TOC-entry",
        "list-label",
        "other",
    ]
)
"""The types of text regions that the schema knows; other kinds are written into `custom`."""
NOT_IN_CUSTOM = re.compile(r"[;{}\s]+")
SCHEMA_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"


def write_page_xml(document: Document) -> bytes:
    """Write a single-page document."""
    [page] = document.pages
    root = ET.Element(
        "PcGts",
        {
            "xmlns": NAMESPACE,
            "xmlns:xsi": SCHEMA_INSTANCE,
            "xsi:schemaLocation": f"{NAMESPACE} {NAMESPACE}/pagecontent.xsd",
        },
    )
    add_metadata(root, document.provenance)
    size = {"imageWidth": str(page.width), "imageHeight": str(page.height)}
    element = ET.SubElement(root, "Page", {"imageFilename": clean(page.image), **size})
    ids = Identifiers()
    region_ids = [ids.claim(region.id) for region in page.regions]
    add_reading_order(element, region_ids, ids)
    numbered = iter(enumerate(region_ids))
    for block in page.blocks:
        parent = element
        if (cell := block[0].cell) is not None:
            parent = ET.SubElement(element, "TableRegion", id=ids.claim(cell.table or "table"))
            box = box_around(corner for region in block if (box := region.box) for corner in box.polygon())
            add_coords(parent, box and box.polygon())
        # `block` must come first, or zip would consume one more number at its end, which belongs to the next block.
        for region, (index, region_id) in zip(block, numbered, strict=False):
            add_region(parent, region, region_id, index, ids)
    return serialize(root)


def add_metadata(root: ET.Element, provenance: Provenance) -> None:
    """Add the provenance."""
    metadata = ET.SubElement(root, "Metadata")
    ET.SubElement(metadata, "Creator").text = clean(str(provenance))
    ET.SubElement(metadata, "Created").text = provenance.timestamp
    ET.SubElement(metadata, "LastChange").text = provenance.timestamp
    step = {"type": "processingStep", "name": "transcription", "value": clean(str(provenance))}
    ET.SubElement(metadata, "MetadataItem", step)


def add_reading_order(page: ET.Element, region_ids: Sequence[str], ids: Identifiers) -> None:
    """Add the order of the regions; an empty group would be invalid."""
    if region_ids:
        group = ET.SubElement(ET.SubElement(page, "ReadingOrder"), "OrderedGroup", id=ids.claim("reading_order"))
        for index, region_id in enumerate(region_ids):
            ET.SubElement(group, "RegionRefIndexed", index=str(index), regionRef=region_id)


def add_region(parent: ET.Element, region: Region, id: str, index: int, ids: Identifiers) -> None:
    """Add a region with its kind and its lines."""
    element = region_element(region, id)
    element.set("custom", f"readingOrder {{index:{index};}} {element.get('custom', '')}".strip())
    parent.append(element)
    for line_index, line in enumerate(region.lines):
        add_line(element, line, line_index, ids)


def region_element(region: Region, id: str, prefix: str = "") -> ET.Element:
    """A region with its kind, its outline and its place in a table, without lines."""
    known, custom = kind_attributes(region)
    attributes = {"id": id, "type": known, "custom": custom}
    element = ET.Element(f"{prefix}TextRegion", {name: value for name, value in attributes.items() if value})
    box = region.box
    add_coords(element, region.polygon or (box and box.polygon()), prefix)
    if region.cell is not None:
        place = {"rowIndex": str(region.cell.row), "columnIndex": str(region.cell.column)}
        ET.SubElement(ET.SubElement(element, f"{prefix}Roles"), f"{prefix}TableCellRole", place)
    return element


def kind_attributes(region: Region) -> tuple[str, str]:
    """The kind of a region as `type`, and where the schema does not know it, as an entry of `custom`."""
    kind = in_words_of({**KINDS, **ZONES}, region.kind)
    if kind in TYPES or not kind or (region.cell is not None and kind == TABLE):  # a cell is recognized by its table
        return kind if kind in TYPES else "", ""
    return "", structure(kind)


def add_line(parent: ET.Element, line: TextLine, index: int, ids: Identifiers) -> None:
    """Add a line with its position and text."""
    kind = [structure(in_words_of(LINES, line.kind))] if line.kind else []
    review = [f"drethtr {{review:{line.review};}}"] if line.review else []
    tags = map(entry_of, line.tags)
    custom = " ".join([f"readingOrder {{index:{index};}}", *kind, *tags, *unclear(line), *review])
    element = ET.SubElement(parent, "TextLine", id=ids.claim(line.id), custom=clean(custom))
    if line.flags:
        element.set("comments", clean("; ".join(map(str, line.flags))))
    add_coords(element, line.polygon or flat_polygon(line.baseline))
    if line.baseline:
        ET.SubElement(element, "Baseline", points=written(line.baseline))
    if line.transcription is not None:
        element.extend(transcription_elements(line.transcription, element.attrib["id"], ids))


def structure(kind: str) -> str:
    """The entry of `custom` for what a region or line is."""
    return f"structure {{type:{NOT_IN_CUSTOM.sub(' ', clean(kind))};}}"


def unclear(line: TextLine) -> list[str]:
    """The positions of doubtful words in the line's text, if they can be found in order."""
    doubts = line.transcription.doubts if line.transcription else ()
    return [f"unclear {{offset:{start}; length:{length};}}" for start, length in doubts]


def transcription_elements(transcription: Transcription, line_id: str, ids: Identifiers) -> list[ET.Element]:
    """The elements for the text of a line and, if their positions are known, its words."""
    placed = all(word.polygon for word in transcription.words)
    words = [
        word_element(word, index, ids.claim(f"{line_id}_w{index + 1}"))
        for index, word in enumerate(transcription.words if placed else ())
    ]
    return [*words, text_element(transcription.text, transcription.confidence)]


def word_element(word: PageWord, index: int, id: str, prefix: str = "") -> ET.Element:
    """A word with its position and text."""
    custom = f"readingOrder {{index:{index};}}"
    if word.doubtful:
        custom += f" unclear {{offset:0; length:{len(word.text)};}}"
    element = ET.Element(f"{prefix}Word", id=id, custom=custom)
    add_coords(element, word.polygon, prefix)
    element.append(text_element(word.text, word.confidence, prefix))
    return element


def text_element(text: str, confidence: float | None, prefix: str = "") -> ET.Element:
    """A text with its confidence."""
    element = ET.Element(f"{prefix}TextEquiv", {} if confidence is None else {"conf": f"{confidence:.4f}"})
    ET.SubElement(element, f"{prefix}Unicode").text = clean(text)
    return element


def add_coords(parent: ET.Element, polygon: Points | None, prefix: str = "") -> None:
    """Add a polygon, which PAGE requires even if it is unknown."""
    ET.SubElement(parent, f"{prefix}Coords", points=written(polygon or flat_polygon(None)))
