"""Write TEI P5: a facsimile with a zone per region and line, and the text that points to them.

Source: https://www.tei-c.org/release/doc/tei-p5-doc/en/html/
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from xml.etree import ElementTree as ET

from drethtr.documents.document import Document, Provenance, address
from drethtr.documents.markup import Identifiers, as_file, clean
from drethtr.documents.page import Page, Region, TextLine, role_of, rows_of_table
from drethtr.documents.points import Box, Points, is_box, written
from drethtr.documents.transcription import Grade, PageWord

NAMESPACE = "http://www.tei-c.org/ns/1.0"

XML_ID = "{http://www.w3.org/XML/1998/namespace}id"

MACHINE = "drethtr"
"""The id of the transcriber; it is claimed first."""

VERSION = re.compile(r"\d+(?:\.\d+)*")
"""The part of a version that TEI's data type allows."""

CERTAINTY = {Grade.CERTAIN: "high", Grade.LIKELY: "high", Grade.UNLIKELY: "medium", Grade.GUESS: "low"}
"""The values of `cert` for doubtful words."""

UNCLEAR = (
    "Words that are doubtful to drethtr are marked unclear; cert is high if the word is right with a probability of 50 "
    "% or more, medium from 25 %, and low below."
)


class Block(NamedTuple):
    """A region, its element in the text, and the zone ids of its lines by line id."""

    region: Region
    element: ET.Element
    zones: Mapping[str, str]


def write_tei(document: Document) -> bytes:
    """Write all pages of a document."""
    root = ET.Element("TEI", xmlns=NAMESPACE)
    ids = Identifiers()
    add_header(root, document, ids.claim(MACHINE))
    facsimile = ET.SubElement(root, "facsimile")
    body = ET.SubElement(ET.SubElement(root, "text"), "body")
    blocks = []
    for number, page in zip(document.numbers, document.pages, strict=True):
        surface_id = ids.claim(f"page_{number}")
        surface = add_surface(facsimile, page, number, surface_id)
        ET.SubElement(body, "pb", n=str(number), facs=f"#{surface_id}")
        for regions in page.blocks:
            is_table = regions[0].cell is not None
            parents = table_cells(body, regions) if is_table else [text_element(body, regions[0])]
            blocks += [add_region(surface, parent, one, ids) for one, parent in zip(regions, parents, strict=True)]
    if not blocks:
        ET.SubElement(body, "ab")  # a body must not be empty
    ET.indent(root, " ")
    for block in blocks:  # after indenting, since white space between words belongs to the text
        fill(block)
    return as_file(root)


def add_header(root: ET.Element, document: Document, id: str) -> None:
    """Add the header: titles, source, editorial practice and provenance."""
    made_by = document.provenance
    header = ET.SubElement(root, "teiHeader")
    file = ET.SubElement(header, "fileDesc")
    titles = ET.SubElement(file, "titleStmt")
    images = list(dict.fromkeys(clean(page.image) or "an image without a name" for page in document.pages))
    ET.SubElement(titles, "title").text = " to ".join(dict.fromkeys((images[0], images[-1])))
    responsible = ET.SubElement(titles, "respStmt", {XML_ID: id})
    ET.SubElement(responsible, "resp").text = "automatic transcription"
    ET.SubElement(responsible, "name").text = clean(str(made_by))
    publication = ET.SubElement(file, "publicationStmt")
    ET.SubElement(publication, "p").text = "Unpublished."
    source = ET.SubElement(file, "sourceDesc")
    ET.SubElement(source, "p").text = f"Transcribed from images: {', '.join(images)}."
    encoding = ET.SubElement(header, "encodingDesc")
    practice = ET.SubElement(encoding, "editorialDecl")
    ET.SubElement(practice, "p").text = UNCLEAR
    read = [line.transcription for page in document.pages for line in page.lines if line.transcription is not None]
    if reviewed := sum(text.review is not None for text in read):
        ET.SubElement(practice, "p").text = f"A person has corrected or confirmed {reviewed} of {len(read)} lines."
    add_application(encoding, made_by)


def add_application(encoding: ET.Element, made_by: Provenance) -> None:
    """Add the version and the model."""
    version = VERSION.match(made_by.version)
    attributes = {"ident": "drethtr", "version": version[0] if version else "0", "when": made_by.timestamp}
    application = ET.SubElement(ET.SubElement(encoding, "appInfo"), "application", attributes)
    ET.SubElement(application, "label").text = clean(f"drethtr {made_by.version}")
    ET.SubElement(application, "desc").text = clean(f"model {made_by.model}")


def add_surface(facsimile: ET.Element, page: Page, number: int, id: str) -> ET.Element:
    """Add a page with its image."""
    known = page.width > 0 and page.height > 0
    box = Box(0, 0, page.width, page.height) if known else None
    surface = ET.SubElement(facsimile, "surface", {XML_ID: id, "n": str(number), **place(box)})
    if page.image:
        size = {"width": f"{page.width}px", "height": f"{page.height}px"} if known else {}
        ET.SubElement(surface, "graphic", {"url": address(page, number), **size})
    return surface


