"""Locate a pattern on a line, in its text, or else in the likeliest reading that contains it; and a line on its page.

An index keeps a few points of the upper and lower edges of each line, as bytes.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from drethtr.base.errors import DataError
from drethtr.documents.points import Box
from drethtr.recognition.posteriors import Posteriors
from drethtr.search.automaton import Automaton
from drethtr.search.forward import FAINTEST
from drethtr.search.query import is_letter

if TYPE_CHECKING:
    from drethtr.images.straighten import Strip

COLUMNS = (2, 3, 5, 9, 17, 33)
"""Numbers of columns to keep; more for curved lines."""

CLOSE_EDGES = 2.0
"""Maximum error of the edges in pixels."""

SAME_EDGES = 2
"""Pixels by which the edges of a line that has not moved may differ, since its file rounds to whole pixels."""


@dataclass(frozen=True, eq=False)
class LinePlace:
    """A straightened line on its page.

    width  of the straightened line in pixels
    edges  int32 (K, 4), x and y of the upper and of the lower edge at K columns from the first to the last
    """

    width: int
    edges: NDArray[np.int32]

    @classmethod
    def of(cls, strip: "Strip") -> Self:
        """The place of a straightened line."""
        height, width = strip.line.shape
        upper = strip.places - strip.downs * strip.above
        lower = strip.places + strip.downs * (height - strip.above)
        edges = np.concatenate([upper, lower], axis=1)
        for columns in COLUMNS:
            at = np.linspace(0, width - 1, columns)
            kept = interpolated(np.arange(width), at, edges[at.round().astype(int)])
            if columns == COLUMNS[-1] or np.abs(kept - edges).max() <= CLOSE_EDGES:
                break
        return cls(width, edges[at.round().astype(int)].round().astype(np.int32))

    def box(self, left: float, right: float) -> Box:
        """The bounding box on the page of some columns of the line."""
        last = self.width - 1
        inner = np.linspace(0, last, len(self.edges))
        at = np.clip([left, *inner[(left < inner) & (inner < right)], right], 0, last)
        corners = interpolated(at, inner, self.edges).reshape(-1, 2)
        least, most = np.floor(corners.min(0)).astype(int), np.ceil(corners.max(0)).astype(int)
        (x, y), (z, w) = np.maximum(least, 0).tolist(), np.maximum(most, 0).tolist()
        return Box(x, y, max(z, x + 1), max(w, y + 1))

    def is_same(self, other: "LinePlace") -> bool:
        """Whether a line that was at one of the places and is at the other has not moved."""
        if abs(self.width - other.width) > SAME_EDGES or self.edges.shape != other.edges.shape:
            return False
        return bool(np.abs(self.edges - other.edges).max() <= SAME_EDGES)

    def to_bytes(self) -> bytes:
        """The place as bytes."""
        return np.concatenate([[self.width], self.edges.ravel()]).astype("<i4").tobytes()

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """The inverse of `to_bytes`.

        Raises:
            DataError: if it is damaged.
        """
        # Numbers of 4 bytes: the width, then four for each of at least two columns.
        if len(content) < 36 or len(content) % 16 != 4:
            raise DataError("the place of a line is damaged")
        numbers = np.frombuffer(content, "<i4")
        return cls(max(int(numbers[0]), 2), numbers[1:].reshape(-1, 4))


def interpolated(at: NDArray[Any], known: NDArray[np.float64], values: NDArray[Any]) -> NDArray[np.float64]:
    """(N, 4) the values at some columns, from those (K, 4) at known ones."""
    return np.stack([np.interp(at, known, values[:, axis]) for axis in range(4)], axis=1)


AROUND = 30
"""Characters of a snippet before and after the match."""

OPEN, CLOSE, LEFT_OUT = "[", "]", "…"


class Letter(NamedTuple):
    """A character of a reading, at the first step where it is read."""

    text: str
    step: int


class Span(NamedTuple):
    """A part of a text or reading, without its end."""

    start: int
    end: int


class Node(NamedTuple):
    """A token with its step, and those before it."""

    text: str
    step: int
    before: "Node | None"


Hypotheses: TypeAlias = dict[tuple[int, int], tuple[float, Node | None]]
"""The likeliest reading by state and last token, -1 for a blank."""

BLANK = -1  # no token has this id, so the first letter after it is always new


class Location(NamedTuple):
    """A match on a line: its columns in pixels, and the text there and around it."""

    left: float
    right: float
    snippet: str


def locate(line: Posteriors, text: str, width: int, automaton: Automaton, *, over: bool = False) -> Location:
    """Find a pattern on a line of this width with this text; the whole line if that is impossible.

    Args:
        over: Find the part of it before the line break, if the text does not have all of it.
    """
    there = span_in(text, automaton, over=False)
    over = over and there is None  # if the text has the whole pattern, the part before a line break is not needed
    there = span_in(text, automaton, over=True) if over else there
    letters = likeliest(line, automaton, over=over)
    reading = "".join(letter.text for letter in letters)
    if there is not None:
        read, share = aligned(there, text, reading), width / len(text)
        edges = columns(letters, read, line) if read.start < read.end else (there.start * share, there.end * share)
        return Location(*edges, snippet(text, there, text[slice(*there)]))
    read_there = span_in(reading, automaton, over=over)
    if read_there is None:
        return Location(0.0, float(width), text)
    replaced = aligned(read_there, reading, text)
    return Location(*columns(letters, read_there, line), snippet(text, replaced, reading[slice(*read_there)]))


def likeliest(line: Posteriors, automaton: Automaton, *, over: bool) -> list[Letter]:
    """The likeliest reading that contains the pattern; empty if there is none."""
    classes = automaton.classes_of(line.texts)
    after = [automaton.classes[number].tolist() for number in classes]
    alive: Hypotheses = {(0, BLANK): (1.0, None)}
    before = -1
    for step in range(line.steps):
        number = int(line.numbers[step])
        if number > before + 1:
            alive = in_blank(alive)
        before = number
        entries = slice(int(line.firsts[step]), int(line.firsts[step + 1]))
        chances = dict(zip(line.tokens[entries].tolist(), line.probabilities[entries].tolist(), strict=True))
        rest = max(1 - sum(chances.values()), 0.0)
        grown: Hypotheses = {}
        for (state, last), (mass, node) in alive.items():
            # As in `forward.walk`, with the best reading of each state instead of the sum of all.
            keep(grown, (state, BLANK), mass * rest, node)
            for token, chance in chances.items():
                if token == last:
                    keep(grown, (state, token), mass * chance, node)
                else:
                    longer = Node(line.texts[token], number, node)
                    keep(grown, (after[token][state], token), mass * chance, longer)
        alive = grown
    ends = [(mass, node) for (state, _), (mass, node) in alive.items() if fits(automaton, state, over=over)]
    node = max(ends, key=lambda end: end[0], default=(0.0, None))[1]
    letters: list[Letter] = []
    while node is not None:
        letters += (Letter(character, node.step) for character in reversed(node.text))
        node = node.before
    return letters[::-1]


def in_blank(alive: Hypotheses) -> Hypotheses:
    """The readings after a blank."""
    found: Hypotheses = {}
    for (state, _), (mass, node) in alive.items():
        keep(found, (state, BLANK), mass, node)
    return found


def keep(found: Hypotheses, key: tuple[int, int], mass: float, node: Node | None) -> None:
    """Keep a reading if it is the likeliest of its kind, and not too faint."""
    if mass > FAINTEST and (key not in found or found[key][0] < mass):
        found[key] = (mass, node)


def fits(automaton: Automaton, state: int, *, over: bool) -> bool:
    """Whether the pattern is on a line that ended in this state, or continues after its end."""
    behind = int(automaton.breaks[state])
    return behind not in (automaton.found, automaton.dead) if over else behind == automaton.found


def span_in(text: str, automaton: Automaton, *, over: bool) -> Span | None:
    """The last match of a pattern in a text; with `over`, of its part before the line break. None if there is none."""
    for first in reversed(range(len(text))):
        if is_letter(text[first]) and not (first and is_letter(text[first - 1])):
            end = end_of(text, first, automaton, over=over)
            if end is not None:
                return Span(first, end)
    return None


def end_of(text: str, first: int, automaton: Automaton, *, over: bool) -> int | None:
    """The end of a match that begins at `first`; None if there is none."""
    state = 0
    end = first
    for place in range(first, len(text)):
        state = automaton.after(text[place], state)
        if state == automaton.found:
            return None if over else end
        if is_letter(text[place]):
            end = place + 1
    return end if fits(automaton, state, over=over) else None


def aligned(span: Span, text: str, other: str) -> Span:
    """The part of another text that corresponds to a part of a text, without signs around it."""
    edits = Levenshtein.opcodes(text, other)

    def places(at: int) -> tuple[int, int]:
        """The first and the last place in the other text that corresponds to one in the text."""
        near = [
            (max(e.dest_end - (e.src_end - at), e.dest_start), min(e.dest_start + at - e.src_start, e.dest_end))
            for e in edits
            if e.src_start <= at <= e.src_end
        ]
        return min(map(min, near), default=0), max(map(max, near), default=0)

    least, start = places(span.start)
    end, most = places(span.end)
    while start > least and is_letter(other[start - 1]):
        start -= 1
    while end < most and is_letter(other[end]):
        end += 1
    while start < end and not is_letter(other[start]):
        start += 1
    while start < end and not is_letter(other[end - 1]):
        end -= 1
    return Span(start, end)


def columns(letters: list[Letter], span: Span, line: Posteriors) -> tuple[float, float]:
    """The columns from the first to the last letter, up to halfway to the neighbors."""
    steps = [letter.step + 0.5 for letter in letters]
    # CTC gives the peak of a letter, not its end: halfway to the next, at most a usual letter beyond it.
    usual = (steps[-1] - steps[0]) / max(len(steps) - 1, 1) or 2.0
    first, last = span.start, span.end - 1
    left = (steps[first - 1] + steps[first]) / 2 if first else steps[first] - usual / 2
    right = (steps[last] + steps[last + 1]) / 2 if last + 1 < len(steps) else steps[last] + usual / 2
    return max(max(left, steps[first] - usual) * line.step, 0.0), min(right, steps[last] + usual) * line.step


def snippet(text: str, span: Span, inside: str) -> str:
    """The text around a part of it, which is replaced by the match in brackets."""
    before, behind = text[: span.start], text[span.end :]
    before = before if len(before) <= AROUND else LEFT_OUT + before[-AROUND:]
    behind = behind if len(behind) <= AROUND else behind[:AROUND] + LEFT_OUT
    return f"{before}{OPEN}{inside}{CLOSE}{behind}"
