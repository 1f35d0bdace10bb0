"""Read PAGE XML as written by Transkribus, eScriptorium, kraken, OCR-D and others.

Source: https://github.com/PRImA-Research-Lab/PAGE-XML, versions 2013-07-15 to 2019-07-15; `custom` as in Transkribus.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from drethtr.base.errors import DataError
from drethtr.documents.markup import Element, ids_of
from drethtr.documents.page import (
    LINES,
    TABLE,
    CellPlace,
    Page,
    Parsed,
    Region,
    SizeOf,
    TextLine,
    file_name,
    refuse_many,
)
from drethtr.documents.page_xml.custom import Passage, moved, names_of, tags_of, without_tags
from drethtr.documents.points import PageScale, baseline_or_none, number_or_none, polygon_or_none
from drethtr.documents.transcription import PageWord, Review, Transcription

VERSIONS = ("2013-07-15", "2016-07-15", "2017-07-15", "2018-07-15", "2019-07-15")
NAMESPACES = tuple(f"http://schema.primaresearch.org/PAGE/gts/pagecontent/{version}" for version in VERSIONS)

CUSTOM_INDEX = re.compile(r"readingOrder\s*\{[^{}]*?index\s*:\s*(\d{1,9})")
CUSTOM_STRUCTURE = re.compile(r"\bstructure\s*\{[^{}]*?type\s*:\s*([^;{}]+)")
KINDS = {"paragraph": "text", "marginalia": "margin", "page-number": "number"}
"""PAGE's words for types of regions, with ours."""
ZONES = {"StampZone": "stamp"}
"""SegmOnto's words in `custom`, as written by eScriptorium, for regions without a type in PAGE."""
MAX_DIGITS = 9  # Python refuses to parse thousands of digits, and no real index, offset or length needs ten
UNCLEAR = "unclear"
"""The tag of a passage that could not be read with certainty."""
APPROVED = ("GT", "FINAL", "DONE")
"""The status of a page in Transkribus whose texts somebody has approved."""
CUSTOM_REVIEW = re.compile(r"\bdrethtr\s*\{[^{}]*?review\s*:\s*(corrected|confirmed)\b")


def read_page_xml(root: Element, name: str, size_of: SizeOf) -> Parsed:
    """Read the page of a PAGE document; nested regions follow the enclosing region.

    Raises:
        DataError: if it contains no page.
    """
    found = root.first("Page")
    if found is None:
        raise DataError("PAGE XML without a Page element", name)
    image = file_name(found.attributes.get("imageFilename", ""))
    oddities: list[str] = []
    sides = (found.attributes.get(side) or "0" for side in ("imageWidth", "imageHeight"))
    width, height = (round(number_or_none(side, name, oddities) or 0) for side in sides)
    size = (width, height) if width > 0 and height > 0 else size_of(image) or (0, 0)
    canvas = PageScale(*size, oddities=oddities)

    entries = in_reading_order(found, regions_below(found))
    regions = [entry.element for entry in entries]
    of_regions = [by_custom_index(region.all("TextLine")) for region in regions]
    refuse_many(sum(map(len, of_regions)), name)
    ids = iter(ids_of([line for lines in of_regions for line in lines], "id", "line"))
    lines, read_regions, texts = {}, [], around_texts(found)
    of_entries = zip(entries, ids_of(regions, "id", "region"), of_regions, strict=True)
    approved = is_approved(root)
    for (region, lineage), region_id, elements in of_entries:
        of_region = []
        for element, line_id in zip(elements, islice(ids, len(elements)), strict=True):
            line = read_line(element, line_id, canvas, name)
            if approved:
                line = confirmed(line)
            lines[line.id] = element
            of_region.append(line)
        where = f"{name}: region {region_id!r}"
        outline = polygon_or_none(canvas.points(points_of(region, "Coords"), where))
        cell, kind = cell_of(region, lineage), kind_of(region)
        text = text_of_region(region, texts)
        read_regions.append(
            Region(region_id, tuple(of_region), outline, kind or TABLE * (cell is not None), cell, text)
        )
    told = tuple(canvas.oddities)
    page = Page(image, canvas.width, canvas.height, tuple(read_regions), oddities=told, approved=approved)
    return Parsed(page, lines, (width, height))


