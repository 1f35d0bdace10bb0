"""Insert elements into the bytes of a file, indented like their neighbors."""

import re
from collections.abc import Sequence
from html import escape
from typing import NamedTuple
from xml.etree import ElementTree as ET

from drethtr.documents.markup import Edit, Element, Markup, clean

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
        root = markup.root
        gap = markup.utf8[root.inside : root.children[0].start].decode() if root.children else ""
        in_rows = not gap.strip() and "\n" in gap
        return cls(markup, in_rows, gap.rpartition("\n")[2] if in_rows else "")

    def remove(self, element: Element) -> Edit:
        """Remove an element and the white space before it."""
        return Edit(element.start - len(self.lead(element).encode()), element.end, b"")

    def insert(self, parent: Element, after: Element | None, new: Sequence[ET.Element]) -> Edit:
        """Insert elements after a child of `parent`, or before its content; a self-closing tag is opened."""
        # Indented like its neighbours; in a file without rows, ours adds none either.
        lead = self.lead(parent.children[0]) if parent.children else self.lead(parent) + self.unit
        content = "".join(self.written(element, lead if self.in_rows else "") for element in new)
        if self.in_rows and not parent.children and not parent.text:
            content += self.lead(parent)
        if after is None and parent.inside == parent.end:
            tag = f"{parent.prefix}:{parent.name}" if parent.prefix else parent.name
            return Edit(parent.inside - len("/>"), parent.inside, f">{content}</{tag}>".encode())
        place = after.end if after else parent.inside
        return Edit(place, place, content.encode())

    def insert_bytes(self, parent: Element, after: Element | None, content: bytes) -> Edit:
        """Insert an element given as bytes after a child of `parent`, or before its other children."""
        place = after.end if after else parent.inside
        return Edit(place, place, self.lead(parent.children[0]).encode() + content)

    def set_attribute(self, element: Element, name: str, value: str | None) -> Edit:
        """Set, add or (with None) remove an attribute; other attributes keep their bytes."""
        utf8 = self.markup.utf8
        # In the bytes, not in parsed attributes: order, quotation marks and entities of the others must stay.
        for found in ATTRIBUTE.finditer(utf8, element.start, element.inside):
            if found[1].decode() != name:
                continue
            if value is None:
                return Edit(*found.span(), b"")
            return Edit(*max(found.span(2), found.span(3)), escaped(value))
        # Before the end of the tag, which is `/>` if it is empty.
        end = element.inside - (2 if utf8[: element.inside].endswith(b"/>") else 1)
        return Edit(end, end, b"" if value is None else b' %s="%s"' % (name.encode(), escaped(value)))

    def comment(self, text: str) -> Edit:
        """Insert a comment at the end of the root element."""
        last = self.markup.root.children[-1]
        safe = re.sub("-(?=-)", "- ", clean(text))  # XML forbids two hyphens in a comment
        return Edit(last.end, last.end, f"{self.lead(last)}<!-- {safe} -->".encode())

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
