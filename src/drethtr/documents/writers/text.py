"""Write plain text: a row per line, an empty row between pages, optionally with marked doubts."""

from collections.abc import Callable
from dataclasses import replace

from drethtr.documents.document import Document
from drethtr.documents.page import TextLine
from drethtr.documents.transcription import Transcription


def write_text(document: Document) -> bytes:
    """Write the text of all pages of a document."""
    return "\n".join(page.text for page in document.pages).encode("utf-8", "replace")


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
