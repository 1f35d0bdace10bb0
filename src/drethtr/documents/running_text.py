"""`read_running_text`: read text without positions from a file of any origin.

It reads plain text, Markdown, TEI, PAGE, ALTO, Word documents, and JSON from programs and language models.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from html import unescape
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from drethtr.base.archive import refusing_damage
from drethtr.base.encoding import decoded, json_in
from drethtr.base.errors import DataError
from drethtr.base.sandbox import Answer, sandboxed
from drethtr.documents.markdown import without_markup
from drethtr.documents.markup import MAX_BYTES, Element, Markup, parse
from drethtr.documents.read import DIALECTS, first_bytes, parse_page

ANY_SIZE = (1000, 1000)
"""A made-up image size, since only the text is needed."""

NO_TEXT = re.compile(r"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)", re.DOTALL)
"""Comments and processing instructions of XML."""

CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)

NOT_ON_THE_PAGE = frozenset(
    {"teiHeader", "facsimile", "standOff", "note", "reg", "corr", "expan", "ex", "figDesc", "supplied"}
)
"""Elements of TEI that editors added: of two forms of a word, the one on the page counts."""

WITHIN_WORDS = frozenset(
    {
        "hi",
        "c",
        "g",
        "w",
        "pc",
        "choice",
        "abbr",
        "am",
        "orig",
        "sic",
        "unclear",
        "del",
        "add",
        "persName",
        "placeName",
        "orgName",
        "date",
    }
)
"""Elements of TEI that may occur within a word; others separate words."""

OFF = re.compile(rb"""val\s*=\s*["'](?:0|false|off)["']""")
"""A value that turns a property of Word off."""

PARTS = ("regions", "pages", "lines", "paragraphs", "blocks", "words")
"""JSON keys of parts of a text, tried in this order if there is no key of `TEXTS`."""

TEXTS = ("text", "transcription", "content", "value")
"""JSON keys of texts."""


def read_running_text(path: str | Path) -> str:
    """Read the text in a file, with its white space.

    Raises:
        DataError: if the file is missing, damaged, too large, or of an unknown kind.
    """
    path = Path(path)
    reader_of(path)
    return running_text(first_bytes(path, MAX_BYTES + 1), path)


def running_text(data: bytes, path: Path) -> str:
    """Read the text in the bytes of a file; the extension of `path` tells the format.

    All but plain text is parsed in a process with limits, since a few bytes may nest or repeat without end.

    Raises:
        DataError: if they are damaged, too many, or of an unknown kind, or take too much memory or time.
    """
    reader = reader_of(path)
    if len(data) > MAX_BYTES:
        raise DataError(f"exceeds the limit of {MAX_BYTES:,} bytes for texts", path)
    if reader is decoded:
        return decoded(data, path)
    _, text = sandboxed(str(path), parsed_text, data, path)
    return bytes(text).decode("utf-8", "surrogatepass")


def parsed_text(data: bytes, path: Path) -> Answer:
    """The text as UTF-8; runs in the child."""
    text = READERS[path.suffix.lower()](data, path).encode("utf-8", "surrogatepass")
    if len(text) > MAX_BYTES:
        raise DataError(f"its text exceeds the limit of {MAX_BYTES:,} bytes", path)
    return None, text


def reader_of(path: Path) -> Callable[[bytes, Path], str]:
    """The reader for the extension of a file.

    Raises:
        DataError: if there is none.
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise DataError(f"unsupported text format {path.suffix!r}; supported: {', '.join(READERS)}", path)
    return reader


def markdown_text(data: bytes, path: Path) -> str:
    """The text of Markdown without its markup."""
    return without_markup(decoded(data, path))


def xml_text(data: bytes, path: Path) -> str:
    """The text of TEI, or of PAGE or ALTO, one row per line; PAGE may give it to regions only."""
    markup = parse(data, str(path))
    if markup.root.name in {dialect.root for dialect in DIALECTS}:
        return parse_page(data, str(path), lambda image: ANY_SIZE)[2].page.running_text
    if markup.root.name not in ("TEI", "TEI.2", "teiCorpus"):
        raise DataError(f"neither TEI, PAGE nor ALTO: the root element is {markup.root.name!r}", path)
    return "".join(tei_parts(markup, markup.root))


def tei_parts(markup: Markup, element: Element) -> Iterator[str]:
    """The text of an element; breaks become line breaks, except within words."""
    if element.name in NOT_ON_THE_PAGE and element.attributes.get("place") != "margin":  # that note is the writer's
        return
    if element.name in ("lb", "pb", "cb"):
        yield "" if element.attributes.get("break") == "no" else "\n"
        return
    space = "" if element.name in WITHIN_WORDS else " "
    yield space
    if element.name == "hi" and element.attributes.get("rend") == "superscript":
        yield "^"
    # Texts between children are cut from the bytes, since the parser joins all text of an element.
    place, previous = element.inside, ""
    for child in element.children:
        between = characters(markup.utf8[place : child.start])
        # A word that was struck out and the one written for it are two words on the page.
        yield " " if not between and {previous, child.name} == {"del", "add"} else between
        previous = child.name
        yield from tei_parts(markup, child)
        place = child.end
    yield characters(markup.utf8[place : element.inside_end])
    yield space


def characters(utf8: bytes) -> str:
    """The text between two tags."""
    parts = CDATA.split(NO_TEXT.sub("", utf8.decode()))
    return "".join(part if number % 2 else unescape(part) for number, part in enumerate(parts))


def json_text(data: bytes, path: Path) -> str:
    """All text in a JSON file, in order, one row per part."""
    try:
        return "\n".join(json_parts(json_in(decoded(data, path))))
    except (ValueError, RecursionError) as error:
        raise DataError(f"not valid JSON: {error}", path) from error


def json_parts(value: Any) -> Iterator[str]:
    """The texts in a JSON value: those under a key of `TEXTS`, else of `PARTS`, else of any nested values."""
    left = [value]  # a stack, with the next value last; a generator per level would take depth times length
    while left:
        value = left.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            left += reversed(value)
        elif isinstance(value, Mapping):
            # Only one key: models give a text both as a whole and by lines, and using both would double it.
            own = next((value[key] for key in TEXTS if isinstance(value.get(key), str | list)), None)
            parts = next((value[key] for key in PARTS if isinstance(value.get(key), list)), None)
            nested = [item for item in value.values() if isinstance(item, list | Mapping)]
            left.append(own if own is not None else parts if parts is not None else nested)


def word_text(data: bytes, path: Path) -> str:
    """The text of a Word document, one row per paragraph."""
    try:
        with refusing_damage("a Word document", path), ZipFile(BytesIO(data)) as archive:
            # The size is checked before unpacking, since a few bytes can hold gigabytes.
            if archive.getinfo("word/document.xml").file_size > MAX_BYTES:
                raise DataError(f"exceeds the limit of {MAX_BYTES:,} bytes for texts", path)
            content = archive.read("word/document.xml")
    except (KeyError, OSError) as error:
        raise DataError(f"not a Word document: {error}", path) from error
    markup = parse(content, str(path))
    paragraphs = (element for element in descendants(markup.root, is_fallback) if element.name == "p")
    return "\n".join("".join(word_parts(paragraph, markup.utf8)) for paragraph in paragraphs)


def word_parts(paragraph: Element, utf8: bytes) -> Iterator[str]:
    """The text runs of a paragraph that Word shows there, without text boxes, which are paragraphs of their own."""

    def elsewhere(element: Element) -> bool:
        is_other = element.name in ("p", "moveFrom") or is_fallback(element)
        return is_other or (element.name == "r" and is_hidden(element, utf8))

    for element in descendants(paragraph, elsewhere):
        if element.name == "t":
            yield element.text
        elif element.name == "noBreakHyphen":
            yield "-"
        elif element.name in ("br", "tab", "cr"):
            yield " "


def is_fallback(element: Element) -> bool:
    """Whether an element repeats the one before it for programs that do not know that, as Word writes text boxes."""
    return element.name == "Fallback"


def is_hidden(run: Element, utf8: bytes) -> bool:
    """Whether Word does not show a run."""
    hidden = run.first("rPr", "vanish")
    return hidden is not None and OFF.search(utf8, hidden.start, hidden.inside) is None


def descendants(element: Element, but: Callable[[Element], bool]) -> Iterator[Element]:
    """All elements within one, in order of the document, without those of which `but` is true and what is in them."""
    left = element.children[::-1]
    while left:
        found = left.pop()
        if not but(found):
            yield found
            left += reversed(found.children)


READERS: Mapping[str, Callable[[bytes, Path], str]] = {
    ".txt": decoded,
    ".md": markdown_text,
    ".xml": xml_text,
    ".json": json_text,
    ".docx": word_text,
}
"""Readers by file extension."""
