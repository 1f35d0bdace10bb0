"""Write text into a PAGE or ALTO file without changing anything else in it.

All bytes of the file are preserved, in their encoding, with their line endings; new elements are inserted between them,
indented like their neighbors. A line with text keeps it unless it is to be replaced; empty text elements, which some
programs write for untranscribed lines, are replaced. A comment at the end of the file says who added the text.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from drethtr.base.errors import DataError
from drethtr.documents.document import Provenance
from drethtr.documents.identifiers import Identifiers
from drethtr.documents.markup import Edit, Element, apply
from drethtr.documents.page import Page, TextLine, Transcription
from drethtr.documents.read import ALTO, PAGE_XML, parse_page
from drethtr.documents.readers.alto import NAMESPACES as ALTO_NAMESPACES
from drethtr.documents.readers.page_xml import read_text
from drethtr.documents.splice import ATTRIBUTE, Splicer
from drethtr.documents.writers import alto, page_xml

Editor: TypeAlias = Callable[[Splicer, Element, TextLine, Transcription, Identifiers], Iterator[Edit]]
"""Writes the transcription of a line into its element."""

OFFSET = re.compile(rb"[{;]\s*offset\s*:")
"""The part of a `custom` entry that refers to a position in the text: `unclear {offset:0; length:3;}`."""


def update(data: bytes, page: Page, provenance: Provenance, *, replace: bool = False, name: str = "page") -> bytes:
    """Return the file `data` with the transcriptions of `page` in its lines.

    Args:
        data: A PAGE or ALTO file.
        page: The page as read from it, with text; its image may have another size than the file says.
        replace: Whether to replace existing texts, together with their words; never those of a person, see `Review`.
        name: The name of the file in error messages.

    Raises:
        DataError: if the file cannot be read, or lacks a line that `page` has a text for.
    """
    markup, dialect, parsed = parse_page(data, name, lambda _: (page.width, page.height))
    before = {line.id: line for line in parsed.page.lines}
    if missing := [line.id for line in page.lines if line.transcription is not None and line.id not in before]:
        raise DataError(f"{name}: contains no line {missing[0]!r} to write text into")
    splicer = Splicer.of(markup)
    ids = Identifiers(element.attributes.get(key, "") for element in markup.root.walk() for key in ("id", "ID"))
    edits = [
        edit
        for line in (page.resized(*parsed.size) if all(parsed.size) else page).lines
        if line.transcription is not None and may_write(before[line.id], replace=replace)
        for edit in EDITORS[dialect.root](splicer, parsed.lines[line.id], line, line.transcription, ids)
    ]
    if edits:
        edits.append(splicer.comment(f"text added by {provenance} on {provenance.timestamp}"))
    return markup.encode(apply(markup.utf8, edits))


def may_write(line: TextLine, *, replace: bool) -> bool:
    """Whether a line has no text, or one that may be replaced."""
    text = line.transcription
    return text is None or (replace and text.review is None)


def edit_page_xml(
    splicer: Splicer, element: Element, line: TextLine, transcription: Transcription, ids: Identifiers
) -> Iterator[Edit]:
    """Insert words and text after the Baseline; existing words without text stay, and no others are added.

    Entries of `custom` with positions are removed together with a replaced text.
    """
    words = element.all("Word")
    marked_out = bool(words) and not any(read_text(word, "")[0] for word in words)
    yield from forget_places(splicer.markup.utf8, element)
    yield from map(splicer.remove, element.all(*(["TextEquiv"] if marked_out else ["TextEquiv", "Word"])))
    prefix = f"{element.prefix}:" if element.prefix else ""
    new = page_xml.transcription_elements(transcription, line.id, ids, prefix)
    before = element.all("AlternativeImage", "Coords", "Baseline", *(["Word"] if marked_out else []))
    yield splicer.insert(element, before[-1] if before else None, new[-1:] if marked_out else new)


def forget_places(utf8: bytes, element: Element) -> Iterator[Edit]:
    """Remove the entries with an `offset` from the attribute `custom`."""
    for attribute in ATTRIBUTE.finditer(utf8, element.start, element.inside):
        if attribute[1] == b"custom":
            start, end = max(attribute.span(2), attribute.span(3))
            kept = (entry for entry in utf8[start:end].split(b"}") if not OFFSET.search(entry))
            yield Edit(start, end, b"}".join(kept))


def edit_alto(
    splicer: Splicer, element: Element, line: TextLine, transcription: Transcription, ids: Identifiers
) -> Iterator[Edit]:
    """Insert Strings after the Shape, with polygons from ALTO 4 on (3.1 cannot be told from 3.0)."""
    yield from map(splicer.remove, element.all("String", "SP", "HYP"))
    prefix = f"{element.prefix}:" if element.prefix else ""
    style = alto.Style(prefix, shapes=element.namespace == ALTO_NAMESPACES[-1])
    new = alto.string_elements(transcription, line, ids, style)
    yield splicer.insert(element, element.first("Shape"), new)


EDITORS: Mapping[str, Editor] = {PAGE_XML.root: edit_page_xml, ALTO.root: edit_alto}
"""Editors by the root element of the file."""
