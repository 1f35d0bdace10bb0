"""Edit ALTO."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from xml.etree import ElementTree as ET

from drethtr.base.errors import DataError
from drethtr.documents.alto.reader import (
    CONFIRMED,
    DOUBTFUL,
    NAMESPACES,
    OF_BLOCKS,
    OURS,
    content_of,
    labels_of_blocks,
    tags_of,
)
from drethtr.documents.alto.writer import Style, add_block, add_shape, labels_of, place, string_elements, words_of
from drethtr.documents.editor import Editor, counterparts, prefix_of
from drethtr.documents.markup import Edit, Element, clean
from drethtr.documents.page import TABLE, Region, TextLine
from drethtr.documents.points import Box, Points, box_around, flat_polygon, written
from drethtr.documents.transcription import Review, Tag

KEPT = ("ID", "LANG", "STYLE", "STYLEREFS")
"""Attributes of a word that people or other programs set, apart from its tags."""

OF_TEXT = ("CONTENT", "SUBS_TYPE", "SUBS_CONTENT")
"""Attributes that stay with the text of a word: the text without its HYP, and the word it is part of."""


class ALTOEditor(Editor):
    """Edits ALTO: text in String elements, reviews in the attribute `CS` and a tag."""

    id_name = "ID"
    region_name = "TextBlock"
    before_text = ("Shape",)
    text_parts = ("String", "SP", "HYP")

    @cached_property
    def confirmed_tags(self) -> list[str]:
        """The ids of tags of confirmed lines: those of the file, else the one that the first confirmation adds."""
        return sorted(tags_of(self.markup.root, CONFIRMED))

    @cached_property
    def doubtful_tags(self) -> frozenset[str]:
        """The ids of tags of doubtful words."""
        return tags_of(self.markup.root, DOUBTFUL)

    @cached_property
    def block_labels(self) -> Mapping[str, str]:
        """The labels of blocks by the ids of their tags."""
        return labels_of_blocks(self.markup.root)

    def set_text(self, element: Element, line: TextLine, old: TextLine) -> Iterator[Edit]:
        """Insert new words, with polygons only since ALTO 4 (3.1 has the namespace of 3.0).

        Unchanged words keep their elements; words of which only the text is unchanged keep their hyphenation.
        """
        style = Style(prefix_of(element), shapes=element.namespace == NAMESPACES[-1])
        words, made = words_of(line), string_elements(line, self.ids, style)
        strings, spaces = strings_and_spaces(element)
        texts = [word.text for word in old.words] or list(map(content_of, strings))
        before = counterparts(texts, [word.text for word in words])
        same = {here for here, there in before.items() if old.words and words[here].text == texts[there]}
        hyphens = [part for part in element.all("HYP") if strings and part.start > strings[-1].start]
        last, old_last = len(words) - 1, len(texts) - 1
        if hyphens and not (last in same and before[last] == old_last):
            # The text of the last word ends with the sign of the HYP, which is only allowed at the end of a line.
            same, hyphens = {here for here in same if before[here] != old_last}, []
        parts = list[Element | ET.Element]()
        for here, string in enumerate(made):
            there = before.get(here)
            if here:
                kept = spaces[there] if there is not None and before.get(here - 1) == there - 1 else []
                parts += kept or [ET.Element(f"{style.prefix}SP")]
            if here in same and words[here] == old.words[before[here]]:
                parts.append(strings[before[here]])
                continue
            if there is not None:
                self.take_over(strings[there], string, OF_TEXT if here in same else ())
            parts.append(string)
        yield from self.set_parts(element, [*parts, *hyphens])
        if line.review is Review.CONFIRMED:
            for part in parts:
                if isinstance(part, Element):
                    yield from self.remove_doubts(part)

    def take_over(self, old: Element, new: ET.Element, names: Sequence[str]) -> None:
        """Copy from the word that is replaced: attributes, and tags other than doubts."""
        new.attrib |= {name: old.attributes[name] for name in (*KEPT, *names) if old.attributes.get(name)}
        if tags := [tag for tag in old.attributes.get("TAGREFS", "").split() if tag not in self.doubtful_tags]:
            new.set("TAGREFS", " ".join(tags))

    def set_tags(self, element: Element, tags: Sequence[Tag]) -> Iterator[Edit]:
        raise DataError("ALTO cannot tag parts of a line; export this page as PAGE and use that")

    def set_text_and_review(self, element: Element, line: TextLine, old: TextLine) -> Iterator[Edit]:
        yield from self.set_text(element, line, old)
        yield from self.mark(element, line.review)

    def set_review(self, element: Element, review: Review | None) -> Iterator[Edit]:
        for string in element.all("String") if review is Review.CONFIRMED else ():
            yield from self.remove_doubts(string)
        yield from self.mark(element, review)

    def remove_text(self, element: Element) -> Iterator[Edit]:
        empty = ET.Element(f"{prefix_of(element)}String", CONTENT="")  # required in ALTO
        yield from self.set_parts(element, [empty])
        yield from self.mark(element, None)

    def remove_doubts(self, string: Element) -> Iterator[Edit]:
        """Remove the tags of a doubtful word."""
        own = string.attributes.get("TAGREFS", "").split()
        if not self.doubtful_tags.isdisjoint(own):
            sure = " ".join(tag for tag in own if tag not in self.doubtful_tags)
            yield self.splicer.set_attribute(string, "TAGREFS", sure or None)

    def mark(self, element: Element, review: Review | None) -> Iterator[Edit]:
        """Mark a line with a review, in place of an earlier one."""
        known = self.confirmed_tags
        tags = [tag for tag in element.attributes.get("TAGREFS", "").split() if tag not in known]
        if review is Review.CONFIRMED:
            if not known:
                known.append(self.ids.claim(f"{OURS}{CONFIRMED}"))
                about = {"ID": known[0], "LABEL": CONFIRMED, "DESCRIPTION": "lines confirmed by a person"}
                yield self.add_tags([about])
            tags.append(known[0])
        yield self.splicer.set_attribute(element, "CS", "true" if review else None)
        yield self.splicer.set_attribute(element, "TAGREFS", " ".join(tags) or None)

    def add_tags(self, tags: Sequence[Mapping[str, str]]) -> Edit:
        """Add tags with these attributes."""
        root = self.markup.root
        prefix = prefix_of(root)
        new = [ET.Element(f"{prefix}OtherTag", dict(tag)) for tag in tags]
        if (known := root.first("Tags")) is not None:
            return self.splicer.insert(known, known.children[-1] if known.children else None, new)
        group = ET.Element(f"{prefix}Tags")
        group.extend(new)
        before = root.all("Description", "Styles")
        return self.splicer.insert(root, before[-1] if before else None, [group])

    def set_place(self, element: Element, line: TextLine) -> Iterator[Edit]:
        yield from self.set_outline(element, line.polygon or line.baseline, line.polygon)
        yield self.splicer.set_attribute(element, "BASELINE", written(line.baseline) if line.baseline else None)

    def set_outline(self, element: Element, inside: Points | None, polygon: Points | None) -> Iterator[Edit]:
        """Replace the box of a line or region by the one around points, and its polygon."""
        for name, value in place(box_around(inside or ())).items():
            yield self.splicer.set_attribute(element, name, value)
        yield from map(self.splicer.remove, element.all("Shape"))
        if polygon:
            parent = ET.Element("")
            add_shape(parent, polygon, prefix_of(element))
            yield self.splicer.insert(element, None, list(parent))

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

    def new_regions(self, regions: Sequence[Region]) -> Iterator[Edit]:
        page = self.markup.root.first("Layout", "Page")
        assert page is not None  # the reader requires it
        if not regions:
            return
        space = page.first("PrintSpace") or page
        prefix = prefix_of(space)
        tags, edits = self.tags_for(regions)
        yield from edits
        style = Style(prefix, regions=tags)

        def block_of(region: Region) -> ET.Element:
            parent = ET.Element("")
            add_block(parent, region, self.ids, style)
            [block] = parent
            block.set("ID", region.id)
            return block

        def table_of(table: str) -> ET.Element:
            return ET.Element(f"{prefix}ComposedBlock", {"ID": self.ids.claim(table), "TYPE": TABLE})

        yield from self.in_tables(space, regions, block_of, table_of)

    def tags_for(self, regions: Sequence[Region]) -> tuple[dict[str, str], list[Edit]]:
        """The ids of the tags for the labels of regions, and the edits that add those that are missing.

        For all regions at once, as a file without tags gets one element around them.
        """
        known = {label: id for id, label in self.block_labels.items()}
        labels = dict.fromkeys(label for region in regions for label in labels_of(region))
        new = {label: self.ids.claim(f"{OURS}{label}") for label in labels if label not in known}
        about = [
            {"ID": id, "LABEL": clean(label), "DESCRIPTION": f"{OF_BLOCKS}{clean(label)}"} for label, id in new.items()
        ]
        return known | new, [self.add_tags(about)] if about else []

    def set_regions(self, changes: Sequence[tuple[Region, Region]]) -> Iterator[Edit]:
        tags, edits = self.tags_for([new for old, new in changes if new.kind != old.kind])
        yield from edits
        for old, new in changes:
            element = self.region(old.id)
            if new.kind != old.kind:
                kept = [tag for tag in element.attributes.get("TAGREFS", "").split() if tag not in self.block_labels]
                own = [*kept, *(tags[label] for label in labels_of(new))]
                yield self.splicer.set_attribute(element, "TAGREFS", " ".join(own) or None)
            if new.polygon != old.polygon:
                yield from self.set_outline(element, new.polygon, new.polygon)

    def order_regions(self, ids: Sequence[str]) -> Iterator[Edit]:
        """By the reading order of the file; without one, blocks move, if none is in another.

        References to other elements, such as pictures and lines, come last.
        """
        order = self.markup.root.first("ReadingOrder")
        if order is not None and order.children and order.children[0].children:
            group = order.children[0]
            known = {one.attributes.get("REF", ""): one for one in group.walk() if not one.children}
            first = group.children[0]
            utf8, lead = self.markup.utf8, self.splicer.lead(first)
            references = []
            for id in dict.fromkeys([*ids, *filter(None, known)]):
                new = ET.Element(f"{prefix_of(group)}ElementRef", REF=id)
                found = known.get(id)
                as_new = self.splicer.written(new, "").encode()
                references.append(as_new if found is None else utf8[found.start : found.end])
            yield Edit(first.start, group.children[-1].end, lead.encode().join(references))
            return
        blocks = [self.regions[id] for id in ids if id in self.regions]
        slots = sorted(blocks, key=lambda block: block.start)
        for slot, block in zip(slots, blocks, strict=True):
            if slot is not block:
                yield Edit(slot.start, slot.end, self.markup.utf8[block.start : block.end])


def strings_and_spaces(line: Element) -> tuple[list[Element], Mapping[int, list[Element]]]:
    """The Strings of a line that are words, or all if none is, and the spaces, by the number of words before them."""
    words, spaces = list[Element](), defaultdict[int, list[Element]](list)
    for part in line.children:
        if part.name == "SP":
            spaces[len(words)].append(part)
        elif part.name == "String" and content_of(part).strip():
            words.append(part)
    return words or line.all("String"), spaces
