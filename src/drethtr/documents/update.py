"""Write text into a PAGE or ALTO file without changing anything else in it.

All other bytes of the file are preserved, including encoding and line endings; new elements are indented like their
neighbors. Existing text is kept unless `replace` is given; empty text elements, which some programs write for
untranscribed lines, are replaced. A comment at the end of the file says what added the text, and which tags were on
words that no longer exist.
"""

from drethtr.base.errors import DataError
from drethtr.documents.document import Provenance
from drethtr.documents.markup import apply
from drethtr.documents.page import Page, TextLine
from drethtr.documents.points import Points
from drethtr.documents.read import parse_page


def update(
    data: bytes,
    page: Page,
    provenance: Provenance,
    *,
    replace: bool = False,
    name: str = "page",
    seen: bytes | None = None,
) -> bytes:
    """Return the file `data` with the transcriptions of `page` in its lines.

    Args:
        data: A PAGE or ALTO file.
        page: The page read from it, with text; its image may have another size, or be turned.
        replace: Whether to replace existing texts and their words; reviewed texts (see `Review`) are always kept.
        name: The name of the file in error messages.
        seen: The file when the page was read, by default the same; lines that have moved since then get no text.

    Raises:
        DataError: if the file cannot be read, or lacks a line that `page` has a text for.
    """
    size = page.width, page.height
    markup, dialect, parsed = parse_page(data, name, lambda _: size)
    before = by_id(parsed.page)
    read = before if seen is None or seen == data else by_id(parse_page(seen, name, lambda _: size)[2].page)
    if missing := [line.id for line in page.lines if line.transcription is not None and line.id not in before]:
        raise DataError(f"contains no line {missing[0]!r} to write text into", name)
    editor = dialect.editor(markup, parsed)

    def in_units(page: Page) -> Page:
        return page.resized(*parsed.size) if all(parsed.size) else page

    old = by_id(in_units(parsed.page))
    page = in_units(page.as_described())
    written = [
        (parsed.lines[line.id], line)
        for line in page.lines
        if line.transcription is not None
        and may_write(before[line.id], replace=replace)
        and place_of(before[line.id]) == place_of(read[line.id])
    ]
    edits = [edit for element, line in written for edit in editor.set_text(element, line, old[line.id])]
    if edits:
        lost = (
            f"; line {line.id} had {' '.join(tags)}"
            for element, line in written
            if (tags := editor.lost_tags(element, line.text))
        )
        edits.append(editor.splicer.comment(f"text added by {provenance} on {provenance.timestamp}{''.join(lost)}"))
    return markup.encode(apply(markup.utf8, edits))


def by_id(page: Page) -> dict[str, TextLine]:
    """The lines of a page by their ids."""
    return {line.id: line for line in page.lines}


def place_of(line: TextLine) -> tuple[Points | None, Points | None]:
    """The position of a line: its outline and its baseline."""
    return line.polygon, line.baseline


def may_write(line: TextLine, *, replace: bool) -> bool:
    """Whether a line has no text, or text that may be replaced."""
    text = line.transcription
    return text is None or (replace and text.review is None)
