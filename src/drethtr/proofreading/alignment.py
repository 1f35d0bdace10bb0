"""Align running text with lines: find the part of a text that belongs to each line, by the readings of the lines.

A text from elsewhere, such as an edition or the output of a language model, has no line breaks, or different ones. The
alignment with the fewest edits between text and readings shows where each line ends. Lines may be missing from the
text, and text from the lines; a word may be broken over two lines.

A text that has the line breaks of its page is placed line by line, in order. Where the model can hardly read a hand,
too few characters agree to align running text; the order of the lines and the little that agrees still tell which line
of the text is which line of the page.

Shapes, everywhere in this file: (M + 1,) one number for each place in a text of M characters: before, between and
after them.
"""

import enum
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from drethtr.base.arrays import Booleans, Ints
from drethtr.base.errors import ConfigError, DataError
from drethtr.text.alphabet import RELATIVES
from drethtr.text.normalize import for_scoring

Costs = NDArray[np.float32]

Places = Ints

HYPHENS = "-‐‑¬=⸗–:„"
"""Signs that break a word at the end of a line; in old hands the next line repeats them, as in `Hand-`, `-lung`."""

SKIP_LINE, LINE_CHARACTER = 1.0, 0.4
"""Cost, in edits, of a line without text, and of each character read there: a line of ten characters is left without
text rather than with one that takes more than five edits."""

SKIP_TEXT, TEXT_CHARACTER = 5.0, 0.35
"""Cost, in edits, of text that is not on any line, and of each character of it.

Cheaper skipping (0.3 and 0.3 a character) loses lines that are read badly: with 40 % of the characters changed, 70 % of
the lines get their words instead of 96 % (LOG.md, 2026-11-26)."""

AT_HYPHEN, INSIDE_WORD = 0.5, 4.0
"""Cost, in edits, of breaking a word at the end of a line: at a hyphen, and without one, where four characters must
support it. Lines seldom break words without a sign, while their last letters are often misread."""

CHUNK, OVERLAP = 40, 4
"""Lines that are aligned together, and how many of the last ones are aligned again with the next.

The time of an alignment grows with text times readings, so a book is aligned page by page. The overlap is needed
because the following lines decide where a line ends."""

WIDER, SPARE = 2.0, 1500
"""The text searched for some lines has `WIDER` times as many characters as their readings, plus `SPARE`, since it may
have lines that were not found. Beyond that, `located` looks for passages."""

GRAM, PASSAGES, AGREEING = 10, 400, 3
"""To locate lines in a long text: characters of a passage, passages to search for, and how many must agree.

With a fifth of the characters misread, one in nine passages of ten characters is still intact; three that agree about
where the lines begin are no coincidence."""

OTHER_TEXT = 0.6
"""Edits per character from which it counts as another text: on 23 pages, right texts needed at most 0.29, other texts
at least 0.62 (LOG.md, 2026-11-26)."""


class AlignedLine(NamedTuple):
    """The part of a text on one line: its characters from `first` to `last`, exclusive.

    `hyphen` is the sign at the end of the line that breaks a word, where the text has none, and `repeated` the one at
    the beginning of the line.
    """

    first: int
    last: int
    hyphen: str = ""
    repeated: str = ""


