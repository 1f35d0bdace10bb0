"""Read ALTO as written by digital libraries, ABBYY, eScriptorium and kraken.

Source: https://github.com/altoxml/schema, versions 2.0 to 4.4.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from operator import itemgetter
from typing import NamedTuple, Self

from drethtr.base.errors import DataError
from drethtr.documents.markup import Element, clean, ids_of
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
from drethtr.documents.points import (
    SEPARATORS,
    Box,
    PageScale,
    Points,
    baseline_or_none,
    number_or_none,
    polygon_or_none,
)
from drethtr.documents.transcription import HYPHENS, PageWord, Review, Tag, Transcription

NAMESPACES = tuple(f"http://www.loc.gov/standards/alto/ns-v{version}#" for version in (2, 3, 4))

DOUBTFUL = "doubtful"
"""Label of the tag for doubtful words."""

CONFIRMED = "confirmed"
"""Label of the tag for lines that a person confirmed; `CS="true"` marks all reviewed lines."""

SEGMONTO = {"text": "MainZone", "margin": "MarginTextZone", "number": "NumberingZone", "stamp": "StampZone"}
"""Our kinds of regions in the vocabulary of SegmOnto, which eScriptorium uses."""

OURS = "drethtr_"
"""Prefix of the ids of our tags."""

OF_BLOCKS, OF_LINES = "block type ", "line type "
"""Prefixes of eScriptorium's descriptions of tags of blocks and lines."""

ROW, COLUMN = "row {}", "column {}"
"""Labels of tags for the place of a cell in its table, which is a ComposedBlock."""
PLACE = re.compile(r"(row|column) (\d{1,9})")

ASSUMED_DPI = 300
PIXELS = {"pixel": 1.0, "mm10": ASSUMED_DPI / 254, "inch1200": ASSUMED_DPI / 1200}
"""Pixels per unit of measurement at the assumed resolution; ALTO 2 defaults to `mm10`."""


def read_alto(root: Element, name: str, size_of: SizeOf) -> Parsed:
    """Read the page of an ALTO document, in pixels of the image, or at 300 dpi if the image is missing.

    Raises:
        DataError: if it does not contain exactly one page, or in an unknown unit.
    """
    layout = root.first("Layout")
    pages = layout.all("Page") if layout else []
    if len(pages) != 1:
        raise DataError(f"ALTO with {len(pages)} Page elements; expected one page per file", name)
    source = root.first("Description", "sourceImageInformation", "fileName")
    image = file_name(source.text) if source else ""
    canvas = canvas_of(root, pages[0], image, name, size_of)
    kinds, tables, tags = labels_of_blocks(root), tables_of(pages[0]), LineTags.of(root)

    rank = explicit_order(root)
    blocks = [block for _, block in sorted(blocks_below(pages[0], rank, len(rank)), key=itemgetter(0))]
    of_blocks = [ordered(block.all("TextLine"), rank) for block in blocks]
    refuse_many(sum(map(len, of_blocks)), name)
    ids = iter(ids_of([line for lines in of_blocks for line in lines], "ID", "line"))
    lines, regions = {}, []
    for block, block_id, elements in zip(blocks, ids_of(blocks, "ID", "region"), of_blocks, strict=True):
        of_block = []
        for element, line_id in zip(elements, islice(ids, len(elements)), strict=True):
            lines[line_id] = element
            of_block.append(read_line(element, line_id, canvas, tags, name))
        outline = outline_of(block, canvas, f"{name}: block {block_id!r}")
        regions.append(Region(block_id, tuple(of_block), outline, *kind_and_cell(block, kinds, tables)))
    width, height = map(round, size_in_units(pages[0], name, []))  # invalid values were noted with the scale
    page = Page(image, canvas.width, canvas.height, tuple(regions), oddities=tuple(canvas.oddities))
    if width <= 0 or height <= 0:
        width, height = (round(pixels / canvas.scale) for pixels in (canvas.width, canvas.height))
    return Parsed(page, lines, (width, height))


def canvas_of(root: Element, page: Element, image: str, name: str, size_of: SizeOf) -> PageScale:
    """The size of the page in pixels, and the pixels per unit."""
    element = root.first("Description", "MeasurementUnit")
    unit = element.text.strip() if element else "mm10" if root.namespace == NAMESPACES[0] else "pixel"
    if unit not in PIXELS:
        raise DataError(f"unknown MeasurementUnit {unit!r}; known: {', '.join(PIXELS)}", name)
    oddities: list[str] = []
    width, height = size_in_units(page, name, oddities)
    missing = round(width) <= 0 or round(height) <= 0
    size = size_of(image) if missing or unit != "pixel" else None
    if size is None:
        scale = PIXELS[unit]
        pixels = (0, 0) if missing else (round(width * scale), round(height * scale))
        return PageScale(*pixels, scale, oddities)
    return PageScale(*size, PIXELS[unit] if missing or unit == "pixel" else size[0] / width, oddities)


