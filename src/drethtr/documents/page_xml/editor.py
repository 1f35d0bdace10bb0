"""Edit PAGE XML."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import itemgetter
from xml.etree import ElementTree as ET

from drethtr.documents.editor import Editor, counterparts, prefix_of
from drethtr.documents.markup import Edit, Element, clean
from drethtr.documents.page import Region, TextLine
from drethtr.documents.page_xml.custom import ENTRY, entry_of, moved, tags_of, without_tags
from drethtr.documents.page_xml.reader import (
    CUSTOM_INDEX,
    UNCLEAR,
    by_custom_index,
    chosen_text,
    in_one_row,
    own_doubts,
    read_text,
    whole_text,
)
from drethtr.documents.page_xml.writer import (
    add_coords,
    kind_attributes,
    region_element,
    text_element,
    unclear,
    word_element,
)
from drethtr.documents.points import Box, box_around, flat_polygon, written
from drethtr.documents.transcription import PageWord, Review, Tag, Transcription

INDEX = re.compile(r"readingOrder\s*\{[^{}]*\}\s*")
MARK = re.compile(r"(?<!\s)\s*\bdrethtr\s*\{[^{}]*\}")


class PageXMLEditor(Editor):
    """Edits PAGE XML: text in TextEquiv and Word, reviews and numbers in the attribute `custom`."""

    id_name = "id"
    region_name = "TextRegion"
    after_lines = ("TextEquiv", "TextStyle")
    before_text = ("AlternativeImage", "Coords", "Baseline")
    text_parts = ("Word", "Glyph", "TextEquiv")

    def set_text(self, element: Element, line: TextLine, old: TextLine) -> Iterator[Edit]:
        """Insert words and text after the Baseline; if there are words without text, they stay and none are added.

        Tags of the text move with it.
        """
        yield from self.replace_text(element, line, old)
        if (custom := moved_tags(element, line)) != element.attributes.get("custom", ""):
            yield self.splicer.set_attribute(element, "custom", custom or None)

    def set_text_and_review(self, element: Element, line: TextLine, old: TextLine) -> Iterator[Edit]:
        assert line.transcription is not None
        yield from self.replace_text(element, line, old)
        yield self.mark(element, moved_tags(element, line), line.transcription.review)

    def lost_tags(self, element: Element, text: str) -> Sequence[str]:
        return moved(element.attributes.get("custom", ""), whole_text(element), clean(text)).lost

    def set_tags(self, element: Element, tags: Sequence[Tag]) -> Iterator[Edit]:
        new, own, whole = list(tags), own_doubts(element), whole_text(element)
        text = in_one_row(whole)  # positions of tags count these characters, those of entries also all white space

        def kept(found: re.Match[str]) -> str:
            for tag in tags_of(moved(without_tags(found[0], UNCLEAR, own), whole, text).custom):
                if tag in new:
                    new.remove(tag)
                elif tag.length:  # people see only these, so they cannot have removed others
                    return ""
            return found[0]

        rest = ENTRY.sub(kept, element.attributes.get("custom", "")).strip()
        custom = " ".join([rest, *(moved(entry_of(tag), text, whole).custom for tag in new)]).strip()
        yield self.splicer.set_attribute(element, "custom", custom or None)

    def replace_text(self, element: Element, line: TextLine, old: TextLine) -> Iterator[Edit]:
        """Replace words and the text that counts; unchanged words and other texts keep their elements."""
        assert line.transcription is not None
        known = element.all("Word")
        words = [word for word in by_custom_index(known) if read_text(word)[0]]
        parts = list[Element | ET.Element](known)
        if words or not known:  # otherwise somebody marked words by hand, which stay
            new = line.words if all(word.polygon for word in line.words) else ()
            before = counterparts([read_text(word)[0] for word in words], [word.text for word in new])
            come_or_go = not len(before) == len(new) == len(known)
            parts = []
            for here, word in enumerate(new):
                if (there := before.get(here)) is None:
                    id = self.ids.claim(f"{line.id}_w{here + 1}")
                    parts.append(word_element(word, here, id, prefix_of(element)))
                    continue
                parts.append(words[there])
                was = old.words[there] if old.words else None
                yield from self.set_word(words[there], word, was, here if come_or_go else None)
        yield from self.set_parts(element, [*parts, *new_texts(element, line.transcription)])

    def set_word(self, element: Element, word: PageWord, old: PageWord | None, number: int | None) -> Iterator[Edit]:
        """Replace the text, place and doubt of the word `old`, if they differ, and its number, if it has one.

        Its attributes and styles stay, its glyphs are removed, and its tags move with the text.
        """
        custom = before = element.attributes.get("custom", "")
        if word != old:
            custom = moved(without_tags(custom, UNCLEAR), whole_text(element), clean(word.text)).custom
            if word.doubtful:
                custom = f"{custom} {entry_of(Tag(UNCLEAR, 0, len(word.text)))}".strip()
            place, text = word_element(word, 0, "", prefix_of(element))
            if (coords := element.first("Coords")) is not None and (old is None or word.polygon != old.polygon):
                yield self.splicer.set_attribute(coords, "points", place.get("points"))
            yield from self.set_parts(element, [text] if coords is not None else [place, text])
        if number is not None and CUSTOM_INDEX.search(custom):
            custom = numbered(custom, number)
        if custom != before:
            yield self.splicer.set_attribute(element, "custom", custom or None)

    def remove_text(self, element: Element) -> Iterator[Edit]:
        """Remove also the doubts of drethtr: without words, they would look like tags of a person."""
        yield from self.set_parts(element, ())
        custom = element.attributes.get("custom", "")
        yield self.mark(element, without_tags(custom, UNCLEAR, own_doubts(element)), None)

    def set_review(self, element: Element, review: Review | None) -> Iterator[Edit]:
        custom = element.attributes.get("custom", "")
        if review is Review.CONFIRMED:
            custom = without_tags(custom, UNCLEAR, own_doubts(element))
            for word in element.all("Word"):
                before = word.attributes.get("custom", "")
                if (after := without_tags(before, UNCLEAR)) != before:
                    yield self.splicer.set_attribute(word, "custom", after or None)
        yield self.mark(element, custom, review)

    def mark(self, element: Element, custom: str, review: Review | None) -> Edit:
        """Set the attribute `custom` to a value, with the mark of a review in place of an earlier one."""
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

    def is_region(self, element: Element) -> bool:
        return element.name.endswith("Region") or element.name == "TableCell"

    def new_regions(self, regions: Sequence[Region]) -> Iterator[Edit]:
        page = self.markup.root.first("Page")
        assert page is not None  # the reader requires it
        prefix = prefix_of(page)

        def table_of(table: str) -> ET.Element:
            element = ET.Element(f"{prefix}TableRegion", id=self.ids.claim(table))
            cells = (one.polygon or () for one in regions if one.cell is not None and one.cell.table == table)
            box = box_around(chain.from_iterable(cells))
            add_coords(element, box and box.polygon(), prefix)
            return element

        yield from self.in_tables(page, regions, lambda region: region_element(region, region.id, prefix), table_of)

    def set_regions(self, changes: Sequence[tuple[Region, Region]]) -> Iterator[Edit]:
        for old, new in changes:
            element = self.region(old.id)
            if new.kind != old.kind:
                known, structure = kind_attributes(new)
                custom = without_tags(element.attributes.get("custom", ""), "structure")
                yield self.splicer.set_attribute(element, "type", known or None)
                yield self.splicer.set_attribute(element, "custom", f"{custom} {structure}".strip() or None)
            if new.polygon != old.polygon and (coords := element.first("Coords")) is not None:
                yield self.splicer.set_attribute(coords, "points", written(new.polygon or flat_polygon(None)))

    def order_regions(self, ids: Sequence[str]) -> Iterator[Edit]:
        """Groups stay, unless the order tears one apart; references to other regions, such as pictures, come last."""
        page = self.markup.root.first("Page")
        assert page is not None
        prefix, order = prefix_of(page), page.first("ReadingOrder")
        group = None if order is None else group_in_order(order, ids, prefix)
        if group is None:
            group = flat_group(order, ids, prefix, self.ids.claim("reading_order"))
        if order is None or order.inside == order.end:
            whole = ET.Element(f"{prefix}ReadingOrder")
            whole.append(group)
            before = page.all("AlternativeImage", "Border", "PrintSpace")
            yield self.splicer.insert(page, before[-1] if before else None, [whole])
            if order is not None:
                yield self.splicer.remove(order)
        elif order.children:
            first, *rest = order.children
            lead = self.splicer.lead(first)
            yield Edit(first.start, first.end, self.splicer.written(group, lead).removeprefix(lead).encode())
            yield from map(self.splicer.remove, rest)
        else:
            yield self.splicer.insert(order, None, [group])
        regions = [self.regions[id] for id in ids if id in self.regions]
        if self.is_numbered(regions):
            for number, region in enumerate(regions):
                yield from self.set_number(region, number)

    def is_numbered(self, elements: Sequence[Element]) -> bool:
        return all(CUSTOM_INDEX.search(element.attributes.get("custom", "")) for element in elements)

    def set_number(self, element: Element, number: int) -> Iterator[Edit]:
        custom = element.attributes.get("custom", "")
        if (found := CUSTOM_INDEX.search(custom)) is None or int(found[1]) != number:
            yield self.splicer.set_attribute(element, "custom", numbered(custom, number))

    def region_texts(self) -> Mapping[str, Element]:
        texts = {id: region.all("TextEquiv") for id, region in self.regions.items()}
        unicodes = {id: found[0].first("Unicode") for id, found in texts.items() if len(found) == 1}
        return {id: unicode for id, unicode in unicodes.items() if unicode and unicode.inside < unicode.end}


def flat_group(order: Element | None, ids: Sequence[str], prefix: str, new_id: str) -> ET.Element:
    """A group of these regions, then of the others of a reading order, with the attributes of its group."""
    old = order.children[0] if order is not None and order.children else None
    kept = old.attributes if old is not None and old.name in ("OrderedGroup", "UnorderedGroup") else {}
    others = [element.attributes.get("regionRef", "") for element in (order.walk() if order is not None else ())]
    group = ET.Element(f"{prefix}OrderedGroup", {"id": new_id} | {name: value for name, value in kept.items() if value})
    for index, id in enumerate(filter(None, dict.fromkeys([*ids, *others]))):
        ET.SubElement(group, f"{prefix}RegionRefIndexed", index=str(index), regionRef=id)
    return group


def group_in_order(order: Element, ids: Sequence[str], prefix: str) -> ET.Element | None:
    """The group of a reading order with these regions in this order; None if it would tear apart a group within it."""
    if [one.name for one in order.children] != ["OrderedGroup"]:
        return None
    [group] = order.children
    known = {one.attributes.get("regionRef") for one in group.walk()}
    new = [Element("RegionRefIndexed", "", "", {"regionRef": id}, 0, 0) for id in ids if id not in known]
    rank = {id: place for place, id in enumerate(ids)}
    _, arranged = in_order(replace(group, children=[*group.children, *new]), rank, prefix)
    found = dict.fromkeys(one.get("regionRef", "") for one in arranged.iter())
    return arranged if [id for id in found if id in rank] == list(ids) else None


def in_order(part: Element, rank: Mapping[str, int], prefix: str) -> tuple[int, ET.Element]:
    """A part of a reading order with its content reordered, and the first position of its regions in the new order.

    Regions without a position come last; parts without regions, such as labels, have position -1. Unordered groups stay
    unchanged.
    """
    inside = [in_order(child, rank, prefix) for child in part.children]
    if part.name.startswith("OrderedGroup"):
        inside.sort(key=itemgetter(0))
        for index, element in enumerate(element for place, element in inside if place >= 0):
            element.set("index", str(index))
    arranged = ET.Element(f"{prefix}{part.name}", {name: value for name, value in part.attributes.items() if value})
    arranged.extend(element for _, element in inside)
    places = [place for place, _ in inside if place >= 0]
    if reference := part.attributes.get("regionRef"):
        places.append(rank.get(reference, len(rank)))
    return min(places, default=-1), arranged


def moved_tags(element: Element, line: TextLine) -> str:
    """The value of `custom` of a line for its new text: tags are moved, doubts of drethtr are those of the new text."""
    assert line.transcription is not None
    custom, own = element.attributes.get("custom", ""), own_doubts(element)
    theirs = moved(without_tags(custom, UNCLEAR, own), whole_text(element), clean(line.transcription.text)).custom
    return " ".join([theirs, *(unclear(line) if own else ())])


def new_texts(element: Element, text: Transcription) -> list[Element | ET.Element]:
    """The texts of a line, with a new one in place of the one that counts, with its index."""
    new, before = text_element(text.text, text.confidence, prefix_of(element)), chosen_text(element)
    if before is None or not text.text.strip():  # if this were left empty, another text would count
        return [new]
    if index := before.attributes.get("index"):
        new.set("index", index)
    return [new if one is before else one for one in element.all("TextEquiv")]


def numbered(custom: str, number: int) -> str:
    """A value of `custom` with another number."""
    return f"readingOrder {{index:{number};}} {INDEX.sub('', custom)}".strip()
