"""Write TEI P5: a facsimile with a zone per region and line, and the text in paragraphs, whose lines point to them.

Source: https://www.tei-c.org/release/doc/tei-p5-doc/en/html/
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from xml.etree import ElementTree as ET

from drethtr.documents.document import Document, Provenance, Sheet, address
from drethtr.documents.markup import Identifiers, as_file, clean
from drethtr.documents.page import Page, Region, TextLine, role_of, rows_of_table
from drethtr.documents.points import Box, Points, is_box, written
from drethtr.documents.reflow import RAISED, is_hyphenated, paragraphs, places_in, with_insertions
from drethtr.documents.transcription import Grade, PageWord, Transcription

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

RESPONSIBLE = "Where the beginning of a line has resp, that person did so last."

NAMES = {
    "person": "persName",
    "place": "placeName",
    "organization": "orgName",
    "date": "date",
    "abbrev": "abbr",
    "unclear": "unclear",
    "deleted": "del",
    "added": "add",
}
"""Elements for tags; further names that some of them have in Transkribus are left out."""

BETWEEN = ("pb", "note", "fw")
"""Elements between paragraphs; a body must have another one."""

MAX_NESTED = 40
"""Maximum number of elements within each other in a line: no reading has as many, and XML is written recursively."""

LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")
ADDRESS = re.compile(r"https?://[^\s<>\"{}|\\^`]+")


class Span(NamedTuple):
    """A passage of a line that becomes an element; an abbreviation may have an expansion.

    Where a line is inserted, the passage is empty.
    """

    start: int
    end: int
    name: str
    attributes: Mapping[str, str] = {}
    expansion: str = ""
    inserted: TextLine | None = None


class Block(NamedTuple):
    """A paragraph: its element, its lines with insertions into them, and attributes by the ids of lines.

    These are the zone of a line, and who is responsible for its text.
    """

    element: ET.Element
    lines: Mapping[TextLine, Sequence[TextLine]]
    attributes: Mapping[str, Mapping[str, str]]


def write_tei(document: Document) -> bytes:
    """Write all pages of a document."""
    root = ET.Element("TEI", xmlns=NAMESPACE)
    if LANGUAGE.fullmatch(document.about.language):
        root.set("{http://www.w3.org/XML/1998/namespace}lang", document.about.language)
    ids = Identifiers()
    machine = ids.claim(MACHINE)
    names = dict.fromkeys(name for sheet in document.sheets for _, name in responsible(sheet))
    people = {name: ids.claim(f"person_{number}") for number, name in enumerate(names, 1)}
    add_header(root, document, machine, people)
    facsimile = ET.SubElement(root, "facsimile")
    body = ET.SubElement(ET.SubElement(root, "text"), "body")
    blocks = []
    numbered = zip(document.numbers, document.numbers_in_files, document.sheets, strict=True)
    for number, in_file, sheet in numbered:
        page, resp = sheet.page, {line: f"#{people[name]}" for line, name in responsible(sheet)}
        surface_id = ids.claim(f"page_{number}")
        surface = add_surface(facsimile, page, number, address(page, in_file), surface_id)
        ET.SubElement(body, "pb", n=str(number), facs=f"#{surface_id}")
        for regions in page.blocks:
            cells = table_cells(body, regions) if regions[0].cell is not None else [None]
            for region, cell in zip(regions, cells, strict=True):
                blocks += add_region(surface, body if cell is None else cell, region, ids, resp)
    if all(element.tag in BETWEEN for element in body):
        ET.SubElement(body, "p")
    ET.indent(root, " ")
    for block in blocks:  # after indenting, since white space between words belongs to the text
        fill(block)
    return as_file(root)


def responsible(sheet: Sheet) -> Iterator[tuple[str, str]]:
    """The ids of lines for whose text a known person is responsible, with the name."""
    for line in sheet.page.lines:
        name = clean(sheet.people.get(line.id, "")).strip()
        if name and line.is_reviewed:
            yield line.id, name


def add_header(root: ET.Element, document: Document, id: str, people: Mapping[str, str]) -> None:
    """Add the header: titles, source, editorial practice and provenance; `people` have ids by their names."""
    made_by = document.provenance
    header = ET.SubElement(root, "teiHeader")
    file = ET.SubElement(header, "fileDesc")
    titles = ET.SubElement(file, "titleStmt")
    images = list(dict.fromkeys(clean(page.image) or "an image without a name" for page in document.pages))
    about = document.about
    ET.SubElement(titles, "title").text = clean(about.title) or " to ".join(dict.fromkeys((images[0], images[-1])))
    editors = [clean(name).strip() for name in about.editors.split(";") if name.strip()]
    for name, persons in (("author", [clean(about.author)] if about.author else []), ("editor", editors)):
        for person in persons:
            ET.SubElement(titles, name).text = person
    add_responsible(titles, id, "automatic transcription", "name", clean(str(made_by)))
    for name, person_id in people.items():
        add_responsible(titles, person_id, "correction of the transcription", "persName", name)
    publication = ET.SubElement(file, "publicationStmt")
    if about.licence:
        ET.SubElement(publication, "publisher").text = ", ".join(editors) or "drethtr"
        licence = ET.SubElement(ET.SubElement(publication, "availability"), "licence")
        licence.text = clean(about.licence)
        if ADDRESS.fullmatch(about.licence):
            licence.set("target", about.licence)
    else:
        ET.SubElement(publication, "p").text = "Unpublished."
    source = ET.SubElement(file, "sourceDesc")
    images_told = f"Transcribed from images: {', '.join(images)}."
    ET.SubElement(source, "p").text = f"{clean(about.shelf_mark)}. {images_told}" if about.shelf_mark else images_told
    encoding = ET.SubElement(header, "encodingDesc")
    practice = ET.SubElement(encoding, "editorialDecl")
    ET.SubElement(practice, "p").text = UNCLEAR
    read = [line.transcription for page in document.pages for line in page.lines if line.transcription is not None]
    if reviewed := sum(text.review is not None for text in read):
        share = f"A person has corrected or confirmed {reviewed} of {len(read)} lines."
        ET.SubElement(practice, "p").text = f"{share} {RESPONSIBLE}" if people else share
    add_application(encoding, made_by)


def add_responsible(titles: ET.Element, id: str, what: str, kind: str, name: str) -> None:
    """Add who did what, under an id."""
    statement = ET.SubElement(titles, "respStmt", {XML_ID: id})
    ET.SubElement(statement, "resp").text = what
    ET.SubElement(statement, kind).text = name


def add_application(encoding: ET.Element, made_by: Provenance) -> None:
    """Add the version and the model."""
    version = VERSION.match(made_by.version)
    attributes = {"ident": "drethtr", "version": version[0] if version else "0", "when": made_by.timestamp}
    application = ET.SubElement(ET.SubElement(encoding, "appInfo"), "application", attributes)
    ET.SubElement(application, "label").text = clean(f"drethtr {made_by.version}")
    ET.SubElement(application, "desc").text = clean(f"model {made_by.model}")


def add_surface(facsimile: ET.Element, page: Page, number: int, url: str, id: str) -> ET.Element:
    """Add a page with its image, which is at `url`."""
    known = page.width > 0 and page.height > 0
    box = Box(0, 0, page.width, page.height) if known else None
    surface = ET.SubElement(facsimile, "surface", {XML_ID: id, "n": str(number), **place(box)})
    if page.image:
        size = {"width": f"{page.width}px", "height": f"{page.height}px"} if known else {}
        ET.SubElement(surface, "graphic", {"url": url, **size})
    return surface


def table_cells(body: ET.Element, regions: Sequence[Region]) -> list[ET.Element]:
    """Add a table with an element for each of its cells; these are returned in the order of the regions."""
    table = ET.SubElement(body, "table")
    elements: dict[str, ET.Element] = {}
    for row in rows_of_table(regions).values():
        element = ET.SubElement(table, "row")
        for cells in row.values():
            of_cell = ET.SubElement(element, "cell")
            elements |= {region.id: of_cell if len(cells) == 1 else ET.SubElement(of_cell, "p") for region in cells}
    return [elements[region.id] for region in regions]


def add_region(
    surface: ET.Element, parent: ET.Element, region: Region, ids: Identifiers, resp: Mapping[str, str]
) -> list[Block]:
    """Add a region with its lines to the facsimile, and point from the elements of its paragraphs there.

    `resp` points from the ids of lines to who is responsible for them.
    """
    id = ids.claim(region.id)
    zone = add_zone(surface, "region", id, region.box, region.polygon)
    zones = {line.id: ids.claim(line.id) for line in region.lines}
    for line in region.lines:
        of_line = add_zone(zone, "line", zones[line.id], line.box, line.polygon)
        for flag in line.flags:
            ET.SubElement(of_line, "note", type="flag").text = clean(str(flag))
    lines = dict(with_insertions([line for line in region.lines if line.transcription is not None]))
    attributes = {
        line: {"facs": f"#{zone_id}"} | ({"resp": resp[line]} if line in resp else {})
        for line, zone_id in zones.items()
    }
    if region.cell is not None:
        parent.set("facs", f"#{id}")
        return [Block(parent, lines, attributes)]
    role = role_of(region.kind)
    if role == "number":
        return [Block(ET.SubElement(parent, "fw", type="pageNum", facs=f"#{id}"), lines, attributes)]
    if role == "margin":
        parent = ET.SubElement(parent, "note", place="margin")
    blocks = []
    for part in list(paragraphs(list(lines))) or [[]]:
        element = ET.SubElement(parent, "p", facs=f"#{id}")
        within = ET.SubElement(element, "stamp") if role == "stamp" else element
        blocks.append(Block(within, {line: lines[line] for line in part}, attributes))
    return blocks


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
    """Add the lines of a paragraph, each after a line break that points to its zone; within a word without space."""
    before = ""
    for line, insertions in block.lines.items():
        is_broken = is_hyphenated(before, line.text)
        if len(block.element) and not is_broken:
            begin_row(block.element)
        broken = {"break": "no"} if is_broken else {}
        last = ET.SubElement(block.element, "lb", {**broken, **block.attributes[line.id]})
        before, spans = line.text, list(spans_of(line))
        for place, insertion in zip(places_in(line, insertions), insertions, strict=True):
            above = {"place": "above", **block.attributes[insertion.id]}
            spans.append(Span(place, place, "add", above, inserted=insertion))
        add_text(block.element, last, before, 0, len(before), nested(spans))
    if len(block.element):
        begin_row(block.element)


def add_text(
    parent: ET.Element, last: ET.Element | None, text: str, start: int, end: int, spans: list[Span]
) -> ET.Element | None:
    """Add a passage of a text behind the last child of an element, with the spans in it, which are taken from the list.

    Returns the last child after that.
    """
    while spans and (spans[0].start < end or spans[0].start == end == len(text)):  # an insertion may end the text
        span = spans.pop(0)
        append(parent, last, text[start : span.start])
        if span.inserted is not None:
            append(parent, last, " " * (span.start > 0))
            last = ET.SubElement(parent, span.name, dict(span.attributes))
            add_text(last, None, span.inserted.text, 0, len(span.inserted.text), nested(spans_of(span.inserted)))
            append(parent, last, " " * (span.start == 0))
            start = span.end
            continue
        outer = ET.SubElement(parent, "choice") if span.expansion else parent
        element = ET.SubElement(outer, span.name, dict(span.attributes))
        begin = span.start + (span.name == "hi")  # after the sign for raised letters
        add_text(element, None, text, begin, span.end, spans)
        if span.expansion:
            ET.SubElement(outer, "expan").text = clean(span.expansion)
        last, start = (outer if span.expansion else element), span.end
    append(parent, last, text[start:end])
    return last


def begin_row(parent: ET.Element) -> None:
    """Begin a row of the file behind the last child of an element."""
    parent[-1].tail = f"{parent[-1].tail or ''}\n   "


def append(parent: ET.Element, last: ET.Element | None, text: str) -> None:
    """Add text behind the last child of an element, or as its first."""
    if last is None:
        parent.text = (parent.text or "") + clean(text)
    else:
        last.tail = (last.tail or "") + clean(text)


def spans_of(line: TextLine) -> Iterator[Span]:
    """The doubtful words of a line, its tags, and its raised letters."""
    text, start = line.transcription or Transcription(""), 0
    for part, word in text.parts:
        if word is not None and word.doubtful:
            yield Span(start, start + len(part), "unclear", doubt(word))
        start += len(part)
    for tag in text.tags:
        if tag.name in NAMES and tag.length:
            expansion = tag.detail("expansion") if tag.name == "abbrev" else ""
            yield Span(tag.start, tag.start + tag.length, NAMES[tag.name], {}, expansion)
    for found in RAISED.finditer(text.text):
        yield Span(*found.span(), "hi", {"rend": "superscript"})


def nested(spans: Iterable[Span]) -> list[Span]:
    """Spans in the order in which their elements begin; of two that cross, only the first, and at most `MAX_NESTED`."""
    kept, around = list[Span](), list[Span]()
    for span in sorted(spans, key=lambda span: (span.start, -span.end, span.name == "hi", span.inserted is not None)):
        while around and around[-1].end <= span.start:
            around.pop()
        if len(around) < MAX_NESTED and (not around or span.end <= around[-1].end):
            kept.append(span)
            around.append(span)
    return kept


def doubt(word: PageWord) -> dict[str, str]:
    """The attributes of a doubtful word: who doubts it, and the degree of certainty."""
    sure = {} if word.confidence is None else {"cert": CERTAINTY[Grade.of(word.confidence)]}
    return {"resp": f"#{MACHINE}", **sure}
