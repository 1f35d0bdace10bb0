"""Running text from lines: which are a paragraph, words that go on in the next line, and raised letters."""

import re
from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple

from drethtr.documents.page import TextLine

HYPHENS = "-¬=⸗\u00ad"
"""Signs that hyphenate a word at the end of a line."""

RAISED = re.compile(r"\^(\w+)")
"""Letters that are written above the others: `M^me`."""

INDENTED = 1.2
"""A line that begins so many line heights to the right of the others begins a paragraph."""

SHORT = 0.65
"""A line that ends before this share of the width of its block ends a paragraph."""


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
    """Whether the last word of a line goes on in the next one."""
    return text[-1:] in HYPHENS and text[-2:-1].isalpha() and following[:1].islower()


def joined(texts: Sequence[str]) -> str:
    """The texts of lines as one, with the halves of hyphenated words joined."""
    whole = ""
    for text in filter(None, map(str.strip, texts)):
        whole = whole[:-1] + text if is_hyphenated(whole, text) else f"{whole} {text}".strip()
    return whole


def paragraphs(lines: Sequence[TextLine]) -> Iterator[list[TextLine]]:
    """The lines of a region, divided where a line is indented, or where one ends early and the next does not go on.

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
        ends = before.right < end and not is_hyphenated(lines[place - 1].text, lines[place].text)
        if is_indented or ends:
            yield part
            part = []
        part.append(lines[place])
    yield part
