"""Write ALTO 4.4, with tags for doubtful words and flagged lines."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple
from xml.etree import ElementTree as ET

from drethtr.documents.alto.reader import (
    COLUMN,
    CONFIRMED,
    DOUBTFUL,
    NAMESPACES,
    OF_BLOCKS,
    OF_LINES,
    OURS,
    ROW,
    SEGMONTO,
)
from drethtr.documents.document import Document, Provenance
from drethtr.documents.markup import Identifiers, clean, serialize
from drethtr.documents.page import LINES, TABLE, Page, Region, TextLine, in_words_of
from drethtr.documents.points import Box, Points, is_box, written
from drethtr.documents.transcription import PageWord, Review, Transcription

NAMESPACE = NAMESPACES[-1]
SCHEMA_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"


class Style(NamedTuple):
    """How elements are written into a file.

    prefix     namespace prefix with its colon, or ""
    shapes     whether a String may have a polygon, as since ALTO 3.1
    doubtful   id of the tag for doubtful words, or ""
    flags      ids of the tags for flags of lines, by the text of the flag
    confirmed  id of the tag for confirmed lines, or ""
    regions    ids of the tags of regions, by their labels: kinds, and rows and columns of tables
    lines      ids of the tags of lines, by the kinds of lines
    """

    prefix: str = ""
    shapes: bool = True
    doubtful: str = ""
    flags: Mapping[str, str] = MappingProxyType({})
    confirmed: str = ""
    regions: Mapping[str, str] = MappingProxyType({})
    lines: Mapping[str, str] = MappingProxyType({})


def write_alto(document: Document) -> bytes:
    """Write a single-page document."""
    [page], [number] = document.pages, document.numbers
    ids = Identifiers()
    root = ET.Element(
        "alto",
        {
            "xmlns": NAMESPACE,
            "xmlns:xsi": SCHEMA_INSTANCE,
            "xsi:schemaLocation": f"{NAMESPACE} http://www.loc.gov/standards/alto/v4/alto-4-4.xsd",
            "SCHEMAVERSION": "4.4",
        },
    )
    add_description(root, page, document.provenance, ids)
    style = add_tags(root, page, ids)
    size = {"WIDTH": str(page.width), "HEIGHT": str(page.height)}
    layout = ET.SubElement(root, "Layout")
    of_page = {"ID": ids.claim("drethtr_page"), "PHYSICAL_IMG_NR": str(number), **size}
    element = ET.SubElement(layout, "Page", of_page)
    space = ET.SubElement(element, "PrintSpace", {"HPOS": "0", "VPOS": "0", **size})
    for block in page.blocks:
        parent = space
        if (cell := block[0].cell) is not None:
            parent = ET.SubElement(space, "ComposedBlock", {"ID": ids.claim(cell.table or "table"), "TYPE": TABLE})
        for region in block:
            add_block(parent, region, ids, style)
    return serialize(root)


def add_tags(root: ET.Element, page: Page, ids: Identifiers) -> Style:
    """Add tags, as needed, for doubtful words, for each flag, for confirmed lines, and for regions."""
    confirmed = any(line.review is Review.CONFIRMED for line in page.lines)
    doubtful = any(word.doubtful for line in page.lines for word in line.words)
    flags = {str(flag): flag for line in page.lines for flag in line.flags}
    labels = dict.fromkeys(label for region in page.regions for label in labels_of(region))
    kinds = dict.fromkeys(line.kind for line in page.lines if line.kind)
    if not (doubtful or flags or confirmed or labels or kinds):
        return Style()
    tags = ET.SubElement(root, "Tags")

    def tag(label: str, description: str) -> str:
        id = ids.claim(f"{OURS}{label}")
        ET.SubElement(tags, "OtherTag", {"ID": id, "LABEL": clean(label), "DESCRIPTION": clean(description)})
        return id

    return Style(
        doubtful=tag(DOUBTFUL, "words whose reading is uncertain") if doubtful else "",
        flags={text: tag(flag.kind, flag.reason) for text, flag in flags.items()},
        confirmed=tag(CONFIRMED, "lines confirmed by a person") if confirmed else "",
        regions={label: tag(label, f"{OF_BLOCKS}{label}") for label in labels},
        lines={kind: tag(word := in_words_of(LINES, kind), f"{OF_LINES}{word}") for kind in kinds},
    )


def labels_of(region: Region) -> list[str]:
    """The labels of a region: its kind in SegmOnto's words where there is one, and its row and column in a table."""
    cell = region.cell
    place = [ROW.format(cell.row), COLUMN.format(cell.column)] if cell is not None else []
    kind = "" if cell is not None and region.kind == TABLE else SEGMONTO.get(region.kind, region.kind)
    return [kind] * bool(kind) + place


