"""Edit PAGE XML."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from xml.etree import ElementTree as ET

from drethtr.documents.editor import Editor, prefix_of
from drethtr.documents.markup import Edit, Element, clean
from drethtr.documents.page import TextLine
from drethtr.documents.page_xml.reader import CUSTOM_INDEX, read_text
from drethtr.documents.page_xml.writer import transcription_elements
from drethtr.documents.points import Box, flat_polygon, written
from drethtr.documents.splice import ATTRIBUTE
from drethtr.documents.transcription import Review

INDEX = re.compile(r"readingOrder\s*\{[^{}]*\}\s*")
MARK = re.compile(r"(?<!\s)\s*\bdrethtr\s*\{[^{}]*\}")

OFFSET = re.compile(r"[{;]\s*offset\s*:")
"""The part of a `custom` entry that refers to a position in the text: `unclear {offset:0; length:3;}`."""


class PageXMLEditor(Editor):
    """Edits PAGE XML: text in TextEquiv and Word, reviews and numbers in the attribute `custom`."""

    region_name = "TextRegion"
    after_lines = ("TextEquiv", "TextStyle")

    def set_text(self, element: Element, line: TextLine) -> Iterator[Edit]:
        """Insert words and text after the Baseline; if there are words without text, they stay and none are added.

        Entries of `custom` that refer to positions in replaced text are removed.
        """
        yield from self.remove_offsets(element)
        yield from self.replace_text(element, line)

    def set_text_and_review(self, element: Element, line: TextLine) -> Iterator[Edit]:
        assert line.transcription is not None
        yield from self.replace_text(element, line)
        custom = element.attributes.get("custom", "")
        yield self.mark(element, without_offsets(custom), line.transcription.review)

    def replace_text(self, element: Element, line: TextLine) -> Iterator[Edit]:
        """Replace text and words."""
        assert line.transcription is not None
        words = element.all("Word")
        marked_out = bool(words) and not any(read_text(word)[0] for word in words)
        yield from map(self.splicer.remove, element.all(*(["TextEquiv"] if marked_out else ["TextEquiv", "Word"])))
        new = transcription_elements(line.transcription, line.id, self.ids, prefix_of(element))
        before = element.all("AlternativeImage", "Coords", "Baseline", *(["Word"] if marked_out else []))
        yield self.splicer.insert(element, before[-1] if before else None, new[-1:] if marked_out else new)

    def remove_offsets(self, element: Element) -> Iterator[Edit]:
        """Remove the entries with an `offset` from the attribute `custom`."""
        utf8 = self.markup.utf8
        for attribute in ATTRIBUTE.finditer(utf8, element.start, element.inside):
            if attribute[1] == b"custom":
                start, end = max(attribute.span(2), attribute.span(3))
                yield Edit(start, end, without_offsets(utf8[start:end].decode()).encode())

    def remove_text(self, element: Element) -> Iterator[Edit]:
        yield from map(self.splicer.remove, element.all("TextEquiv", "Word"))

    def set_review(self, element: Element, review: Review | None) -> Iterator[Edit]:
        yield self.mark(element, element.attributes.get("custom", ""), review)

    def mark(self, element: Element, custom: str, review: Review | None) -> Edit:
        """Set the attribute `custom` to a value, with the mark of a review instead of that before."""
        rest = MARK.sub("", custom).strip()
        mark = f"drethtr {{review:{review};}}" if review else ""
        return self.splicer.set_attribute(element, "custom", f"{rest} {mark}".strip() or None)

    def set_place(self, element: Element, line: TextLine) -> Iterator[Edit]:
        prefix = prefix_of(element)
        outline = written(line.polygon or flat_polygon(line.baseline))
        coords, baseline = element.first("Coords"), element.first("Baseline")
        new = []
        if coords is not None:
            yield self.splicer.set_attribute(coords, "points", outline)
        else:
            new.append(ET.Element(f"{prefix}Coords", points=outline))
        if baseline is not None and line.baseline:
            yield self.splicer.set_attribute(baseline, "points", written(line.baseline))
        elif baseline is not None:
            yield self.splicer.remove(baseline)
        elif line.baseline:
            new.append(ET.Element(f"{prefix}Baseline", points=written(line.baseline)))
        if new:
            before = element.all("AlternativeImage", "Coords")
            yield self.splicer.insert(element, before[-1] if before else None, new)

    def new_line(self, line: TextLine) -> ET.Element:
        prefix = prefix_of(self.markup.root)
        element = ET.Element(f"{prefix}TextLine", id=clean(line.id))
        ET.SubElement(element, f"{prefix}Coords", points=written(line.polygon or flat_polygon(line.baseline)))
        if line.baseline:
            ET.SubElement(element, f"{prefix}Baseline", points=written(line.baseline))
        return element

    def add_region(self) -> Edit:
        page = self.markup.root.first("Page")
        assert page is not None  # the reader requires it
        prefix = prefix_of(page)
        region = ET.Element(f"{prefix}TextRegion", id=self.ids.claim("r1"))
        ET.SubElement(region, f"{prefix}Coords", points=written(Box(0, 0, *self.parsed.size).polygon()))
        return self.splicer.insert(page, page.children[-1] if page.children else None, [region])

    def is_numbered(self, elements: Sequence[Element]) -> bool:
        return all(CUSTOM_INDEX.search(element.attributes.get("custom", "")) for element in elements)

    def set_number(self, element: Element, number: int) -> Iterator[Edit]:
        custom = element.attributes.get("custom", "")
        if (found := CUSTOM_INDEX.search(custom)) is None or int(found[1]) != number:
            new = f"readingOrder {{index:{number};}} {INDEX.sub('', custom)}".strip()
            yield self.splicer.set_attribute(element, "custom", new)

    def region_texts(self) -> Mapping[str, Element]:
        texts = defaultdict[str, list[Element]](list)
        for element in self.markup.root.walk():
            texts[element.attributes.get("id", "")] += element.all("TextEquiv")
        unicodes = {id: found[0].first("Unicode") for id, found in texts.items() if len(found) == 1}
        return {id: unicode for id, unicode in unicodes.items() if unicode and unicode.inside < unicode.end}


def without_offsets(custom: str) -> str:
    """The value of an attribute `custom` without the entries that refer to positions in the text."""
    return "}".join(entry for entry in custom.split("}") if not OFFSET.search(entry))