@dataclass(frozen=True)
class Alignment:
    """A text aligned with lines.

    text      with white space folded
    lines     the part of the text on each line
    readings  readings of the lines, with easily confused letters unified
    moved     numbers of the lines whose part of the text is out of order
    """

    text: str
    lines: tuple[AlignedLine, ...]
    readings: tuple[str, ...]
    moved: frozenset[int] = frozenset()

    @property
    def apart(self) -> float:
        """Edits between text and readings per character read; lines without text do not count; 1 if none has any."""
        pairs = [
            (alike(self.text[line.first : line.last]), reading)
            for line, reading in zip(self.lines, self.readings, strict=True)
            if line.last > line.first
        ]
        edits = sum(Levenshtein.distance(*pair) for pair in pairs)
        return edits / max(sum(len(reading) for _, reading in pairs), 1) if pairs else 1.0

    @property
    def fits(self) -> bool:
        """Whether this is the text of these lines."""
        return self.apart < OTHER_TEXT

    @property
    def texts(self) -> tuple[str, ...]:
        """The text of each line; empty where it has none."""
        return tuple(repeated + self.text[first:last] + hyphen for first, last, hyphen, repeated in self.lines)

    @property
    def gaps(self) -> tuple[tuple[int, int], ...]:
        """Where the text before, between and after the lines begins and ends; there is none before a moved line."""
        gaps, end = list[tuple[int, int]](), 0
        for number, line in enumerate(self.lines):
            first, last = (end, end) if number in self.moved else (line.first, line.last)
            gaps.append((end, first))
            end = last
        return (*gaps, (end, len(self.text)))

    @property
    def between(self) -> tuple[str, ...]:
        """The parts of the text before, between and after the lines, without moved ones; empty where there is none."""
        taken = sorted(self.lines[number] for number in self.moved)
        parts = []
        for begin, end in self.gaps:
            inside = [line for line in taken if begin <= line.first < line.last <= end]
            edges = [begin, *(edge for line in inside for edge in (line.first, line.last)), end]
            kept = (self.text[first:last].strip() for first, last in zip(edges[::2], edges[1::2], strict=True))
            parts.append(" ".join(filter(None, kept)))
        return tuple(parts)

    @property
    def left(self) -> tuple[str, ...]:
        """The parts of `between` that are not empty."""
        return tuple(filter(None, self.between))

    def without_other_pages(self, lines: Sequence[int]) -> "Alignment":
        """The alignment without text on pages that it does not fit; `lines` is the number of lines on each page."""
        kept, end = list[AlignedLine](), 0
        for count in lines:
            here = slice(len(kept), len(kept) + count)
            page = replace(self, lines=self.lines[here], readings=self.readings[here])
            kept += page.lines if page.fits else [AlignedLine(end, end)] * count
            end = max(end, *(kept[n].last for n in range(here.start, here.stop) if n not in self.moved), 0)
        return replace(self, lines=tuple(kept))


def align_text(text: str, read: Sequence[str]) -> Alignment:
    """Align a text with readings of lines, in reading order.

    The text may be much longer than the lines, such as a book for one of its pages: the lines are located in it.

    Raises:
        ConfigError: if `read` is a string instead of a list of them.
    """
    if isinstance(read, str):  # its letters would be lines
        raise ConfigError("align_text takes a list of readings, one for each line; for a single line: [reading]")
    folded, lines = for_scoring(text), list(map(for_scoring, read))
    letters, readings = alike(folded), list(map(alike, lines))
    hyphens = [line[-1:] if line[-1:] in HYPHENS else "" for line in lines]
    aligned: list[AlignedLine] = []
    while len(aligned) < len(readings):
        here = slice(len(aligned), len(aligned) + CHUNK)
        chunk = readings[here]
        place = aligned[-1].last if aligned else 0
        # A window on the text: the time of an alignment grows with text times readings.
        size = round(WIDER * sum(map(len, chunk))) + SPARE
        if len(letters) - place > size:
            place = located(letters, " ".join(chunk), place)
        last = len(aligned) + len(chunk) == len(readings)
        # The end of a chunk is uncertain without the lines that follow: its last ones are aligned again with the next.
        more = not last or place + size < len(letters)
        found = align_chunk(letters[place : place + size], chunk, hyphens[here], more=more)
        aligned += [
            AlignedLine(line.first + place, line.last + place, line.hyphen)
            for line in (found if last else found[: CHUNK - OVERLAP])
        ]
    return Alignment(folded, tuple(with_repeated(aligned, letters, lines)), tuple(readings))