def is_approved(root: Element) -> bool:
    """Whether the status of the page in Transkribus says that its texts are done."""
    metadata = root.first("Metadata", "TranskribusMetadata")
    return metadata is not None and metadata.attributes.get("status") in APPROVED


def confirmed(line: TextLine) -> TextLine:
    """A line of an approved page: its text counts as confirmed, unless a person has changed it since."""
    text = line.transcription
    if text is None or not text.text or text.review is not None:
        return line
    return replace(line, transcription=replace(text, review=Review.CONFIRMED))


class NestedRegion(NamedTuple):
    """A region that may contain lines; `lineage` are its id and those of the enclosing regions, innermost first."""

    element: Element
    lineage: tuple[str, ...]


def regions_below(parent: Element, lineage: tuple[str, ...] = ()) -> Iterator[NestedRegion]:
    """Each region that may contain lines, in an element of this lineage."""
    regions = [child for child in parent.children if child.name.endswith("Region") or child.name == "TableCell"]
    for region in by_custom_index(regions):
        ids = (region.attributes.get("id", ""), *lineage)
        if region.name in ("TextRegion", "TableCell") or region.first("TextLine"):
            yield NestedRegion(region, ids)
        yield from regions_below(region, ids)


def around_texts(page: Element) -> frozenset[int]:
    """The elements of a page that are or contain a text, by the `id` of the object."""
    found = set[int]()
    for element in reversed(list(page.walk())):  # the innermost first
        is_text = element.name == "TextEquiv" and raw_text(element).strip()
        if is_text or any(id(child) in found for child in element.children):
            found.add(id(element))
    return frozenset(found)


def text_of_region(region: Element, texts: Collection[int]) -> str:
    """The text of a region, with its line breaks; "" if anything within it has a text of its own, which it repeats."""
    if any(id(child) in texts for child in region.children if child.name != "TextEquiv"):
        return ""
    chosen = chosen_text(region)
    return raw_text(chosen).strip() if chosen else ""


def kind_of(region: Element) -> str:
    """What a region or line is: `structure {type:…;}` of `custom`, as in eScriptorium, else its type; "" if unknown."""
    if structure := CUSTOM_STRUCTURE.search(region.attributes.get("custom", "")):
        kind = structure[1].strip()
        return (LINES if region.name == "TextLine" else ZONES).get(kind, kind)
    kind = region.attributes.get("type", "")
    return KINDS.get(kind, kind)


def cell_of(region: Element, lineage: Sequence[str]) -> CellPlace | None:
    """The place of a region in its table: by its role, as in PAGE 2019, or by that of a TableCell of Transkribus."""
    if region.name == "TableCell":
        row, column = region.attributes.get("row"), region.attributes.get("col")
    elif role := region.first("Roles", "TableCellRole"):
        row, column = role.attributes.get("rowIndex"), role.attributes.get("columnIndex")
    else:
        return None
    return CellPlace(lineage[1] if len(lineage) > 1 else "", whole_number(row), whole_number(column))


def in_reading_order(page: Element, regions: Iterable[NestedRegion]) -> list[NestedRegion]:
    """Regions in the order of the page's ReadingOrder; those it omits come last."""
    order = page.first("ReadingOrder")
    rank: dict[str, int] = {}
    for reference in references(order) if order else ():
        rank.setdefault(reference, len(rank))
    last = len(rank)

    def place(region: NestedRegion) -> int:
        return next((rank[id] for id in region.lineage if id in rank), last)

    return sorted(regions, key=place)


def references(group: Element) -> Iterator[str]:
    """The region ids in a group of a reading order, in order."""
    for child in sorted(group.children, key=lambda child: whole_number(child.attributes.get("index"))):
        if reference := child.attributes.get("regionRef"):
            yield reference
        yield from references(child)


def by_custom_index(elements: Sequence[Element]) -> list[Element]:
    """Elements in the order of `custom="readingOrder {index:…;}"` if all have an index, else in file order."""
    matches = [CUSTOM_INDEX.search(element.attributes.get("custom", "")) for element in elements]
    index = [int(match[1]) for match in matches if match]
    if len(index) < len(elements):
        return list(elements)
    return [elements[i] for i in sorted(range(len(elements)), key=index.__getitem__)]


