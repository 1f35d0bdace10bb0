"""Place a text that has the line breaks of its page: line by line, in order.

Where the model can hardly read a hand, too few characters agree to align running text. The order of the lines and the
little that agrees still tell which line of the text is which line of the page.
"""

import enum
from collections.abc import Sequence

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from drethtr.base.errors import DataError
from drethtr.proofreading.alignment import AlignedLine, Alignment, alike, running_least
from drethtr.text.normalize import for_scoring

GAP = 0.55
"""Cost of a line without text, or of a line of the text on no line of the page; of a pair, 1 - similarity.

From 0.5 on as many lines as possible get their text. Below, pairs of which little agrees are given up, and with them
the order, which is all that is known where nothing can be read; above, lines that are missing on both sides shift the
others (LOG, 2026-11-27)."""

MAX_PAIRS = 10_000_000
"""Most pairs of lines to compare: 3,000 lines of a text with 3,000 lines of its pages, in 1 s."""


class LineBreaks(enum.Enum):
    """What the line breaks of a text say."""

    IGNORED = "ignored"
    KEPT = "kept"


def place_lines(source: str, text: str, read: Sequence[str]) -> Alignment:
    """Align each line of a text with a line of its pages, or with none; both in order.

    Args:
        source: Where the text comes from, for messages.
        text: With line breaks; empty lines do not count.
        read: The readings of the lines, in reading order.

    Raises:
        DataError: if these are too many lines to compare.
    """
    rows = list(filter(None, map(for_scoring, text.splitlines())))
    readings = [alike(for_scoring(line)) for line in read]
    if len(rows) * len(readings) > MAX_PAIRS:
        raise DataError(
            f"{len(rows):,} lines of text are too many to compare with {len(readings):,} lines of pages; "
            "give the text of each page in a file named after the page",
            source,
        )
    starts = np.cumsum([0, *(len(row) + 1 for row in rows)]).tolist()
    aligned, end = [], 0
    for place in places(rows, readings):
        if place is None:
            aligned.append(AlignedLine(end, end))
        else:
            end = starts[place] + len(rows[place])
            aligned.append(AlignedLine(starts[place], end))
    return Alignment(" ".join(rows), tuple(aligned), tuple(readings))


def places(rows: Sequence[str], readings: Sequence[str]) -> list[int | None]:
    """The row of the text on each line, or None; the cheapest choice in which both keep their order."""
    if not rows or not readings:
        return [None] * len(readings)
    different = cdist(readings, list(map(alike, rows)), scorer=Levenshtein.normalized_distance)
    used = np.arange(len(rows) + 1)
    # Costs of the best placement of the lines so far, by the number of rows used. Both steps note where they came
    # from, so the end leads back to the places of all lines.
    costs, steps = GAP * used, []
    for of_line in different:
        without = costs + GAP
        placed = np.append(np.inf, costs[:-1] + of_line)
        least, came_from = running_least(np.minimum(placed, without) - GAP * used)
        steps.append((placed <= without, came_from))
        costs = least + GAP * used
    found: list[int | None] = []
    number = len(rows)
    for with_row, came_from in reversed(steps):
        number = int(came_from[number])
        with_text = bool(with_row[number])
        number -= with_text
        found.append(number if with_text else None)
    return found[::-1]
