"""Which lines of a page that an index has need not be read again, after a text on the page was corrected."""

import numpy as np

from drethtr.documents.transcription import Transcription
from drethtr.pages.transcribe import SegmentedPage, is_placed
from drethtr.recognition.posteriors import Posteriors
from drethtr.search.locate import LinePlace
from drethtr.search.packed import PackedLines
from drethtr.search.records import StoredLine
from drethtr.text.normalize import nfc, visible

SAME = 2
"""Pixels by which the edges of a line that has not moved may differ: it was found, and its file has whole pixels."""

Entry = tuple[StoredLine, Posteriors]
"""A line to store, with its posteriors."""


def given_line(id: str, place: bytes, given: Transcription) -> StoredLine:
    """A line with the text of a file.

    A text without confidence was written by a person, so it is certain. A text by a program is only shown.
    """
    text, confidence = nfc(visible(given.text)), given.confidence
    return StoredLine(id, text, place, 1.0 if confidence is None else confidence, confidence is None)


def unchanged_lines(page: SegmentedPage, known: list[StoredLine], content: bytes) -> dict[int, Entry]:
    """The lines of a page that need not be read again, by their numbers, with the texts that its file has now.

    Args:
        known: Its lines in the index, read from the same scan.
        content: Their packed posteriors.

    Raises:
        DataError: if the index is damaged.
    """
    numbers, posteriors = {line.id: number for number, line in enumerate(known)}, PackedLines.from_bytes(content)
    placed = list(filter(is_placed, page.given.lines)) if page.given is not None else []
    found = {}
    for number, strip in page.strips.items():
        line = placed[number]
        at = numbers.get(line.id)
        if at is None or line.transcription is None:
            continue
        before, place = known[at], LinePlace.of(strip)
        now = given_line(line.id, place.to_bytes(), line.transcription)
        # A person's text is in the place of the reading; a program's is not.
        is_same = now.certain == before.certain and (now.text == before.text or not now.certain)
        if is_same and is_there(LinePlace.from_bytes(before.place), place):
            found[number] = now, posteriors.line(at)
    return found


def is_there(before: LinePlace, now: LinePlace) -> bool:
    """Whether a line has not moved."""
    if abs(before.width - now.width) > SAME or before.edges.shape != now.edges.shape:
        return False
    return bool(np.abs(before.edges - now.edges).max() <= SAME)
