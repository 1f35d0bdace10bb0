"""Edit the bytes of a file element by element; insertions are indented like their neighbors."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from html import escape
from typing import ClassVar, NamedTuple
from xml.etree import ElementTree as ET

from drethtr.base.errors import DataError
from drethtr.documents.markup import Edit, Element, Identifiers, Markup, clean
from drethtr.documents.page import Parsed, Region, TextLine
from drethtr.documents.transcription import Review, Tag

REFERENCES = ("regionRef", "REF")
"""Attributes by which a reading order refers to a region or a line."""

TABLES = ("TableRegion", "ComposedBlock")
"""Elements around the cells of a table."""

ATTRIBUTE = re.compile(rb"""\s([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")


def escaped(value: str) -> bytes:
    """An attribute value, escaped for quotation marks of either kind."""
    return escape(clean(value)).encode()


class Splicer(NamedTuple):
    """A file, whether its elements are on separate rows, and the white space per level of indentation."""

    markup: Markup
    in_rows: bool
    unit: str

    @classmethod
    def of(cls, markup: Markup) -> "Splicer":
        """Detect the indentation from the white space before the first element in the root."""
        lead = cls(markup, in_rows=False, unit="").lead(markup.root.children[0]) if markup.root.children else ""
        return cls(markup, "\n" in lead, lead.rpartition("\n")[2] if "\n" in lead else "")

    def remove(self, element: Element) -> Edit:
        """Remove an element and the white space before it."""
        return Edit(element.start - len(self.lead(element).encode()), element.end, b"")

    def insert(self, parent: Element, after: Element | None, new: Sequence[ET.Element]) -> Edit:
        """Insert elements after a child of `parent`, or before its content; a self-closing tag is opened."""
        # Indented like its neighbors; in a file without line breaks, none are added.
        lead = self.lead_within(parent) if self.in_rows else ""
        content = "".join(self.written(element, lead) for element in new)
        if self.in_rows and not parent.children and not parent.text:
            content += self.lead(parent)
        return insertion(parent, after, content.encode())

    def set_attribute(self, element: Element, name: str, value: str | None) -> Edit:
        """Set, add or (with None) remove an attribute; other attributes keep their bytes."""
        utf8 = self.markup.utf8
        # In the bytes, not in the parsed attributes: order, quotation marks and entities of the others must stay.
        for found in ATTRIBUTE.finditer(utf8, element.start, element.inside):
            if found[1].decode() != name:
                continue
            if value is None:
                return Edit(*found.span(), b"")
            return Edit(*max(found.span(2), found.span(3)), escaped(value))
        # Before the end of the tag, which is `/>` if it is empty.
        end = element.inside - (2 if utf8.endswith(b"/>", element.start, element.inside) else 1)
        return Edit(end, end, b"" if value is None else b' %s="%s"' % (name.encode(), escaped(value)))

    def comment(self, text: str) -> Edit:
        """Insert a comment at the end of the root element."""
        last = self.markup.root.children[-1]
        safe = re.sub("-(?=-)", "- ", clean(text))  # XML forbids two hyphens in a comment
        return Edit(last.end, last.end, f"{self.lead(last)}<!-- {safe} -->".encode())

    def lead_within(self, parent: Element) -> str:
        """The white space before each child of an element."""
        return self.lead(parent.children[0]) if parent.children else self.lead(parent) + self.unit

    def lead(self, element: Element) -> str:
        """The white space before an element."""
        utf8 = self.markup.utf8
        begin = element.start
        while begin and utf8[begin - 1 : begin].isspace():
            begin -= 1
        return utf8[begin : element.start].decode()

    def written(self, element: ET.Element, lead: str) -> str:
        """Serialize an element, without line breaks in its texts, with the white space before it."""
        if self.in_rows:
            ET.indent(element, self.unit)
        text: str = ET.tostring(element, encoding="unicode")
        return lead + text.replace("\n", lead)


def insertion(parent: Element, after: Element | None, content: bytes) -> Edit:
    """Insert bytes after a child of `parent`, or before its content; a self-closing tag is opened."""
    if after is None and parent.inside == parent.end:
        return Edit(
            parent.inside - len("/>"),
            parent.inside,
            b">%s</%s%s>" % (content, prefix_of(parent).encode(), parent.name.encode()),
        )
    place = after.end if after else parent.inside
    return Edit(place, place, content)


@dataclass(frozen=True)
class Editor(ABC):
    """Changes lines in a file; coordinates are in units of the file.

    It assigns each id once, so every change of a file needs a new editor.
    """

    markup: Markup
    parsed: Parsed

    id_name: ClassVar[str]
    """The attribute for ids."""

    region_name: ClassVar[str]
    """The element that contains lines."""

    after_lines: ClassVar[Collection[str]] = ()
    """Elements that must follow the lines of a region."""

    before_text: ClassVar[Collection[str]]
    """Elements that must precede the text of a line."""

    text_parts: ClassVar[Collection[str]]
    """The elements of a text."""

    @cached_property
    def splicer(self) -> Splicer:
        """Inserts elements into the file."""
        return Splicer.of(self.markup)

    @cached_property
    def ids(self) -> Identifiers:
        """Assigns ids that are not in the file."""
        ids = (element.attributes.get(key, "") for element in self.markup.root.walk() for key in ("id", "ID"))
        return Identifiers([*ids, *self.parsed.lines])

    def set_ids(self) -> Iterator[Edit]:
        """Write the ids by which lines are known, where they have none of their own."""
        for id, element in self.parsed.lines.items():
            if element.attributes.get(self.id_name) != id:
                yield self.splicer.set_attribute(element, self.id_name, id)

    @abstractmethod
    def set_text(self, element: Element, line: TextLine, old: TextLine) -> Iterator[Edit]:
        """Replace the text and words of the line `old` by those of `line`, which has a transcription."""

    def lost_tags(self, element: Element, text: str) -> Sequence[str]:
        """The tags of a line that would be lost with a new text, because all that they mark is gone."""
        return ()

    @abstractmethod
    def set_tags(self, element: Element, tags: Sequence[Tag]) -> Iterator[Edit]:
        """Replace the tags of a line; positions count the characters of its text.

        Raises:
            DataError: if the format has no tags.
        """

    def set_parts(self, element: Element, parts: Sequence[Element | ET.Element]) -> Iterator[Edit]:
        """Make these the parts of a text, none to remove it: those of the file stay where they are, others are new."""
        known = element.all(*self.text_parts)
        before = [one for one in element.all(*self.before_text) if not known or one.start < known[0].start]
        after, new, staying = before[-1] if before else None, list[ET.Element](), set[int]()
        for part in parts:
            if isinstance(part, ET.Element):
                new.append(part)
                continue
            if new:
                yield self.splicer.insert(element, after, new)
            after, new = part, []
            staying.add(part.start)
        if new:
            yield self.splicer.insert(element, after, new)
        yield from (self.splicer.remove(part) for part in known if part.start not in staying)

    @abstractmethod
    def set_review(self, element: Element, review: Review | None) -> Iterator[Edit]:
        """Record what a person did with a line."""

    @abstractmethod
    def remove_text(self, element: Element) -> Iterator[Edit]:
        """Remove the text of a line, and what a person did with it."""

    @abstractmethod
    def set_text_and_review(self, element: Element, line: TextLine, old: TextLine) -> Iterator[Edit]:
        """Replace text, words and review of a line, by edits that do not overlap."""

    @abstractmethod
    def set_place(self, element: Element, line: TextLine) -> Iterator[Edit]:
        """Replace polygon and baseline of a line by those of `line`."""

    @abstractmethod
    def new_line(self, line: TextLine) -> ET.Element:
        """Create an element for a new line, without text."""

    @abstractmethod
    def add_region(self) -> Edit:
        """Add a region as large as the page."""

    @abstractmethod
    def new_regions(self, regions: Sequence[Region]) -> Iterator[Edit]:
        """Add regions without lines; cells go into a new table if none has its id."""

    def in_tables(
        self,
        parent: Element,
        regions: Sequence[Region],
        element_of: Callable[[Region], ET.Element],
        table_of: Callable[[str], ET.Element],
    ) -> Iterator[Edit]:
        """Add the elements of regions to a parent; those of cells to the element of their table, which may be new."""
        new, tables, more = list[ET.Element](), dict[str, ET.Element](), dict[str, list[ET.Element]]()
        for region in regions:
            element = element_of(region)
            if region.cell is None:
                new.append(element)
            elif (table := region.cell.table) in self.tables:
                more.setdefault(table, []).append(element)
            else:
                if table not in tables:
                    tables[table] = table_of(table)
                    new.append(tables[table])
                tables[table].append(element)
        for table, cells in more.items():
            known = [child for child in self.tables[table].children if self.is_region(child)]
            yield self.splicer.insert(self.tables[table], known[-1] if known else None, cells)
        if new:
            yield self.splicer.insert(parent, parent.children[-1] if parent.children else None, new)

    @cached_property
    def tables(self) -> Mapping[str, Element]:
        """The elements of the tables that have cells, by their ids."""
        found = [element for element in self.markup.root.walk() if element.name in TABLES]
        return {self.id_of(one): one for one in found if any(map(self.is_region, one.children)) and self.id_of(one)}

    @abstractmethod
    def set_regions(self, changes: Sequence[tuple[Region, Region]]) -> Iterator[Edit]:
        """Set kind and outline of regions where they differ; each region is given as it is and as it should be."""

    @abstractmethod
    def order_regions(self, ids: Sequence[str]) -> Iterator[Edit]:
        """Put regions in this order."""

    def remove_regions(self, ids: Collection[str]) -> Iterator[Edit]:
        """Remove regions that have neither lines nor other regions, and the references to them."""
        regions = [self.regions[id] for id in ids if id in self.regions]
        empty = {id(region): region for region in regions if id(region) not in self.filled}
        for table in (element for element in self.markup.root.walk() if element.name in TABLES):
            cells = {id(cell) for cell in table.children if self.is_region(cell)}
            if cells and cells <= empty.keys():
                empty = {key: one for key, one in empty.items() if key not in cells} | {id(table): table}
        names = {self.id_of(part) for region in empty.values() for part in region.walk()} - {""}
        yield from map(self.splicer.remove, empty.values())
        for order in (element for element in self.markup.root.walk() if element.name == "ReadingOrder"):
            ends = [one for one in order.walk() if not one.children]
            references = [one for one in ends if not names.isdisjoint(map(one.attributes.get, REFERENCES))]
            yield from map(self.splicer.remove, [order] if len(references) == len(ends) else references)

    @cached_property
    def parents(self) -> Mapping[int, Element]:
        """The parent of each element, by the `id` of the object."""
        return {id(child): element for element in self.markup.root.walk() for child in element.children}

    @cached_property
    def filled(self) -> Collection[int]:
        """The elements around lines or regions, by the `id` of the object."""
        found = set[int]()
        for element in self.markup.root.walk():
            above = self.parents.get(id(element))
            if element.name == "TextLine" or element.name.endswith("Region"):
                while above is not None and id(above) not in found:
                    found.add(id(above))
                    above = self.parents.get(id(above))
        return found

    @cached_property
    def regions(self) -> Mapping[str, Element]:
        """The elements of the regions by their ids."""
        found = [element for element in self.markup.root.walk() if self.is_region(element)]
        return {self.id_of(element): element for element in found if self.id_of(element)}

    def region(self, id: str) -> Element:
        """The element of a region.

        Raises:
            DataError: if it has no id by which it could be found.
        """
        if id not in self.regions:
            raise DataError(f"region {id!r} has no id of its own; give it one in the file")
        return self.regions[id]

    def is_region(self, element: Element) -> bool:
        """Whether an element may contain lines."""
        return element.name == self.region_name

    @staticmethod
    def id_of(element: Element) -> str:
        """The id of an element; "" if it has none."""
        return element.attributes.get("id") or element.attributes.get("ID") or ""

    def insert_lines(self, region: str, contents: Sequence[bytes]) -> Edit:
        """Insert lines, as existing bytes, into a region without any.

        Raises:
            DataError: if the region has no id by which it could be found.
        """
        parent = self.region(region)
        lead = self.splicer.lead_within(parent).encode()
        return insertion(parent, self.last_before_text(parent), b"".join(lead + one for one in contents))

    def last_before_text(self, region: Element) -> Element | None:
        """The child of a region without lines behind which its lines go."""
        others = [child for child in region.children if child.name not in self.after_lines]
        return others[-1] if others else None

    def is_numbered(self, elements: Sequence[Element]) -> bool:
        """Whether lines are ordered by numbers in their attributes."""
        return False

    def set_number(self, element: Element, number: int) -> Iterator[Edit]:
        """Number a line, in a region that is ordered by numbers."""
        yield from ()

    def region_texts(self) -> Mapping[str, Element]:
        """The elements with the texts of whole regions, by the ids of regions that have exactly one."""
        return {}

    def first_region(self) -> Element | None:
        """The first element that can contain lines."""
        return next((element for element in self.markup.root.walk() if element.name == self.region_name), None)

    def add_lines(self, new: Sequence[ET.Element], before: Element | None, after: Element | None) -> Edit:
        """Insert new lines after the line `before`, else before the line `after`.

        With neither, they become the first lines of the first region, which must exist.
        """
        previous: Element | None
        if before is not None:
            parent, previous = self.parents[id(before)], before
        elif after is not None:
            parent = self.parents[id(after)]
            place = next(place for place, child in enumerate(parent.children) if child is after)
            previous = parent.children[place - 1] if place else None
        else:
            region = self.first_region()
            assert region is not None
            parent, previous = region, self.last_before_text(region)
        return self.splicer.insert(parent, previous, new)


def prefix_of(element: Element) -> str:
    """The namespace prefix of an element with its colon, or ""."""
    return f"{element.prefix}:" if element.prefix else ""


MAX_WORDS = 500
"""Words of a line whose counterparts are looked for: comparing takes the product of both numbers."""


def counterparts(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """For each word of the new text that stays or replaces a single word, its position, and that of its old word."""
    found = dict[int, int]()
    if max(len(old), len(new)) > MAX_WORDS:  # longer than any line of handwriting
        return found
    for kind, first, last, begin, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal" or last - first == end - begin:
            found |= zip(range(begin, end), range(first, last), strict=True)
    return found
