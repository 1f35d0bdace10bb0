"""`read_page`: read a page from PAGE XML, ALTO, JSON or an image."""

import codecs
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from drethtr.base.errors import DataError
from drethtr.base.links import open_ordinary
from drethtr.documents.alto import reader as alto
from drethtr.documents.alto.editor import ALTOEditor
from drethtr.documents.beside import image_beside
from drethtr.documents.editor import Editor
from drethtr.documents.json import read_json
from drethtr.documents.markup import MAX_BYTES, Element, Markup, parse
from drethtr.documents.page import Page, Parsed, SizeOf
from drethtr.documents.page_xml import reader as page_xml
from drethtr.documents.page_xml.editor import PageXMLEditor
from drethtr.images.page import PageSource
from drethtr.images.page_file import is_pdf

SPACE = b" \t\r\n"

HEAD = 4096
"""Bytes from the start of a file that show its format, and the program that made a PAGE or ALTO file."""

MADE_HERE = re.compile(rb'<Creator>drethtr |<softwareName>drethtr</|\A\{\s*"format": "drethtr page ')
"""The signatures of our writers of PAGE, ALTO and JSON."""

DESCRIBING = re.compile(rb"<([\w.-]+:)?(PcGts|alto)\b")
"""The root element of PAGE or ALTO, near the beginning of the file; the rest of the file may be damaged."""


class Dialect(NamedTuple):
    """An XML format: its name, its key in `FORMATS`, its root element, supported namespaces, reader and editor."""

    name: str
    format: str
    root: str
    namespaces: tuple[str, ...]
    read: Callable[[Element, str, SizeOf], Parsed]
    editor: type[Editor]


PAGE_XML = Dialect("PAGE XML", "page", "PcGts", page_xml.NAMESPACES, page_xml.read_page_xml, PageXMLEditor)
ALTO = Dialect("ALTO", "alto", "alto", alto.NAMESPACES, alto.read_alto, ALTOEditor)
DIALECTS = (PAGE_XML, ALTO)


def read_page(path: str | Path, images: Path | None = None) -> Page:
    """Read a page from a PAGE XML, ALTO or JSON file; from an image file, a page without lines.

    Coordinates are in pixels of the image that the file names; ALTO in other units is converted with the size of the
    image if that is found. Only the file and the size of the image are read.

    Args:
        images: A folder to look for the image first.

    Raises:
        DataError: naming the file and what is wrong with it.
    """
    path = Path(path)
    data = described_bytes(path)
    if data is None:
        return Page(path.name, *image_size(path))
    return page_in(data, str(path), lambda image: size_beside(path, image, images))


def described_bytes(path: Path) -> bytes | None:
    """The bytes of a file that describes a page, at most one more than are accepted; None for other files.

    Raises:
        DataError: if it cannot be read.
    """
    try:
        with open_ordinary(path) as file:
            data = file.read(64)
            return data + file.read(MAX_BYTES + 1 - len(data)) if kind_of(data) else None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from error


def kind_of(data: bytes) -> bytes:
    """The first character of a description, `<` or `{`; empty for other files."""
    head = data[:64]
    for mark in (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        head = head.removeprefix(mark)
    first = head.lstrip(SPACE + b"\0")[:1]
    return first if first in (b"<", b"{") else b""


def page_in(data: bytes, name: str, size_of: SizeOf) -> Page:
    """The page in the bytes of a PAGE, ALTO or JSON file.

    Raises:
        DataError: naming what is wrong with it.
    """
    return read_json(data, name) if kind_of(data) == b"{" else parse_page(data, name, size_of)[2].page


def first_bytes(path: Path, limit: int = HEAD) -> bytes:
    """The first bytes of a file, by default enough to identify its format."""
    try:
        with open_ordinary(path) as file:
            return file.read(limit)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from error


def is_description(head: bytes) -> bool:
    """Whether a file is PAGE or ALTO, by its first bytes."""
    return DESCRIBING.search(head.replace(b"\0", b"")) is not None  # in UTF-16 every other byte is 0


def made_here(data: bytes) -> bool:
    """Whether drethtr wrote a PAGE, ALTO or JSON file, by its first bytes; one that it only updated does not count."""
    return MADE_HERE.search(data[:HEAD]) is not None


def by_trust(path: Path, ours: bool) -> tuple[bool, bool, Path]:
    """A key that sorts the files of a page, the best first; `ours` says whether drethtr wrote it.

    Files of other programs come before ours, as people may have worked on them; PAGE comes before ALTO.
    """
    return ours, ".alto" in path.suffixes, path


def parse_page(data: bytes, name: str, size_of: SizeOf) -> tuple[Markup, Dialect, Parsed]:
    """Parse the bytes of a PAGE or ALTO file into a page, keeping what is needed to write into the file.

    Raises:
        DataError: if it is not XML that can be read safely, neither PAGE nor ALTO, or of an unknown version.
    """
    markup = parse(data, name)
    root = markup.root
    dialect = next((known for known in DIALECTS if known.root == root.name), None)
    if dialect is None:
        raise DataError(f"neither PAGE XML nor ALTO: the root element is {root.name!r}", name)
    if root.namespace.replace("https://", "http://", 1) not in dialect.namespaces:  # some programs write it so
        first, last = dialect.namespaces[0], dialect.namespaces[-1]
        raise DataError(f"{dialect.name} with unknown namespace {root.namespace!r}; known: {first} to {last}", name)
    return markup, dialect, dialect.read(root, name, size_of)


def size_beside(path: Path, image: str, images: Path | None) -> tuple[int, int] | None:
    """Width and height of the image of a page file, if it exists and is not a PDF; see `read_page`."""
    try:
        return size_of(PageSource(image_beside(path, image, images=images)))
    except DataError:
        return None


def size_of(source: PageSource) -> tuple[int, int] | None:
    """Width and height of the image of a page, if it can be opened and is not in a PDF."""
    try:
        return None if is_pdf(source.path) else source.size()
    except DataError:
        return None


def image_size(path: Path) -> tuple[int, int]:
    """Width and height of an image file after EXIF rotation.

    Raises:
        DataError: if it is not an image.
    """
    if is_pdf(path):
        raise DataError("a PDF; expected PAGE XML, ALTO, JSON or an image", path)
    try:
        return PageSource(path).size()
    except DataError as error:
        raise DataError(f"neither PAGE XML, ALTO nor JSON, and {error.reason}", path) from error
