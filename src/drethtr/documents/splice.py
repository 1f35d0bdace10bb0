"""New elements between the bytes of a file, indented as their neighbors."""

import re
from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree as ET

from drethtr.documents.markup import Edit, Element, Markup, clean


class Splicer(NamedTuple):
    """A file, whether its elements stand in rows of their own, and the spaces or tabs by which a level is indented."""

    markup: Markup
    in_rows: bool
    unit: str

    @classmethod
    def of(cls, markup: Markup) -> "Splicer":
        """Indentation is what stands before the first element in the root."""
        root = markup.root
        gap = markup.utf8[root.inside : root.children[0].start].decode() if root.children else ""
        in_rows = not gap.strip() and "\n" in gap
        return cls(markup, in_rows, gap.rpartition("\n")[2] if in_rows else "")

    def remove(self, element: Element) -> Edit:
        """Take out an element and the white space before it."""
        return Edit(element.start - len(self.lead(element).encode()), element.end, b"")

    def insert(self, parent: Element, after: Element | None, new: Sequence[ET.Element]) -> Edit:
        """Put elements after a child of `parent`, or before all that is in it; a tag that closes itself is opened."""
        lead = self.lead(parent.children[0]) if parent.children else self.lead(parent) + self.unit
        content = "".join(self.written(element, lead if self.in_rows else "") for element in new)
        if self.in_rows and not parent.children and not parent.text:
            content += self.lead(parent)
        if after is None and parent.inside == parent.end:
            tag = f"{parent.prefix}:{parent.name}" if parent.prefix else parent.name
            return Edit(parent.inside - len("/>"), parent.inside, f">{content}</{tag}>".encode())
        place = after.end if after else parent.inside
        return Edit(place, place, content.encode())

    def comment(self, text: str) -> Edit:
        """A comment as the last thing in the root."""
        last = self.markup.root.children[-1]
        safe = re.sub("-(?=-)", "- ", clean(text))
        return Edit(last.end, last.end, f"{self.lead(last)}<!-- {safe} -->".encode())

    def lead(self, element: Element) -> str:
        """The white space before an element."""
        utf8 = self.markup.utf8
        begin = element.start
        while begin and utf8[begin - 1 : begin].isspace():
            begin -= 1
        return utf8[begin : element.start].decode()

    def written(self, element: ET.Element, lead: str) -> str:
        """An element and the white space before it; texts have no line breaks of their own."""
        if self.in_rows:
            ET.indent(element, self.unit)
        text: str = ET.tostring(element, encoding="unicode")
        return lead + text.replace("\n", lead)
