"""Write plain text: a row per line, or per row of a table with cells separated by tabs; an empty row between pages.

Doubts may be marked.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from drethtr.documents.document import Document
from drethtr.documents.page import Page, Region, TextLine, rows_of_table
from drethtr.documents.transcription import Transcription


def write_text(document: Document) -> bytes:
    """Write the text of all pages of a document."""
    return "\n".join(map(text_of, document.pages)).encode("utf-8", "replace")


def text_of(page: Page) -> str:
    """The text of a page; tables that are read row by row have tabs between their cells."""
    return "".join(f"{row}\n" for block in page.blocks for row in rows_of(block))


def rows_of(block: Sequence[Region]) -> Iterator[str]:
    """The lines of a region or of a table read by columns, or the rows of a table, with a place for empty cells."""
    rows = [region.cell.row for region in block if region.cell is not None]
    if len(rows) < 2 or rows != sorted(rows):
        yield from (text for region in block for text in texts_of(region))
        return
    for cells in rows_of_table(block).values():
        texts = ([text for region in regions for text in texts_of(region)] for regions in cells.values())
        yield "\t".join(one_line(" ".join(cell)) for cell in texts)


def texts_of(region: Region) -> list[str]:
    """The texts of the transcribed lines of a region."""
    return [line.text for line in region.lines if line.transcription is not None]


def write_text_with_doubts(document: Document) -> bytes:
    """Write the text of all pages of a document, with doubts marked as in `marked`."""
    sheets = (replace(sheet, page=sheet.page.with_lines(marked_line)) for sheet in document.sheets)
    return write_text(replace(document, sheets=tuple(sheets)))


def text_rows(document: Document, write: Callable[[Document], bytes] = write_text) -> bytes:
    """Write each line with the name of its file before it: `file<TAB>text`."""
    texts = (text for page in document.apart() for text in write(page).decode().split("\n")[:-1])
    return "".join(f"{one_line(document.name)}\t{one_line(text)}\n" for text in texts).encode("utf-8", "replace")


def one_line(text: str) -> str:
    """Replace tabs and line breaks by spaces."""
    return text.replace("\t", " ").replace("\n", " ")


def marked_line(line: TextLine) -> TextLine:
    """A line with doubts marked in its text."""
    if line.transcription is None:
        return line
    return replace(line, transcription=replace(line.transcription, text=marked(line.transcription)))


def marked(line: Transcription) -> str:
    """The text of a line with doubtful words as `[word?]`, followed by its flags as `[!kind: reason]`."""
    words = [f"[{word.text}?]" if word.doubtful else word.text for word in line.words]
    text = words or [line.text] * bool(line.text)
    return " ".join([*text, *(f"[!{flag}]" for flag in line.flags)])