def size_in_units(page: Element, name: str, oddities: list[str]) -> tuple[float, float]:
    """Width and height of a page in units of the file, 0 if unknown or odd."""
    width, height = (page.attributes.get(side) or "0" for side in ("WIDTH", "HEIGHT"))
    return number_or_none(width, name, oddities) or 0, number_or_none(height, name, oddities) or 0


def labels_by_id(root: Element, description: str = "", *names: str) -> Mapping[str, str]:
    """The labels of tags by their ids: of all, or of those that are described so or have one of these names."""
    tags = root.first("Tags")
    found = (
        tag.attributes
        for tag in (tags.children if tags else ())
        if tag.name in names or tag.attributes.get("DESCRIPTION", "").startswith(description)
    )
    return {tag.get("ID", ""): tag.get("LABEL", "") for tag in found}


def tags_of(root: Element, label: str) -> frozenset[str]:
    """The ids of tags with a label."""
    return frozenset(id for id, own in labels_by_id(root).items() if own == label)


def labels_of_blocks(root: Element) -> Mapping[str, str]:
    """The labels of tags for kinds of blocks, by their ids: layout tags, or tags described as block types."""
    return labels_by_id(root, OF_BLOCKS, "LayoutTag", "StructureTag")


class LineTags(NamedTuple):
    """The tags of a file for lines and words, by their ids: tags by people, and kinds of lines."""

    labels: Mapping[str, str]
    kinds: Mapping[str, str]
    doubtful: frozenset[str]
    confirmed: frozenset[str]

    @classmethod
    def of(cls, root: Element) -> Self:
        """The tags of a file."""
        kinds, doubtful, confirmed = labels_by_id(root, OF_LINES), tags_of(root, DOUBTFUL), tags_of(root, CONFIRMED)
        others = {*kinds, *doubtful, *confirmed}
        labels = {id: label for id, label in labels_by_id(root).items() if id not in others and not id.startswith(OURS)}
        return cls(labels, kinds, doubtful, confirmed)


def tables_of(page: Element) -> Mapping[int, str]:
    """The ids of the tables that blocks are part of, by the place of the block in the file."""
    found: dict[int, str] = {}
    waiting: list[tuple[Element, str | None]] = [(page, None)]
    while waiting:
        element, table = waiting.pop()
        if element.name == "ComposedBlock" and element.attributes.get("TYPE", "").lower() == TABLE:
            table = element.attributes.get("ID", "")
        if element.name == "TextBlock" and table is not None:
            found[element.start] = table
        waiting += [(child, table) for child in element.children]
    return found


def kind_and_cell(block: Element, labels: Mapping[str, str], tables: Mapping[int, str]) -> tuple[str, CellPlace | None]:
    """What a block is, and its place in its table, by its tags."""
    own = [labels[id] for id in block.attributes.get("TAGREFS", "").split() if id in labels]
    place = {match[1]: int(match[2]) for label in own if (match := PLACE.fullmatch(label))}
    kind = next((label for label in own if not PLACE.fullmatch(label)), "")
    ours = {theirs: word for word, theirs in SEGMONTO.items()}
    table = tables.get(block.start)
    cell = None if table is None or len(place) < 2 else CellPlace(table, place["row"], place["column"])
    return ours.get(kind, kind) or TABLE * (cell is not None), cell


def explicit_order(root: Element) -> Mapping[str, int]:
    """The positions of blocks and lines in the first reading order of ALTO 4.3 and later; empty if there is none."""
    order = root.first("ReadingOrder")
    rank: dict[str, int] = {}
    for element in order.children[0].walk() if order and order.children else ():
        for reference in element.attributes.get("REF", "").split():
            rank.setdefault(reference, len(rank))
    return rank


def blocks_below(parent: Element, rank: Mapping[str, int], around: int) -> Iterator[tuple[int, Element]]:
    """The TextBlocks with their positions in `rank`; a block without one takes that of the enclosing block."""
    for child in parent.children:
        if child.name == "TextBlock":
            yield place_in(rank, child, around), child
        yield from blocks_below(child, rank, rank.get(child.attributes.get("ID", ""), around))


def ordered(elements: Sequence[Element], rank: Mapping[str, int]) -> list[Element]:
    """Elements by their positions in `rank`; those without come last."""
    return sorted(elements, key=lambda element: place_in(rank, element, len(rank)))


def place_in(rank: Mapping[str, int], element: Element, default: int) -> int:
    """The first position of an element or its descendants."""
    ids = (part.attributes.get("ID", "") for part in (element, *element.children))
    return min((rank[id] for id in ids if id in rank), default=default)