def with_repeated(aligned: Sequence[AlignedLine], letters: str, read: Sequence[str]) -> Iterator[AlignedLine]:
    """The lines with the signs that repeat a hyphen at their beginnings, where they continue a word.

    Args:
        letters: The text, as made `alike`.
        read: The readings of the lines.
    """
    text, end = AlignableText.of(letters), 0
    for line, reading in zip(aligned, read, strict=True):
        continues = line.first == end < line.last and text.inside[end] and not text.hyphens[end]
        yield line._replace(repeated=reading[:1]) if continues and reading[:1] in HYPHENS else line
        end = max(end, line.last)


def alike(text: str) -> str:
    """A text of the same length in which easily confused letters are unified."""
    plain = {character: RELATIVES.get(character, character) for character in set(text)}
    # Drop the space that NFKD puts under a lone accent, as in l´an: it would end a word.
    lower = {ord(c): (unicodedata.normalize("NFKD", like).strip() or like)[0].lower()[0] for c, like in plain.items()}
    return text.translate(lower)


def located(letters: str, read: str, place: int) -> int:
    """Where in a long text, from `place` on, the lines with this reading probably begin; `place` if unknown."""
    step = max(1, (len(read) - GRAM) // PASSAGES)
    passages = ((letters.find(read[n : n + GRAM], place), n) for n in range(0, len(read) - GRAM + 1, step))
    # Each passage that is found votes for where the reading would begin; most votes within a quarter of its length win.
    begins = np.sort([found - n for found, n in passages if found >= 0])
    near = len(read) // 4 + GRAM
    agreeing = np.searchsorted(begins, begins + near, side="right") - np.arange(len(begins))
    if not len(begins) or agreeing.max() < AGREEING:
        return place
    return max(place, letters.rfind(" ", 0, max(int(begins[agreeing.argmax()]) - near, 0)) + 1)


def align_chunk(letters: str, read: Sequence[str], hyphens: Sequence[str], *, more: bool) -> list[AlignedLine]:
    """Align a text with some lines; `more` if it continues after the last one. `hyphens` are the signs at their ends.

    Costs are those of the best alignment of the lines so far, by the place where the last of them ends.
    """
    text = AlignableText.of(letters)
    ended = np.full(len(letters) + 1, np.inf, dtype=np.float32)
    ended[0] = 0
    steps: list[tuple[Places, Places]] = []
    broken = INSIDE_WORD
    # Line by line, like an edit distance with a row per line: from the costs of ending the last line at each place of
    # the text follow the costs of beginning this line, then of ending it. Both steps note where they came from, so the
    # best end leads back to the places of all lines.
    for line, hyphen in zip(read, hyphens, strict=True):
        begun, came_from = text.begin(ended, broken)
        written, began_at = text.write(begun, line[: len(line) - len(hyphen)])
        if hyphen:
            written, began_at = text.over_hyphen(written, began_at)
        without = ended + np.float32(SKIP_LINE + LINE_CHARACTER * len(line))
        began_at[without < written] = NO_TEXT
        ended = np.minimum(written, without)
        steps.append((came_from, began_at))
        broken = AT_HYPHEN if hyphen else INSIDE_WORD
    place = text.end(ended, broken, more=more)
    aligned: list[AlignedLine] = []
    for hyphen, (came_from, began_at) in zip(reversed(hyphens), reversed(steps), strict=True):
        first = int(began_at[place])
        if first == NO_TEXT:
            aligned.append(AlignedLine(place, place))
            continue
        breaks = text.inside[place] and not text.hyphens[place - 1]
        aligned.append(AlignedLine(first, place, hyphen if breaks else ""))
        place = int(came_from[first])
    return aligned[::-1]


NO_TEXT = -1
"""Stands for the beginning of a line without text."""


class AlignableText(NamedTuple):
    """A text to be aligned.

    letters  (M,) code points
    starts   (M + 1,) whether a word begins at a place
    ends     (M + 1,) whether one ends there
    inside   (M + 1,) whether the place is inside a word
    hyphens  (M,) whether a letter may break a word at the end of a line
    """

    letters: NDArray[np.uint32]
    starts: Booleans
    ends: Booleans
    inside: Booleans
    hyphens: Booleans

    @classmethod
    def of(cls, text: str) -> "AlignableText":
        """The text of a string."""
        letters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        space = letters == ord(" ")
        starts, ends = np.concatenate(([True], space)), np.concatenate((space, [True]))
        return cls(letters, starts, ends, ~starts & ~ends, np.isin(letters, list(map(ord, alike(HYPHENS)))))

    def begin(self, ended: Costs, broken: float) -> tuple[Costs, Places]:
        """Cost of a line beginning at each place, and where the line before it ended.

        Args:
            ended: Costs of the lines before.
            broken: Cost of beginning inside a word.
        """
        places = np.arange(len(ended))
        begun = np.where(self.inside, ended + np.float32(broken), np.inf).astype(np.float32)
        begun[0] = ended[0]
        came_from = places.copy()
        over_space = np.append(np.inf, np.where(self.ends, ended, np.inf)[:-1])
        over_space[~self.starts] = np.inf
        came_from[over_space < begun] -= 1
        begun = np.minimum(begun, over_space)
        # Text may be skipped from the end of any word to the beginning of a later one. Its cost grows with its length,
        # so after subtracting the slope one running minimum serves all beginnings.
        slope = np.float32(TEXT_CHARACTER) * places
        least, at = running_least(np.where(self.ends | (places == 0), ended - slope, np.inf))
        skipped = np.where(self.starts, least + slope + SKIP_TEXT, np.inf)
        came_from = np.where(skipped < begun, at, came_from)
        return np.minimum(begun, skipped).astype(np.float32), came_from

    def write(self, begun: Costs, line: str) -> tuple[Costs, Places]:
        """Cost of a line with this reading ending at each place, and where it began."""
        places = np.arange(len(begun))
        costs, began_at = running_edits(begun, places)
        for letter in line:
            changed = costs[:-1] + (self.letters != ord(letter))
            kept = costs + 1
            from_before = np.append(False, changed < kept[1:])
            kept[1:] = np.minimum(kept[1:], changed)
            began_at = np.where(from_before, np.append(0, began_at[:-1]), began_at)
            costs, at = running_edits(kept, places)
            began_at = began_at[at]
        return costs, began_at

    def over_hyphen(self, written: Costs, began_at: Places) -> tuple[Costs, Places]:
        """The costs of `write` if the line ends in a hyphen, which the text may also have, as in a compound."""
        behind = np.append(np.inf, np.where(self.hyphens, written[:-1], np.inf)).astype(np.float32)
        return np.minimum(written, behind), np.where(behind < written, np.append(0, began_at[:-1]), began_at)

    def end(self, ended: Costs, broken: float, *, more: bool) -> int:
        """The best end of the last line."""
        places = np.arange(len(ended))
        behind = SKIP_TEXT + TEXT_CHARACTER * (places[-1] - places) * (not more)
        behind[-1] = 0
        return int((ended + behind + broken * self.inside).argmin())


def running_least(values: NDArray[Any]) -> tuple[NDArray[Any], Places]:
    """The minimum of the values up to each place, and its place."""
    least = np.minimum.accumulate(values)
    return least, np.maximum.accumulate(np.where(values == least, np.arange(len(values)), 0))


def running_edits(costs: Costs, places: Places) -> tuple[Costs, Places]:
    """Costs if characters of the text may be skipped, one edit each, and where the skipping began."""
    least, at = running_least(costs - places.astype(np.float32))
    return (least + places).astype(np.float32), at


GAP = 0.55
"""Cost of a line without text, or of a line of the text that is not on the page; a pair costs 1 - similarity.

From 0.5 on as many lines as possible get their text. Below, pairs that agree little are dropped, and with them the
order, which is all that is known where nothing can be read; higher, lines missing on both sides shift the others
(LOG.md, 2026-11-27)."""

MAX_PAIRS = 10_000_000
"""Maximum number of pairs of lines to compare: 3,000 lines of a text with 3,000 lines of its pages, in 1 s."""


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
