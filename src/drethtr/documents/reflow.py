"""Running text from lines: paragraphs, words that continue on the next line, and raised letters."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from operator import itemgetter
from statistics import median
from typing import NamedTuple
from unicodedata import combining

from drethtr.documents.page import Page, Region, TextLine, role_of, rows_of_table
from drethtr.documents.transcription import HYPHENS

RAISED = re.compile(r"\^(\w+)")
"""The notation of letters raised above the others: `M^me`."""

# Not measured. Margins of handwriting are ragged, so these are well above the usual difference between two lines: a
# missed break only makes a long paragraph, but a false one cuts a sentence.

INDENTED = 1.2
"""A line that begins this many line heights to the right of the others begins a paragraph."""

APART = 0.3
"""A line that begins this share of the width of its block to the right of the next one is a paragraph of its own."""

SHORT = 0.65
"""A line that ends before this share of the width of its block ends a paragraph."""


class Block(NamedTuple):
    """A paragraph or a marginal note of a text for reading, or a table with its rows of cells."""

    text: str
    is_margin: bool = False
    rows: tuple[tuple[str, ...], ...] = ()


class Run(NamedTuple):
    """A part of a text; `raised` letters stand above the others."""

    text: str
    raised: bool


def runs(text: str) -> Iterator[Run]:
    """The parts of a text by their height, without the sign for raised letters."""
    place = 0
    for found in RAISED.finditer(text):
        yield Run(text[place : found.start()], raised=False)
        yield Run(found[1], raised=True)
        place = found.end()
    yield Run(text[place:], raised=False)


def is_hyphenated(text: str, following: str) -> bool:
    """Whether the last word of a line continues on the next one, which may repeat the hyphen: `ap-`, `-probieren`."""
    rest = continuation(following)
    if not (text.endswith(HYPHENS) and rest[:1].islower()):
        return False
    if rest != following and text.split()[-1].startswith(HYPHENS):  # words between dashes, such as -do- in registers
        return False
    # The letter may carry marks, such as the line over an m that stands for a second one.
    return next((sign for sign in text[-2::-1] if not combining(sign)), "").isalpha()


def continuation(following: str) -> str:
    """A line that continues a word, without the repeated hyphen."""
    return following[1:] if following.startswith(HYPHENS) else following


def joined(texts: Sequence[str]) -> str:
    """The texts of lines as one, with the halves of hyphenated words joined."""
    whole = ""
    for text in filter(None, map(str.strip, texts)):
        whole = whole[:-1] + continuation(text) if is_hyphenated(whole, text) else f"{whole} {text}".strip()
    return whole


def paragraphs(lines: Sequence[TextLine]) -> Iterator[list[TextLine]]:
    """The lines of a region, divided where a line is indented, or ends early without continuing on the next.

    Lines without places are one paragraph.
    """
    boxes = [line.box for line in lines]
    known = [box for box in boxes if box is not None]
    if len(known) < len(lines) or len(lines) < 2:
        yield from [list(lines)] if lines else []
        return
    left, right = median(box.left for box in known), max(box.right for box in known)
    height = median(box.height for box in known)
    end = min(box.left for box in known) + SHORT * (right - min(box.left for box in known))
    part = [lines[0]]
    for place in range(1, len(lines)):
        before, box = known[place - 1], known[place]
        is_indented = box.left - left > INDENTED * height and box.left - before.left > INDENTED * height
        is_apart = before.left - box.left > APART * (right - left)  # such as a date on the right
        ends = (before.right < end or is_apart) and not is_hyphenated(lines[place - 1].text, lines[place].text)
        if is_indented or ends:
            yield part
            part = []
        part.append(lines[place])
    yield part


def with_insertions(lines: Sequence[TextLine]) -> Iterator[tuple[TextLine, list[TextLine]]]:
    """Each line that others are inserted into, with these; an insertion without a line before it stands alone."""
    start = 0
    while start < len(lines):
        end = start + 1
        while end < len(lines) and role_of(lines[end].kind) == "insertion":
            end += 1
        yield lines[start], list(lines[start + 1 : end])
        start = end


def places_in(line: TextLine, insertions: Sequence[TextLine]) -> list[int]:
    """The position of each insertion in the text of a line: after the words that begin left of it."""
    known, place = list[tuple[float, int]](), 0
    for part, word in line.transcription.parts if line.transcription and insertions else ():
        place += len(part)
        if word is not None:
            if word.box is None:
                return [len(line.text)] * len(insertions)
            known.append(((word.box.left + word.box.right) / 2, place))
    if not known:
        return [0] * len(insertions)
    middles, places = zip(*sorted(known), strict=True)
    ends = list(accumulate(places, max, initial=0))  # not searched word by word: a file may have thousands of both
    boxes = [insertion.box for insertion in insertions]
    return [len(line.text) if box is None else ends[bisect_left(middles, box.left)] for box in boxes]


def reading_blocks(page: Page) -> Iterator[Block]:
    """The text of a page for reading: lines are joined to paragraphs, with hyphenated words and insertions in place.

    Numbers of pages are left out.
    """
    for regions in page.blocks:
        if regions[0].cell is not None:
            rows = rows_of_table(regions).values()
            texts = (
                tuple(joined([text for one in cell for text in texts_of(one)]) for cell in row.values()) for row in rows
            )
            yield Block("", rows=tuple(texts))
            continue
        for region in regions:
            role, lines = role_of(region.kind), dict(with_insertions(region.lines))
            for part in paragraphs(list(lines)) if role != "number" else ():
                if text := joined([inserted(line, lines[line]) for line in part]):
                    yield Block(text, role == "margin")


def texts_of(region: Region) -> list[str]:
    """The texts of the lines of a region, with insertions."""
    return [inserted(line, insertions) for line, insertions in with_insertions(region.lines)]


def inserted(line: TextLine, insertions: Sequence[TextLine]) -> str:
    """The text of a line with what is written above it."""
    text = line.text
    # From the right, as positions refer to the text before insertion; at one position, the last one first.
    placed = sorted(zip(places_in(line, insertions), insertions, strict=True), key=itemgetter(0))
    for place, insertion in reversed(placed):
        text = " ".join(filter(None, (text[:place].strip(), insertion.text, text[place:].strip())))
    return text