def read_line(element: Element, id: str, canvas: PageScale, name: str) -> TextLine:
    """A line with its position and, if available, its text."""
    where = f"{name}: line {id!r}"
    return TextLine(
        id,
        polygon_or_none(canvas.points(points_of(element, "Coords"), where)),
        baseline_or_none(canvas.points(points_of(element, "Baseline"), where)),
        read_transcription(element, canvas, where),
        kind_of(element),
    )


def points_of(element: Element, name: str) -> str:
    """The `points` attribute of a child; "" if there is no such child."""
    child = element.first(name)
    return child.attributes.get("points", "") if child else ""


def read_transcription(line: Element, canvas: PageScale, where: str) -> Transcription | None:
    """The text of a line, else of its words; None if it is empty and has neither confidence nor review."""
    words = []
    for element in by_custom_index(line.all("Word")):
        text, conf = read_text(element)
        if text:
            polygon = polygon_or_none(canvas.points(points_of(element, "Coords"), where))
            doubtful = UNCLEAR in names_of(element.attributes.get("custom", ""))
            words.append(PageWord(text, canvas.confidence(conf, where), polygon, doubtful))
    text, conf = read_text(line)
    confidence = canvas.confidence(conf, where)
    text = text or " ".join(word.text for word in words)
    review = review_of(line)
    known = text or confidence is not None or review is not None
    custom = without_tags(line.attributes.get("custom", ""), UNCLEAR, own_doubts(line))
    tags = tags_of(moved(custom, whole_text(line), text).custom)  # offsets count white space that we drop
    return Transcription(text, confidence, tuple(words), review=review, tags=tags) if known else None


def own_doubts(line: Element) -> frozenset[Passage]:
    """The doubtful words of a line: drethtr marks them at the line and at the word, a person at the line alone."""
    words = []
    for word in line.all("Word"):
        doubtful = UNCLEAR in names_of(word.attributes.get("custom", ""))
        words.append(PageWord(read_text(word)[0], doubtful=doubtful))
    return frozenset(Passage(*place) for place in Transcription(read_text(line)[0], words=tuple(words)).doubts)


def review_of(line: Element) -> Review | None:
    """What a person did with a line, from its `custom` attribute: `drethtr {review:confirmed;}`."""
    found = CUSTOM_REVIEW.search(line.attributes.get("custom", ""))
    return Review(found[1]) if found else None


def read_text(element: Element) -> tuple[str, str | None]:
    """The text of a line or word on one line, and its `conf`; of several, the non-empty one of lowest index."""
    chosen = chosen_text(element)
    return (in_one_row(raw_text(chosen)), chosen.attributes.get("conf")) if chosen else ("", None)


def whole_text(element: Element) -> str:
    """The text of a line or word, or of the words of a line, with all its white space, as tags count characters."""
    chosen = chosen_text(element)
    text = raw_text(chosen) if chosen else ""
    return text if text.strip() else " ".join(filter(None, (read_text(word)[0] for word in element.all("Word"))))


def chosen_text(element: Element) -> Element | None:
    """The TextEquiv that counts."""
    equivalents = element.all("TextEquiv")
    filled = [equivalent for equivalent in equivalents if raw_text(equivalent).strip()] or equivalents
    return min(filled, key=lambda equivalent: whole_number(equivalent.attributes.get("index")), default=None)


def raw_text(equivalent: Element) -> str:
    """The text of a TextEquiv with its white space."""
    found = (child.text for name in ("Unicode", "PlainText") if (child := equivalent.first(name)))
    return next(filter(str.strip, found), "")


def in_one_row(text: str) -> str:
    """A text without line breaks, and without white space at the ends of its rows."""
    return " ".join(filter(None, map(str.strip, text.splitlines())))


def whole_number(text: str | None) -> int:
    """Parse a whole number of at most `MAX_DIGITS` digits; 0 if it is none."""
    digits = (text or "").strip()
    return int(digits) if digits.isdecimal() and len(digits) <= MAX_DIGITS else 0
