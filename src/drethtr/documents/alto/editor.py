"""Edit ALTO."""

from collections.abc import Collection, Iterator
from functools import cached_property
from xml.etree import ElementTree as ET

from drethtr.documents.alto.reader import CONFIRMED, DOUBTFUL, NAMESPACES, explicit_order, tags_of
from drethtr.documents.alto.writer import Style, add_shape, place, string_elements
from drethtr.documents.editor import Editor, counterparts, prefix_of
from drethtr.documents.markup import Edit, Element, clean
from drethtr.documents.page import TextLine
from drethtr.documents.points import Box, box_around, flat_polygon, written
from drethtr.documents.transcription import Review

KEPT = ("ID", "LANG", "STYLE", "STYLEREFS")
"""Attributes of a word that people or other programs set, apart from its tags."""


class ALTOEditor(Editor):
    """Edits ALTO: text in String elements, reviews in the attribute `CS` and a tag."""

    region_name = "TextBlock"

    @cached_property
    def confirmed_tags(self) -> list[str]:
        """The ids of tags of confirmed lines: those of the file, else the one that the first confirmation adds."""
        return sorted(tags_of(self.markup.root, CONFIRMED))

    @cached_property
    def doubtful_tags(self) -> frozenset[str]:
        """The ids of tags of doubtful words."""
        return tags_of(self.markup.root, DOUBTFUL)

    def set_text(self, element: Element, line: TextLine) -> Iterator[Edit]:
        """Insert Strings after the Shape, with polygons only since ALTO 4 (3.1 cannot be told from 3.0)."""
        assert line.transcription is not None
        yield from self.remove_text(element)
        style = Style(prefix_of(element), shapes=element.namespace == NAMESPACES[-1])
        new = string_elements(line.transcription, line, self.ids, style)
        strings, made = element.all("String"), [string for string in new if "CONTENT" in string.attrib]
        texts = [[string.attributes.get("CONTENT", "") for string in strings], [s.attrib["CONTENT"] for s in made]]
        for old, place_of_new in counterparts(*texts):
            self.take_over(strings[old], made[place_of_new])
        yield self.splicer.insert(element, element.first("Shape"), new)

    def take_over(self, old: Element, new: ET.Element) -> None:
        """Give a word the id, language, styles and tags of the word in whose place it stands, but not its doubts."""
        new.attrib |= {name: old.attributes[name] for name in KEPT if old.attributes.get(name)}
        if tags := [tag for tag in old.attributes.get("TAGREFS", "").split() if tag not in self.doubtful_tags]:
            new.set("TAGREFS", " ".join(tags))

    def remove_text(self, element: Element) -> Iterator[Edit]:
        yield from map(self.splicer.remove, element.all("String", "SP", "HYP"))

    def set_review(self, element: Element, review: Review | None) -> Iterator[Edit]:
        known = self.confirmed_tags
        tags = [tag for tag in element.attributes.get("TAGREFS", "").split() if tag not in known]
        if review is Review.CONFIRMED:
            if not known:
                known.append(self.ids.claim(f"drethtr_{CONFIRMED}"))
                yield self.add_tag(known[0])
            tags.append(known[0])
            for string in element.all("String"):
                told = string.attributes.get("TAGREFS", "").split()
                if not self.doubtful_tags.isdisjoint(told):
                    sure = " ".join(tag for tag in told if tag not in self.doubtful_tags)
                    yield self.splicer.set_attribute(string, "TAGREFS", sure or None)
        yield self.splicer.set_attribute(element, "CS", "true" if review else None)
        yield self.splicer.set_attribute(element, "TAGREFS", " ".join(tags) or None)

    def add_tag(self, id: str) -> Edit:
        """Add the tag for confirmed lines."""
        root = self.markup.root
        prefix = prefix_of(root)
        about = {"ID": id, "LABEL": CONFIRMED, "DESCRIPTION": "lines confirmed by a person"}
        tag = ET.Element(f"{prefix}OtherTag", about)
        if (tags := root.first("Tags")) is not None:
            return self.splicer.insert(tags, tags.children[-1] if tags.children else None, [tag])
        group = ET.Element(f"{prefix}Tags")
        group.append(tag)
        before = root.all("Description", "Styles")
        return self.splicer.insert(root, before[-1] if before else None, [group])

    def set_place(self, element: Element, line: TextLine) -> Iterator[Edit]:
        for name, value in place(box_around(line.polygon or line.baseline or ())).items():
            yield self.splicer.set_attribute(element, name, value)
        yield self.splicer.set_attribute(element, "BASELINE", written(line.baseline) if line.baseline else None)
        yield from map(self.splicer.remove, element.all("Shape"))
        if line.polygon:
            prefix = prefix_of(element)
            shape = ET.Element(f"{prefix}Shape")
            ET.SubElement(shape, f"{prefix}Polygon", POINTS=written(line.polygon))
            yield self.splicer.insert(element, None, [shape])

    def new_line(self, line: TextLine) -> ET.Element:
        prefix = prefix_of(self.markup.root)
        outline = line.polygon or flat_polygon(line.baseline)
        element = ET.Element(f"{prefix}TextLine", {"ID": clean(line.id), **place(box_around(outline))})
        if line.baseline:
            element.set("BASELINE", written(line.baseline))
        add_shape(element, outline, prefix)
        ET.SubElement(element, f"{prefix}String", CONTENT="")  # required in ALTO
        return element

    def add_region(self) -> Edit:
        page = self.markup.root.first("Layout", "Page")
        assert page is not None  # the reader requires it
        prefix, box = prefix_of(page), place(Box(0, 0, *self.parsed.size))
        new = ET.Element(f"{prefix}TextBlock", {"ID": self.ids.claim("r1"), **box})
        parent = page.first("PrintSpace")
        if parent is None:
            parent, block = page, new
            new = ET.Element(f"{prefix}PrintSpace", box)
            new.append(block)
        return self.splicer.insert(parent, parent.children[-1] if parent.children else None, [new])

    def fixed_order(self) -> Collection[str]:
        return explicit_order(self.markup.root)
