"""Align running text with lines: which part of a text belongs to which line, judged by the readings.

A text that somebody else has made, an edition or the output of a language model, has no line breaks or other ones. The
fewest edits between it and the readings of the lines say where each line ends. Lines may be missing from the text, and
text from the lines; a word may be broken over two lines.

Shapes, everywhere in this file: (M + 1,) one number for each place in a text of M characters: before, between and
after them.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from drethtr.text.alphabet import RELATIVES
from drethtr.text.normalize import for_scoring

Costs = NDArray[np.float32]
Places = NDArray[np.int64]

HYPHENS = "-‐‑¬=⸗–:„"
"""Signs that break a word at the end of a line."""

SKIP_LINE, LINE_CHARACTER = 1.0, 0.4
"""Edits that a line without text costs, and each character read there."""

SKIP_TEXT, TEXT_CHARACTER = 5.0, 0.35
"""Edits that text on no line costs, and each character of it."""

AT_HYPHEN, INSIDE_WORD = 0.5, 4.0
"""Edits that breaking a word at the end of a line costs: at a hyphen, and without one."""

TOGETHER, AHEAD = 40, 4
"""Lines that are laid together; the last ones of them are laid again with the next."""

WIDER, SPARE = 2.0, 1500
"""The lines are looked for in so many times as many characters as were read there, and some more."""

GRAM, PASSAGES, AGREEING = 10, 400, 3
"""Characters of a passage that is looked for in a long text, how many are, and how many must agree where it is."""

OTHER_TEXT = 0.6
"""Edits per character; unrelated texts of a language are about 0.75 apart."""


class LaidLine(NamedTuple):
    """What of a text stands on a line: its characters from `first` to `last`, the latter excluded.

    `hyphen` is the sign at the end of the line that breaks a word, where the text has none.
    """

    first: int
    last: int
    hyphen: str = ""


@dataclass(frozen=True)
class Alignment:
    """A text aligned with lines.

    text   with white space folded
    lines  the part of the text on each line
    apart  edits between the text and the readings per character read; lines without text are left out
    """

    text: str
    lines: tuple[LaidLine, ...]
    apart: float

    @property
    def fits(self) -> bool:
        """Whether this is the text of these lines, rather than another one."""
        return self.apart < OTHER_TEXT

    @property
    def texts(self) -> tuple[str, ...]:
        """The text of each line; empty where it has none."""
        return tuple(self.text[first:last] + hyphen for first, last, hyphen in self.lines)

    @property
    def between(self) -> tuple[str, ...]:
        """The parts of the text that are on no line: before, between and after the lines, empty where there is none."""
        ends = [0, *(last for _, last, _ in self.lines)]
        begins = [*(first for first, _, _ in self.lines), len(self.text)]
        return tuple(self.text[end:begin].strip() for end, begin in zip(ends, begins, strict=True))

    @property
    def left(self) -> tuple[str, ...]:
        """Those parts that are not empty."""
        return tuple(filter(None, self.between))


def lay(text: str, read: Sequence[str]) -> Alignment:
    """Align a text with readings of lines, in reading order.

    The text may be much longer than what the lines hold, as a book for one of its pages: they are looked for in it.
    """
    folded = for_scoring(text)
    letters, readings = alike(folded), [alike(for_scoring(line)) for line in read]
    laid: list[LaidLine] = []
    while len(laid) < len(readings):
        chunk = readings[len(laid) : len(laid) + TOGETHER]
        place = laid[-1].last if laid else 0
        size = round(WIDER * sum(map(len, chunk))) + SPARE
        if len(letters) - place > size:
            place = located(letters, " ".join(chunk), place)
        last = len(laid) + len(chunk) == len(readings)
        found = lay_together(letters[place : place + size], chunk, more=not last or place + size < len(letters))
        laid += [
            LaidLine(line.first + place, line.last + place, line.hyphen)
            for line in (found if last else found[: TOGETHER - AHEAD])
        ]
    return Alignment(folded, tuple(laid), edits_per_character(letters, laid, readings))


def alike(text: str) -> str:
    """A text of the same length in which letters that are often taken for each other are the same."""
    plain = {character: RELATIVES.get(character, character) for character in set(text)}
    lower = {ord(c): unicodedata.normalize("NFKD", like)[0].lower()[0] for c, like in plain.items()}
    return text.translate(lower)


def located(letters: str, read: str, place: int) -> int:
    """Where in a long text, from a place on, the lines probably begin that were read so; that place if nobody knows."""
    step = max(1, (len(read) - GRAM) // PASSAGES)
    passages = ((letters.find(read[n : n + GRAM], place), n) for n in range(0, len(read) - GRAM + 1, step))
    begins = np.sort([found - n for found, n in passages if found >= 0])
    near = len(read) // 4 + GRAM
    agreeing = np.searchsorted(begins, begins + near, side="right") - np.arange(len(begins))
    if not len(begins) or agreeing.max() < AGREEING:
        return place
    return max(place, letters.rfind(" ", 0, max(int(begins[agreeing.argmax()]) - near, 0)) + 1)


def lay_together(letters: str, read: Sequence[str], *, more: bool) -> list[LaidLine]:
    """Lay a text onto some lines; `more` tells that it goes on behind the last one.

    Costs are those of the cheapest way to explain the lines so far, by the place where the last of them ends.
    """
    text = Text.of(letters)
    ended = np.full(len(letters) + 1, np.inf, dtype=np.float32)
    ended[0] = 0
    steps: list[tuple[Places, Places]] = []
    hyphens = [line[-1:] if line[-1:] in HYPHENS else "" for line in read]
    broken = INSIDE_WORD
    for line, hyphen in zip(read, hyphens, strict=True):
        begun, came_from = text.begin(ended, broken)
        written, began_at = text.write(begun, line.removesuffix(hyphen))
        without = ended + np.float32(SKIP_LINE + LINE_CHARACTER * len(line))
        began_at[without < written] = NO_TEXT
        ended = np.minimum(written, without)
        steps.append((came_from, began_at))
        broken = AT_HYPHEN if hyphen else INSIDE_WORD
    place = text.end(ended, broken, more=more)
    laid: list[LaidLine] = []
    for hyphen, (came_from, began_at) in zip(reversed(hyphens), reversed(steps), strict=True):
        first = int(began_at[place])
        if first == NO_TEXT:
            laid.append(LaidLine(place, place))
            continue
        breaks = bool(text.inside[place])
        laid.append(LaidLine(first, place, hyphen if breaks else ""))
        place = int(came_from[first])
    return laid[::-1]


NO_TEXT = -1
"""Where a line begins that has no text."""


class Text(NamedTuple):
    """A text that lines are written from.

    letters  (M,) code points
    starts   (M + 1,) whether a word begins at a place
    ends     (M + 1,) whether one ends there
    inside   (M + 1,) whether the place is inside a word
    """

    letters: NDArray[np.uint32]
    starts: NDArray[np.bool_]
    ends: NDArray[np.bool_]
    inside: NDArray[np.bool_]

    @classmethod
    def of(cls, text: str) -> "Text":
        """The text of a string."""
        letters = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
        space = letters == ord(" ")
        starts, ends = np.concatenate(([True], space)), np.concatenate((space, [True]))
        return cls(letters, starts, ends, ~starts & ~ends)

    def begin(self, ended: Costs, broken: float) -> tuple[Costs, Places]:
        """Costs of a line that begins at each place, and where the one before ended.

        Args:
            ended: Costs of the lines before.
            broken: What it costs to begin inside a word.
        """
        places = np.arange(len(ended))
        begun = np.where(self.inside, ended + np.float32(broken), np.inf).astype(np.float32)
        begun[0] = ended[0]
        came_from = places.copy()
        over_space = np.append(np.inf, np.where(self.ends, ended, np.inf)[:-1])
        over_space[~self.starts] = np.inf
        came_from[over_space < begun] -= 1
        begun = np.minimum(begun, over_space)
        slope = np.float32(TEXT_CHARACTER) * places
        least, at = running_least(np.where(self.ends | (places == 0), ended - slope, np.inf))
        skipped = np.where(self.starts, least + slope + SKIP_TEXT, np.inf)
        came_from = np.where(skipped < begun, at, came_from)
        return np.minimum(begun, skipped).astype(np.float32), came_from

    def write(self, begun: Costs, line: str) -> tuple[Costs, Places]:
        """Costs of having read a line by the place where it ends, and where it began."""
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

    def end(self, ended: Costs, broken: float, *, more: bool) -> int:
        """Where the last line ends best."""
        places = np.arange(len(ended))
        behind = SKIP_TEXT + TEXT_CHARACTER * (places[-1] - places) * (not more)
        behind[-1] = 0
        return int((ended + behind + broken * self.inside).argmin())


def running_least(values: NDArray[Any]) -> tuple[NDArray[Any], Places]:
    """The least of the values up to each place, and where it is."""
    least = np.minimum.accumulate(values)
    return least, np.maximum.accumulate(np.where(values == least, np.arange(len(values)), 0))


def running_edits(costs: Costs, places: Places) -> tuple[Costs, Places]:
    """Costs if characters of the text may be passed over, one edit each, and from where they were."""
    least, at = running_least(costs - places.astype(np.float32))
    return (least + places).astype(np.float32), at


def edits_per_character(letters: str, laid: Sequence[LaidLine], read: Sequence[str]) -> float:
    """How far the text is from what was read on the lines that have some; 1 if none has."""
    pairs = [
        (letters[one.first : one.last], line) for one, line in zip(laid, read, strict=True) if one.last > one.first
    ]
    return (
        sum(Levenshtein.distance(*pair) for pair in pairs) / max(sum(len(line) for _, line in pairs), 1)
        if pairs
        else 1.0
    )