def read_line(element: Element, id: str, canvas: PageScale, tags: LineTags, name: str) -> TextLine:
    """A line with its position and, if available, its text."""
    where = f"{name}: line {id!r}"
    outline, baseline = outline_of(element, canvas, where), baseline_of(element, canvas, where)
    text = read_transcription(element, canvas, tags.doubtful, where)
    if (review := review_of(element, tags.confirmed)) is not None:  # a reviewed line has a text, even if it is empty
        text = replace(text or Transcription(""), review=review)
    own = element.attributes.get("TAGREFS", "").split()
    kind = next((tags.kinds[id] for id in own if id in tags.kinds), "")
    ids = (*own, *(id for string in element.all("String") for id in string.attributes.get("TAGREFS", "").split()))
    labels = tuple(Tag(name) for name in sorted({tags.labels[id] for id in ids if id in tags.labels}))
    return TextLine(id, outline, baseline, text and replace(text, tags=labels), LINES.get(kind, kind))


def review_of(line: Element, confirmed: frozenset[str]) -> Review | None:
    """The review of a line."""
    if not confirmed.isdisjoint(line.attributes.get("TAGREFS", "").split()):
        return Review.CONFIRMED
    return Review.CORRECTED if line.attributes.get("CS", "").strip() in ("true", "1") else None


def outline_of(element: Element, canvas: PageScale, where: str) -> Points | None:
    """The polygon of an element, else the box in its attributes, else None."""
    polygon = element.first("Shape", "Polygon")
    if polygon and (points := polygon_or_none(canvas.points(polygon.attributes.get("POINTS", ""), where))):
        return points
    given = [element.attributes.get(side) for side in ("HPOS", "VPOS", "WIDTH", "HEIGHT")]
    sides = [number for side in given if side and (number := canvas.number(side, where)) is not None]
    if len(sides) < len(given):
        return None
    left, top, width, height = sides
    corners = canvas.inside(left, top), canvas.inside(left + width, top + height)
    return polygon_or_none(Box(*corners[0], *corners[1]).polygon())


def baseline_of(line: Element, canvas: PageScale, where: str) -> Points | None:
    """The baseline; before ALTO 4.2 a single number, the y of a horizontal baseline."""
    text = line.attributes.get("BASELINE", "").strip()
    if not text or SEPARATORS.search(text):
        return baseline_or_none(canvas.points(text, where))
    given = (text, line.attributes.get("HPOS") or "0", line.attributes.get("WIDTH") or "0")
    numbers = [number for part in given if (number := canvas.number(part, where)) is not None]
    if len(numbers) < len(given):
        return None
    height, left, width = numbers
    return baseline_or_none((canvas.inside(left, height), canvas.inside(left + width, height)))


def read_transcription(line: Element, canvas: PageScale, doubtful: frozenset[str], where: str) -> Transcription | None:
    """The text of a line, with words unless a String contains several, as written by eScriptorium."""
    strings = line.all("String")
    read = [read_word(string, canvas, doubtful, where) for string in strings]
    words = [word for word in read if word.text.strip()]
    text = "".join(pieces(line))
    if not words:
        confidence = read[0].confidence if len(read) == 1 else None
        return None if confidence is None else Transcription(text, confidence)
    if any(" " in word.text.strip() for word in words):
        sure = [word.confidence for word in words if word.confidence is not None]
        return Transcription(text, sum(sure) / len(sure) if sure else None)
    words[-1] = replace(words[-1], text=words[-1].text + hyphen_after(words[-1].text, line.first("HYP")))
    return Transcription(text, None, tuple(words))


def pieces(line: Element) -> Iterator[str]:
    """The texts of a line's parts, one space between words: where there is an SP, or if there is none, everywhere."""
    implied = not line.all("SP")
    last, space = "", False
    for part in line.children:
        content = content_of(part)
        if part.name == "SP":
            space = True
        elif part.name == "HYP":
            yield hyphen_after(last, part)
        elif part.name == "String" and content.strip():
            yield " " if last and (space or implied) else ""
            yield content
            last, space = content, False


def hyphen_after(word: str, hyphen: Element | None) -> str:
    """The hyphen at the end of a line; "" if there is none, or the word before it has one, as some programs write."""
    sign = content_of(hyphen) if hyphen else ""
    return "" if word.endswith(HYPHENS) else sign


def read_word(string: Element, canvas: PageScale, doubtful: frozenset[str], where: str) -> PageWord:
    """Read a String as a word."""
    confidence = string.attributes.get("WC")
    return PageWord(
        content_of(string),
        canvas.confidence(confidence, where),
        outline_of(string, canvas, where),
        not doubtful.isdisjoint(string.attributes.get("TAGREFS", "").split()),
    )


def content_of(part: Element) -> str:
    """The text of a part of a line, on one line."""
    return clean(part.attributes.get("CONTENT", ""))