def text_element(body: ET.Element, region: Region) -> ET.Element:
    """Add an empty element for the text of a region that is not in a table."""
    match role_of(region.kind):
        case "margin":
            return ET.SubElement(ET.SubElement(body, "note", place="margin"), "ab")
        case "number":
            return ET.SubElement(body, "fw", type="pageNum")
        case "stamp":
            return ET.SubElement(ET.SubElement(body, "ab"), "stamp")
    return ET.SubElement(body, "ab")


def table_cells(body: ET.Element, regions: Sequence[Region]) -> list[ET.Element]:
    """Add a table with an element for each of its cells; these are returned in the order of the regions."""
    table = ET.SubElement(body, "table")
    elements: dict[str, ET.Element] = {}
    for row in rows_of_table(regions).values():
        element = ET.SubElement(table, "row")
        for cells in row.values():
            of_cell = ET.SubElement(element, "cell")
            elements |= {region.id: of_cell if len(cells) == 1 else ET.SubElement(of_cell, "ab") for region in cells}
    return [elements[region.id] for region in regions]


def add_region(surface: ET.Element, text: ET.Element, region: Region, ids: Identifiers) -> Block:
    """Add a region with its lines to the facsimile, and point from the element of its text there."""
    id = ids.claim(region.id)
    zone = add_zone(surface, "region", id, region.box, region.polygon)
    zones = {line.id: ids.claim(line.id) for line in region.lines}
    for line in region.lines:
        of_line = add_zone(zone, "line", zones[line.id], line.box, line.polygon)
        for flag in line.flags:
            ET.SubElement(of_line, "note", type="flag").text = clean(str(flag))
    text.set("facs", f"#{id}")
    return Block(region, text, zones)


def add_zone(parent: ET.Element, kind: str, id: str, box: Box | None, polygon: Points | None) -> ET.Element:
    """Add a zone to the surface, with its position in pixels if known."""
    zone = ET.SubElement(parent, "zone", {XML_ID: id, "type": kind, **place(box)})
    if polygon and not is_box(polygon):
        zone.set("points", written(polygon))
    return zone


def place(box: Box | None) -> dict[str, str]:
    """A box as attributes; none if unknown."""
    if box is None:
        return {}
    return {"ulx": str(box.left), "uly": str(box.top), "lrx": str(box.right), "lry": str(box.bottom)}


def fill(block: Block) -> None:
    """Add the text of the region's transcribed lines, each after a line break that points to its zone.

    Insertions stand in the line before them, where they are above it.
    """
    lines = [line for line in block.region.lines if line.transcription is not None]
    for line, insertions in with_insertions(lines):
        runs = list(line.transcription.parts if line.transcription else ())
        places = [(place_in(line, insertion), insertion) for insertion in insertions]
        ET.SubElement(block.element, "lb", facs=f"#{block.zones[line.id]}")
        for number, (part, word) in enumerate([*runs, ("", None)]):
            for place, insertion in places:
                if place == number:
                    add_part(block.element, " " * (number > 0), None)
                    add_insertion(block, insertion)
                    add_part(block.element, " " * (number == 0), None)
            add_part(block.element, clean(part), word)
        add_part(block.element, "\n   ", None)


def with_insertions(lines: Sequence[TextLine]) -> Iterator[tuple[TextLine, list[TextLine]]]:
    """Each line that others are inserted into, with these; an insertion without a line before it stands alone."""
    start = 0
    while start < len(lines):
        end = start + 1
        while end < len(lines) and role_of(lines[end].kind) == "insertion":
            end += 1
        yield lines[start], list(lines[start + 1 : end])
        start = end


def place_in(line: TextLine, insertion: TextLine) -> int:
    """The number of the part of a line before which an insertion stands: after the words that begin left of it."""
    parts = line.transcription.parts if line.transcription else ()
    boxes = [(number, word.box) for number, (_, word) in enumerate(parts) if word is not None]
    if insertion.box is None or not all(box for _, box in boxes):
        return len(parts)
    before = [number for number, box in boxes if box and (box.left + box.right) / 2 < insertion.box.left]
    return before[-1] + 1 if before else 0


def add_insertion(block: Block, line: TextLine) -> None:
    """Add what is written above a line."""
    added = ET.SubElement(block.element, "add", place="above", facs=f"#{block.zones[line.id]}")
    for part, word in line.transcription.parts if line.transcription else ():
        add_part(added, clean(part), word)


def add_part(parent: ET.Element, part: str, word: PageWord | None) -> None:
    """Add a part of a line to an element; a doubtful word is marked."""
    if word is not None and word.doubtful:
        ET.SubElement(parent, "unclear", doubt(word)).text = part
    elif len(parent):
        parent[-1].tail = (parent[-1].tail or "") + part
    else:
        parent.text = (parent.text or "") + part


def doubt(word: PageWord) -> dict[str, str]:
    """The attributes of a doubtful word: who doubts it, and the degree of certainty."""
    sure = {} if word.confidence is None else {"cert": CERTAINTY[Grade.of(word.confidence)]}
    return {"resp": f"#{MACHINE}", **sure}
