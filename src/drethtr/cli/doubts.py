"""What there is to doubt in what was read: marked in its text, and said in one sentence at the end."""

from collections import Counter
from collections.abc import Iterable, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from drethtr.recognition.reading import is_doubtful

if TYPE_CHECKING:
    from drethtr.documents.document import Document
    from drethtr.documents.page import Page, TextLine
    from drethtr.recognition.reading import Reading


def marked(words: Iterable[tuple[str, bool]], flags: Iterable[object]) -> str:
    """A line with its doubtful words, those with true, as `[word?]`, and what is odd about it as `[!kind: reason]`."""
    return " ".join(
        [*(f"[{word}?]" if doubtful else word for word, doubtful in words), *(f"[!{flag}]" for flag in flags)]
    )


def write_with_doubts(document: "Document") -> bytes:
    """All pages of a document as text, doubts marked."""
    from drethtr.documents.writers.text import write_text

    sheets = (replace(sheet, page=sheet.page.with_lines(line_with_doubts)) for sheet in document.sheets)
    return write_text(replace(document, sheets=tuple(sheets)))


def line_with_doubts(line: "TextLine") -> "TextLine":
    """The line, doubts marked in its text."""
    if line.transcription is None:
        return line
    words = [(word.text, word.doubtful) for word in line.words] or [(line.text, False)]
    return replace(line, transcription=replace(line.transcription, text=marked(words, line.flags)))


@dataclass
class Doubts:
    """Counts of lines and words; of the lines that are flagged, how many for each kind of flag.

    kept  lines that were not read, as they had their text before
    """

    lines: int = 0
    kept: int = 0
    words: int = 0
    doubtful: int = 0
    flagged: int = 0
    kinds: Counter[str] = field(default_factory=Counter)

    def see(self, doubtful: list[bool], kinds: set[str]) -> None:
        """Count a line: whether each of its words is doubtful, and what it is flagged for."""
        self.lines += 1
        self.words += len(doubtful)
        self.doubtful += sum(doubtful)
        self.flagged += bool(kinds)
        self.kinds.update(kinds)

    def see_line(self, reading: "Reading") -> None:
        """Count the reading of a line."""
        self.see([is_doubtful(word, reading) for word in reading.words()], {flag.kind for flag in reading.flags})

    def see_page(self, page: "Page", kept: Set[str]) -> None:
        """Count the lines of a page that were read; those with the ids `kept` had their text before."""
        self.kept += len(kept)
        for line in page.lines:
            if line.transcription is not None and line.id not in kept:
                kinds = {flag.kind for flag in line.flags}
                self.see([word.doubtful for word in line.words], kinds)

    def __str__(self) -> str:
        if not self.lines:
            return f"no line was read{f': {self.kept} have text; --force reads them anew' if self.kept else ''}"
        found = f"{self.doubtful} of {self.words} words doubtful, {self.flagged} of {self.lines} lines flagged"
        kinds = ", ".join(f"{kind} {number}" for kind, number in sorted(self.kinds.items()))
        return f"{found} ({kinds})" if kinds else found