def add_description(root: ET.Element, page: Page, provenance: Provenance, ids: Identifiers) -> None:
    """Add the unit of measurement, the image name, and the provenance."""
    description = ET.SubElement(root, "Description")
    ET.SubElement(description, "MeasurementUnit").text = "pixel"
    source = ET.SubElement(description, "sourceImageInformation")
    ET.SubElement(source, "fileName").text = clean(page.image)
    processing = ET.SubElement(description, "Processing", ID=ids.claim("drethtr"))
    ET.SubElement(processing, "processingCategory").text = "contentGeneration"
    ET.SubElement(processing, "processingDateTime").text = provenance.timestamp
    software = ET.SubElement(processing, "processingSoftware")
    ET.SubElement(software, "softwareName").text = "drethtr"
    ET.SubElement(software, "softwareVersion").text = clean(provenance.version)
    ET.SubElement(software, "applicationDescription").text = clean(f"model {provenance.model}")


def add_block(space: ET.Element, region: Region, ids: Identifiers, style: Style) -> None:
    """Add a region with its lines."""
    block = ET.SubElement(space, f"{style.prefix}TextBlock", {"ID": ids.claim(region.id), **place(region.box)})
    if labels := labels_of(region):
        block.set("TAGREFS", " ".join(style.regions[label] for label in labels))
    add_shape(block, region.polygon, style.prefix)
    for line in region.lines:
        attributes = {"ID": ids.claim(line.id), **place(line.box if line.polygon else None)}
        tags = [style.lines[line.kind]] if line.kind in style.lines else []
        tags += [style.flags[str(flag)] for flag in line.flags]
        if line.review is not None:
            attributes["CS"] = "true"
            tags += [style.confirmed] if line.review is Review.CONFIRMED else []
        if tags:
            attributes["TAGREFS"] = " ".join(tags)
        if line.baseline:
            attributes["BASELINE"] = written(line.baseline)
        element = ET.SubElement(block, "TextLine", attributes)
        add_shape(element, line.polygon, style.prefix)  # even for a box, because kraken reads only polygons
        for number, string in enumerate(string_elements(line, ids, style)):
            if number:
                ET.SubElement(element, f"{style.prefix}SP")
            element.append(string)


def add_shape(parent: ET.Element, polygon: Points | None, prefix: str) -> None:
    """Add a polygon, if known."""
    if polygon:
        shape = ET.SubElement(parent, f"{prefix}Shape")
        ET.SubElement(shape, f"{prefix}Polygon", POINTS=written(polygon))


def words_of(line: TextLine) -> Sequence[PageWord]:
    """The words of a line, or one with its whole text if they do not add up to that."""
    text = line.transcription or Transcription("")
    if text.words and " ".join(word.text for word in text.words) == text.text:
        return text.words
    box = line.box if line.polygon else None
    return [PageWord(text.text, text.confidence, box and box.polygon())]


def string_elements(line: TextLine, ids: Identifiers, style: Style) -> list[ET.Element]:
    """The words of a line, without the spaces between them."""
    return [
        string_element(word, ids.claim(f"{line.id}_s{number}"), style) for number, word in enumerate(words_of(line), 1)
    ]


def string_element(word: PageWord, id: str, style: Style) -> ET.Element:
    """A word with its position and text."""
    attributes = {"ID": id, "CONTENT": clean(word.text), **place(word.box)}
    if word.confidence is not None:
        attributes["WC"] = f"{word.confidence:.4f}"
    if word.doubtful and style.doubtful:
        attributes["TAGREFS"] = style.doubtful
    element = ET.Element(f"{style.prefix}String", attributes)
    if style.shapes and word.polygon and not is_box(word.polygon):
        add_shape(element, word.polygon, style.prefix)
    return element


def place(box: Box | None) -> dict[str, str]:
    """A box as attributes; none if unknown."""
    if box is None:
        return {}
    return {"HPOS": str(box.left), "VPOS": str(box.top), "WIDTH": str(box.width), "HEIGHT": str(box.height)}
