"""A PAGE or ALTO file in which single lines are changed: their text, place, order and number.

    file = PageFile.parse(data, name)
    file = file.with_line(replace(line, baseline=baseline))
    file.data

Every change returns a new file in which all other bytes are preserved, elements and attributes of other programs
included. A line is known by its id; its `revision` changes whenever its element does.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from html import escape
from pathlib import Path
from typing import Self
from xml.etree import ElementTree as ET

from drethtr.base.errors import DataError
from drethtr.base.version import __version__
from drethtr.documents.identifiers import Identifiers
from drethtr.documents.markup import Edit, Element, Markup, apply, clean
from drethtr.documents.page import Page, Points, Region, Review, TextLine, box_around
from drethtr.documents.points import flat_polygon, written
from drethtr.documents.read import ALTO, Dialect, parse_page
from drethtr.documents.readers import alto, page_xml
from drethtr.documents.readers.parsed import Parsed
from drethtr.documents.splice import Splicer
from drethtr.documents.update import EDITORS
from drethtr.documents.writers.alto import place as box_attributes

SIGNATURE = f"edited with drethtr {__version__}"

INDEX = re.compile(r"readingOrder\s*\{[^{}]*\}\s*")
MARK = re.compile(r"(?<!\s)\s*\bdrethtr\s*\{[^{}]*\}")

BEHIND_LINES = ("TextEquiv", "TextStyle")
"""Elements of a PAGE region that follow its lines."""


def revision_of(content: bytes) -> str:
    """A short name of some bytes, which other bytes do not have."""
    return blake2b(content, digest_size=8).hexdigest()


@dataclass(frozen=True)
class PageFile:
    """The bytes of a file, and what they say.

    image   the upright image of the page, if it is there: its file and size in pixels, in which all coordinates are
    """

    data: bytes
    name: str
    markup: Markup
    dialect: Dialect
    parsed: Parsed
    image: tuple[Path, int, int] | None = None

    @classmethod
    def parse(cls, data: bytes, name: str, image: tuple[Path, int, int] | None = None) -> Self:
        """Read a file.

        Args:
            data: Its bytes.
            name: Its name in error messages.
            image: The upright image of the page, with its width and height in pixels.

        Raises:
            DataError: if it is not PAGE or ALTO, damaged, or of an image of another shape.
        """
        file = cls(data, name, *parse_page(data, name, lambda _: image and image[1:]), image)
        assert file.page is not None  # fits the image
        return file

    @cached_property
    def page(self) -> Page:
        """The page that the file describes, in pixels of its image."""
        return self.parsed.page.on_image(*self.image) if self.image else self.parsed.page

    @property
    def revision(self) -> str:
        """A name for the file as it is now."""
        return revision_of(self.data)

    def revision_of(self, line_id: str) -> str:
        """A name for a line as it is now: for all that its element says."""
        element = self.element(line_id)
        return revision_of(self.markup.utf8[element.start : element.end])

    def element(self, line_id: str) -> Element:
        """The element of a line.

        Raises:
            DataError: if there is none.
        """
        if line_id not in self.parsed.lines:
            raise DataError(f"{self.name}: contains no line {line_id!r}")
        return self.parsed.lines[line_id]

    def line(self, line_id: str) -> TextLine:
        """A line of the page.

        Raises:
            DataError: if there is none.
        """
        self.element(line_id)
        return next(line for line in self.page.lines if line.id == line_id)

    def with_line(self, line: TextLine) -> Self:
        """The file with a line changed: what differs of its text, its words, its review, its baseline and polygon.

        Raises:
            DataError: if there is no such line.
        """
        before = self.line(line.id)
        file = self
        if (before.polygon, before.baseline) != (line.polygon, line.baseline):
            file = file.edited(file.place_edits(file.in_units(line)))
        text, old = line.transcription, before.transcription
        if text is None:
            return file.edited(file.text_removal(line.id)).following(self) if old is not None else file
        if old is None or (old.text, old.words, old.confidence) != (text.text, text.words, text.confidence):
            file = file.edited(file.text_edits(file.in_units(line)))
        if (old.review if old else None) is not text.review:
            file = file.edited(file.review_edits(line.id, text.review))
        return file.following(self)

    def with_new_line(self, line: TextLine, after: str | None) -> Self:
        """The file with another line behind the line `after`, in its region; without `after`, before all others.

        Raises:
            DataError: if there is no line `after`, or the new line has neither baseline nor polygon.
        """
        if not (line.baseline or line.polygon):
            raise DataError(f"{self.name}: a new line needs a baseline or a polygon")
        if not self.page.lines and self.first_region() is None:
            return self.with_region().with_new_line(line, after)
        neighbor = after if after is not None else next((other.id for other in self.page.lines), None)
        order = self.order_beside(neighbor) if neighbor is not None else []
        place = order.index(after) + 1 if after is not None else 0
        order.insert(place, line.id)
        element = self.new_element(self.in_units(line))
        file = self.edited([self.insertion(element, order, place)])
        file = file.with_line(replace(line, polygon=file.line(line.id).polygon, baseline=file.line(line.id).baseline))
        return (file.numbered(order) if self.is_numbered(neighbor) else file).following(self)

    def without_line(self, line_id: str) -> Self:
        """The file without a line, and without what refers to it.

        Raises:
            DataError: if there is no such line.
        """
        splicer = Splicer.of(self.markup)
        references = (
            element
            for order in self.markup.root.children
            if order.name == "ReadingOrder"
            for element in order.walk()
            if element.attributes.get("REF") == line_id
        )
        return self.edited(list(map(splicer.remove, (self.element(line_id), *references)))).following(self)

    def with_line_moved(self, line_id: str, after: str | None) -> Self:
        """The file with a line behind the line `after`, in its region; without `after`, before all others.

        Raises:
            DataError: if there is no such line, or the file fixes the order of lines in an element of its own.
        """
        element, first = self.element(line_id), next(line.id for line in self.page.lines)
        if line_id == after or (after is None and line_id == first):
            return self
        if line_id in alto.explicit_order(self.markup.root):
            raise DataError(f"{self.name}: its ReadingOrder fixes the order of lines; change it in the file")
        neighbor = after if after is not None else first
        numbered = self.is_numbered(neighbor)
        order = [other for other in self.order_beside(neighbor) if other != line_id]
        place = order.index(after) + 1 if after is not None else 0
        order.insert(place, line_id)
        splicer = Splicer.of(self.markup)
        content = self.markup.utf8[element.start : element.end]
        edits = [splicer.remove(element), self.insertion(content, order, place)]
        file = self.edited(edits)
        return (file.numbered(order) if numbered else file).following(self)

    def text(self) -> str:
        """The file as UTF-8 text, for comparisons."""
        return self.markup.utf8.decode()

    # Lines in units of the file.

    def in_units(self, line: TextLine) -> TextLine:
        """A line with its coordinates in units of the file instead of pixels."""
        if not all(self.parsed.size):
            return line
        [scaled] = replace(self.page, regions=(Region("", (line,)),)).resized(*self.parsed.size).lines
        return scaled

    def following(self, before: Self) -> Self:
        """The file with the texts that PAGE regions have beside their lines, where those followed the lines before."""
        edits = []
        texts = {region.id: joined(region) for region in before.page.regions}
        for region in self.page.regions if not self.is_alto else ():
            old, new = texts.get(region.id), joined(region)
            if old is not None and old != new and (unicode := self.region_text(region.id)) is not None:
                rows = [row.strip() for row in unicode.text.strip().splitlines()]
                if "\n".join(rows) == old:
                    edits.append(Edit(unicode.inside, unicode.inside_end, escape(new, quote=False).encode()))
        return self.edited(edits)

    def region_text(self, region_id: str) -> Element | None:
        """The element with the text of a whole PAGE region, if it has one and only one."""
        regions = (element for element in self.markup.root.walk() if element.attributes.get("id") == region_id)
        texts = [equivalent for region in regions for equivalent in region.all("TextEquiv")]
        unicode = texts[0].first("Unicode") if len(texts) == 1 else None
        return unicode if unicode is not None and unicode.inside < unicode.end else None

    def edited(self, edits: Iterator[Edit] | Sequence[Edit]) -> Self:
        """The file after some edits, signed."""
        edits = list(edits)
        if not edits:
            return self
        if SIGNATURE.encode() not in self.markup.utf8:
            edits.append(Splicer.of(self.markup).comment(SIGNATURE))
        return self.parse(self.markup.encode(apply(self.markup.utf8, edits)), self.name, self.image)

    @property
    def is_alto(self) -> bool:
        """Whether the file is ALTO; else it is PAGE."""
        return self.dialect.root == ALTO.root

    @property
    def key(self) -> str:
        """The attribute that holds the id of an element."""
        return "ID" if self.is_alto else "id"

    def free_id(self, wanted: str) -> str:
        """The wanted id, or a similar one that no element has."""
        return self.identifiers().claim(wanted)

    def identifiers(self) -> Identifiers:
        """All ids of the file."""
        ids = (element.attributes.get(key, "") for element in self.markup.root.walk() for key in ("id", "ID"))
        return Identifiers([*ids, *self.parsed.lines])

    # Edits of one line.

    def text_edits(self, line: TextLine) -> Iterator[Edit]:
        """Replace the text and the words of a line."""
        assert line.transcription is not None
        splicer, element = Splicer.of(self.markup), self.element(line.id)
        yield from EDITORS[self.dialect.root](splicer, element, line, line.transcription, self.identifiers())

    def text_removal(self, line_id: str) -> Iterator[Edit]:
        """Remove the text, the words and the review of a line."""
        element, splicer = self.element(line_id), Splicer.of(self.markup)
        names = ("String", "SP", "HYP") if self.is_alto else ("TextEquiv", "Word")
        yield from map(splicer.remove, element.all(*names))
        yield from self.review_edits(line_id, None)

    def review_edits(self, line_id: str, review: Review | None) -> Iterator[Edit]:
        """Note in a line what a person has done with it."""
        splicer, element = Splicer.of(self.markup), self.element(line_id)
        if not self.is_alto:
            rest = MARK.sub("", element.attributes.get("custom", "")).strip()
            mark = f"drethtr {{review:{review};}}" if review else ""
            yield splicer.set_attribute(element, "custom", f"{rest} {mark}".strip() or None)
            return
        known = sorted(alto.tags_of(self.markup.root, alto.CONFIRMED))
        tags = [tag for tag in element.attributes.get("TAGREFS", "").split() if tag not in known]
        if review is Review.CONFIRMED:
            if not known:
                known = [self.free_id(f"drethtr_{alto.CONFIRMED}")]
                yield self.tag_insertion(splicer, known[0])
            tags.append(known[0])
        yield splicer.set_attribute(element, "CS", "true" if review else None)
        yield splicer.set_attribute(element, "TAGREFS", " ".join(tags) or None)

    def tag_insertion(self, splicer: Splicer, id: str) -> Edit:
        """Add the tag for confirmed lines to an ALTO file."""
        root = self.markup.root
        prefix = f"{root.prefix}:" if root.prefix else ""
        about = {"ID": id, "LABEL": alto.CONFIRMED, "DESCRIPTION": "lines that a person has confirmed"}
        tag = ET.Element(f"{prefix}OtherTag", about)
        if (tags := root.first("Tags")) is not None:
            return splicer.insert(tags, tags.children[-1] if tags.children else None, [tag])
        group = ET.Element(f"{prefix}Tags")
        group.append(tag)
        before = root.all("Description", "Styles")
        return splicer.insert(root, before[-1] if before else None, [group])

    def place_edits(self, line: TextLine) -> Iterator[Edit]:
        """Change where a line lies."""
        splicer, element = Splicer.of(self.markup), self.element(line.id)
        prefix = f"{element.prefix}:" if element.prefix else ""
        if self.is_alto:
            box = box_around(line.polygon or line.baseline or ())
            for name, value in box_attributes(box).items():
                yield splicer.set_attribute(element, name, value)
            yield splicer.set_attribute(element, "BASELINE", written(line.baseline) if line.baseline else None)
            yield from map(splicer.remove, element.all("Shape"))
            if line.polygon:
                shape = ET.Element(f"{prefix}Shape")
                ET.SubElement(shape, f"{prefix}Polygon", POINTS=written(line.polygon))
                yield splicer.insert(element, None, [shape])
            return
        outline = written(line.polygon or flat_polygon(line.baseline))
        coords, baseline = element.first("Coords"), element.first("Baseline")
        if coords is not None:
            yield splicer.set_attribute(coords, "points", outline)
        else:
            before = element.all("AlternativeImage")
            new = ET.Element(f"{prefix}Coords", points=outline)
            yield splicer.insert(element, before[-1] if before else None, [new])
        if baseline is not None:
            yield (
                splicer.set_attribute(baseline, "points", written(line.baseline))
                if line.baseline
                else splicer.remove(baseline)
            )
        elif line.baseline:
            new = ET.Element(f"{prefix}Baseline", points=written(line.baseline))
            before = element.all("AlternativeImage", "Coords")
            yield splicer.insert(element, before[-1] if before else None, [new])

    # Edits of the order and number of lines.

    def first_region(self) -> Element | None:
        """The first element that can hold lines."""
        name = "TextBlock" if self.is_alto else "TextRegion"
        return next((element for element in self.markup.root.walk() if element.name == name), None)

    def with_region(self) -> Self:
        """The file with a region as large as the page."""
        root, size = self.markup.root, self.parsed.size
        page = root.first("Layout", "Page") if self.is_alto else root.first("Page")
        assert page is not None  # without it the file could not be read
        prefix = f"{page.prefix}:" if page.prefix else ""
        corners: Points = ((0, 0), (size[0], 0), size, (0, size[1]))
        id = self.free_id("r1")
        if self.is_alto:
            parent = page.first("PrintSpace") or page
            place = box_attributes(box_around(corners))
            region = ET.Element(f"{prefix}TextBlock", {"ID": id, **place})
            if parent is page:
                space = ET.Element(f"{prefix}PrintSpace", place)
                space.append(region)
                region = space
        else:
            parent = page
            region = ET.Element(f"{prefix}TextRegion", id=id)
            ET.SubElement(region, f"{prefix}Coords", points=written(corners))
        last = parent.children[-1] if parent.children else None
        return self.edited([Splicer.of(self.markup).insert(parent, last, [region])])

    def parent_of(self, line_id: str) -> Element:
        """The element around a line."""
        wanted = self.element(line_id)
        return next(
            element for element in self.markup.root.walk() if any(child is wanted for child in element.children)
        )

    def order_beside(self, line_id: str) -> list[str]:
        """The lines of the region of a line, in reading order."""
        self.element(line_id)
        region = next(region for region in self.page.regions if any(line.id == line_id for line in region.lines))
        return [line.id for line in region.lines]

    def is_numbered(self, line_id: str | None) -> bool:
        """Whether the lines of the region of a line are ordered by numbers in their attributes, as in PAGE."""
        if line_id is None or self.is_alto:
            return False
        lines = (self.element(other) for other in self.order_beside(line_id))
        return all(page_xml.CUSTOM_INDEX.search(line.attributes.get("custom", "")) for line in lines)

    def numbered(self, order: Sequence[str]) -> Self:
        """The file with the lines of a region numbered in this order."""
        splicer, edits = Splicer.of(self.markup), []
        for index, line_id in enumerate(order):
            element = self.element(line_id)
            custom = element.attributes.get("custom", "")
            new = f"readingOrder {{index:{index};}} {INDEX.sub('', custom)}".strip()
            if (found := page_xml.CUSTOM_INDEX.search(custom)) is None or int(found[1]) != index:
                edits.append(splicer.set_attribute(element, "custom", new))
        return self.edited(edits)

    def new_element(self, line: TextLine) -> ET.Element:
        """The element of a new line, with its place; coordinates in units of the file."""
        around = self.first_region()
        prefix = f"{around.prefix}:" if around is not None and around.prefix else ""
        element = ET.Element(f"{prefix}TextLine", {self.key: clean(line.id)})
        outline = line.polygon or flat_polygon(line.baseline)
        if self.is_alto:
            element.attrib |= box_attributes(box_around(outline))
            if line.baseline:
                element.set("BASELINE", written(line.baseline))
            shape = ET.SubElement(element, f"{prefix}Shape")
            ET.SubElement(shape, f"{prefix}Polygon", POINTS=written(outline))
            ET.SubElement(element, f"{prefix}String", CONTENT="")  # ALTO has no line without one
            return element
        ET.SubElement(element, f"{prefix}Coords", points=written(outline))
        if line.baseline:
            ET.SubElement(element, f"{prefix}Baseline", points=written(line.baseline))
        return element

    def insertion(self, new: ET.Element | bytes, order: Sequence[str], place: int) -> Edit:
        """Insert a line, new or with the bytes of an old one, at a place of the order of its region."""
        splicer = Splicer.of(self.markup)
        if place:
            before: Element | None = self.element(order[place - 1])
            parent = self.parent_of(order[place - 1])
        elif len(order) > 1:
            parent = self.parent_of(order[1])
            before = last_before(parent, self.element(order[1]))
        else:
            region = self.first_region()
            assert region is not None
            parent, others = region, [child for child in region.children if child.name not in BEHIND_LINES]
            before = others[-1] if others else None
        if isinstance(new, bytes):
            return splicer.insert_bytes(parent, before, new)
        return splicer.insert(parent, before, [new])


def last_before(parent: Element, child: Element) -> Element | None:
    """The child of an element before another one."""
    place = next(place for place, other in enumerate(parent.children) if other is child)
    return parent.children[place - 1] if place else None


def joined(region: Region) -> str:
    """The texts of the lines of a region, one per row."""
    return "\n".join(line.text for line in region.lines)
