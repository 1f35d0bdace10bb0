"""Parse XML safely into a tree that records the position of every element in the file.

A document type declaration is refused as soon as it begins, because entities, external files and expansion bombs all
need one. The file is processed as UTF-8; `Markup.encode` restores the original encoding and byte order mark exactly.
"""

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn
from xml.etree import ElementTree as ET
from xml.parsers import expat

from drethtr.base.errors import DataError
from drethtr.documents.names import free_name, numbered

# An element takes a few hundred bytes, so a million fit into memory. PAGE and ALTO nest about ten levels deep; the
# limit protects code that recurses, since deep nesting makes even small files expensive (LOG.md, 2026-11-27).
MAX_BYTES = 64 * 2**20
MAX_ELEMENTS = 1_000_000
MAX_DEPTH = 100

ENCODINGS = re.compile(r"utf-?8|utf-?16|us-ascii|ascii|latin-?1|iso-8859-\d{1,2}|(windows-|cp)125\d")
DECLARATION = re.compile(rb"""<\?xml[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
TAG = re.compile(rb"""<[^<>"']*(?:"[^"]*"[^<>"']*|'[^']*'[^<>"']*)*>""")
BREAK = re.compile(r"[\t\n\r\x85\u2028\u2029]")
XLINK = "http://www.w3.org/1999/xlink"
"""The namespace of links to other files, which are kept as `xlink:href`."""

FORBIDDEN = re.compile("[^\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(slots=True)
class Element:
    """An element and its position, as byte offsets in the UTF-8 form of the file.

    start, inside      begin and end of the start tag
    inside_end, end    begin and end of the end tag; for a self-closing tag both equal `inside`
    """

    name: str
    namespace: str
    prefix: str
    attributes: dict[str, str]
    start: int
    inside: int
    inside_end: int = 0
    end: int = 0
    text: str = ""
    children: list["Element"] = field(default_factory=list)

    def all(self, *names: str) -> list["Element"]:
        """The children with these names."""
        return [child for child in self.children if child.name in names]

    def first(self, *path: str) -> "Element | None":
        """The first descendant along a path of names, each a child of the previous one; None if there is none."""
        here: Element | None = self
        for name in path:
            here = next((child for child in here.children if child.name == name), None) if here else None
        return here

    def walk(self) -> Iterator["Element"]:
        """The element and all its descendants in document order."""
        waiting = [self]  # not recursive, since each element would pass through a generator per level
        while waiting:
            element = waiting.pop()
            yield element
            waiting += reversed(element.children)


class Markup(NamedTuple):
    """A file: its root element, its bytes as UTF-8 without byte order mark, and its original encoding."""

    root: Element
    utf8: bytes
    encoding: str
    mark: bytes

    def encode(self, utf8: bytes) -> bytes:
        """Encode edited bytes in the original encoding; unsupported characters become character references."""
        return self.mark + utf8.decode().encode(self.encoding, "xmlcharrefreplace")


def parse(data: bytes, name: str) -> Markup:
    """Parse an XML file; `name` is used in error messages.

    Raises:
        DataError: if it is too large, in an unknown encoding, not well-formed, or declares a document type.
    """
    refuse_large(data, name)
    mark, encoding = encoding_of(data, name)
    try:
        utf8 = data[len(mark) :].decode(encoding).encode()
    except LookupError as error:  # the pattern allows ISO-8859-12 and windows-1259, which do not exist
        raise DataError(f"unknown encoding {encoding!r}; save it as UTF-8", name) from error
    except UnicodeError as error:
        raise DataError(f"declared as {encoding} but encoded otherwise: {error}", name) from error
    if b"\0" in utf8:  # expat would take it for UTF-16 despite the given encoding
        raise DataError("contains NUL characters, as UTF-32 does; save it as UTF-8", name)
    builder = TreeBuilder(utf8, name)
    parser = expat.ParserCreate("utf-8", " ")
    parser.namespace_prefixes = True
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = builder.refuse_doctype
    parser.StartElementHandler = lambda tag, attributes: builder.open(tag, attributes, parser.CurrentByteIndex)
    parser.EndElementHandler = lambda _: builder.close(parser.CurrentByteIndex)
    parser.CharacterDataHandler = builder.add_text
    try:
        parser.Parse(utf8, True)
    except expat.ExpatError as error:
        raise DataError(f"not well-formed XML: {error}", name) from error
    if builder.root is None:
        raise DataError("not well-formed XML: it has no root element", name)
    return Markup(builder.root, utf8, encoding, mark)


def refuse_large(data: bytes, name: str) -> None:
    """Refuse a page file that exceeds the size limit, in any format."""
    if len(data) > MAX_BYTES:
        raise DataError(f"exceeds the limit of {MAX_BYTES:,} bytes for page files", name)


def encoding_of(data: bytes, name: str) -> tuple[bytes, str]:
    """The byte order mark of a file, and its encoding from that or from the XML declaration."""
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return mark, encoding
    if data.startswith((b"<\0", b"\0<")):
        return b"", "utf-16-le" if data.startswith(b"<\0") else "utf-16-be"
    declared = DECLARATION.match(data)
    encoding = declared[1].decode().lower() if declared else "utf-8"
    if encoding.startswith("utf-16") or encoding == "utf16":
        return b"", "utf-8"  # a declaration readable as ASCII cannot be UTF-16
    if not ENCODINGS.fullmatch(encoding):
        raise DataError(f"unknown encoding {encoding!r}; save it as UTF-8", name)
    return b"", encoding


class TreeBuilder:
    """Builds elements from parser events."""

    def __init__(self, utf8: bytes, name: str) -> None:
        self.utf8 = utf8
        self.name = name
        self.root: Element | None = None
        self.opened: list[Element] = []
        self.texts: list[list[str]] = []
        self.elements = 0

    def refuse_doctype(self, *_: object) -> NoReturn:
        """Refuse a document type declaration before it has any effect."""
        raise DataError("refused because it declares a document type (DTD), which may define entities", self.name)

    def open(self, tag: str, attributes: dict[str, str], start: int) -> None:
        """Begin an element; attributes in namespaces other than `XLINK` are ignored."""
        self.elements += 1
        if self.elements > MAX_ELEMENTS or len(self.opened) >= MAX_DEPTH:
            raise DataError(f"refused because it exceeds {MAX_ELEMENTS:,} elements or {MAX_DEPTH} levels", self.name)
        if (matched := TAG.match(self.utf8, start)) is None:
            raise DataError(f"not well-formed XML: no tag at byte {start:,}", self.name)
        namespace, local, prefix = split_name(tag)
        plain = {key: value for key, value in attributes.items() if " " not in key}
        for link in (value for key, value in attributes.items() if key.startswith(f"{XLINK} href")):
            plain["xlink:href"] = link
        element = Element(local, namespace, prefix, plain, start, matched.end())
        if self.opened:
            self.opened[-1].children.append(element)
        else:
            self.root = element
        self.opened.append(element)
        self.texts.append([])

    def close(self, index: int) -> None:
        """End the innermost element."""
        element = self.opened.pop()
        element.text = "".join(self.texts.pop())
        closes_itself = self.utf8[element.inside - 2 : element.inside] == b"/>"
        element.inside_end = element.inside if closes_itself else index
        element.end = element.inside if closes_itself else self.utf8.index(b">", index) + 1

    def add_text(self, text: str) -> None:
        """Add characters to the innermost element."""
        self.texts[-1].append(text)


def split_name(tag: str) -> tuple[str, str, str]:
    """Split a name from expat into namespace, local name and prefix."""
    match tag.split(" "):
        case [namespace, local, prefix]:
            return namespace, local, prefix
        case [namespace, local]:
            return namespace, local, ""
        case _:
            return "", tag, ""


def clean(text: str) -> str:
    """Make text valid for XML on one line: tabs and line breaks become spaces, forbidden characters U+FFFD."""
    return FORBIDDEN.sub("\ufffd", BREAK.sub(" ", text))


def serialize(root: ET.Element) -> bytes:
    """Serialize a tree of elements as an indented XML file."""
    ET.indent(root, " ")
    return as_file(root)


def as_file(root: ET.Element) -> bytes:
    """Serialize a tree of elements as an XML file, with its own white space."""
    written: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


class Edit(NamedTuple):
    """A replacement of the bytes between two offsets of a file."""

    start: int
    end: int
    new: bytes


def apply(utf8: bytes, edits: Iterable[Edit]) -> bytes:
    """Apply edits, which must not overlap."""
    parts, done = [], 0
    # Sorted, an insertion comes before a replacement at the same byte, and so before the element it precedes.
    for start, end, new in sorted(edits):
        if start < done:
            raise ValueError(f"two edits overlap at byte {start}")
        parts += [utf8[done:start], new]
        done = end
    return b"".join([*parts, utf8[done:]])


STARTS = "A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff"
NO_PART = re.compile(f"[^{STARTS}0-9.-]")
NO_START = re.compile(f"^(?=[^{STARTS}])|^$")


class Identifiers:
    """Assigns unique, valid XML ids; those in `taken` are already in use."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)
        self.tried: dict[str, Iterator[str]] = {}

    def claim(self, wanted: str) -> str:
        """The wanted id, or a similar one if it is taken or invalid."""
        valid = NO_START.sub("_", NO_PART.sub("_", wanted))
        names = self.tried.setdefault(valid, numbered(valid))  # continues after the last number assigned
        free = next(name for name in names if name not in self.taken)
        self.taken.add(free)
        return free


def ids_of(elements: Sequence[Element], attribute: str, kind: str) -> list[str]:
    """The id of each element; missing and duplicate ids are numbered, reproducibly."""
    taken = {element.attributes.get(attribute, "") for element in elements} | {""}
    seen, ids = set(), []
    for number, element in enumerate(elements, 1):
        own = element.attributes.get(attribute, "")
        if not own or own in seen:
            own = free_name(f"{kind}_{number}", taken)
        seen.add(own)
        ids.append(own)
    return ids
