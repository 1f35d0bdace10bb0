"""Cut the lines of a page out and read them, turned if they are upside down."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, TypeAlias

from drethtr.base.errors import DataError
from drethtr.images.line import Line
from drethtr.images.straighten import Strip, straighten
from drethtr.layout.finder import FoundLine
from drethtr.layout.order import by_direction
from drethtr.layout.turn import half_turned
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer

LINES_AT_A_TIME = 64
"""Lines that are straightened and read together."""

HEAD_DOWN = 0.9
"""Lines read with less confidence are also tried upside down.

Upside down, confidence is at most 0.81 on average; the right way up it is 0.88 to 0.97 (LOG.md, 2026-11-24, later)."""

PROBES = 6
"""Number of lines tried upside down: the longest ones."""

BETTER = 0.1
"""Minimum gain in confidence for lines to be turned."""

ReadLines: TypeAlias = Callable[[Sequence[Line]], list[Reading]]
"""Reads lines as `Recognizer.read_lines` does; an editor or server passes one that lets other requests take turns."""


class ReadLine(NamedTuple):
    """A line and its reading."""

    line: FoundLine
    strip: Strip
    reading: Reading


def strips_of(gray: Line, lines: Sequence[FoundLine], recognizer: Recognizer) -> Iterator[tuple[int, Strip]]:
    """The strips of the lines that can be read, with the numbers of these."""
    for number, line in enumerate(lines):
        if (strip := readable_strip(gray, line, recognizer)) is not None:
            yield number, strip


def readable_strip(gray: Line, line: FoundLine, recognizer: Recognizer) -> Strip | None:
    """The straightened line, dark on light; None if it has no area, or is far too long for its height."""
    try:
        strip = straighten(gray, line.baseline, line.polygon)
        return strip._replace(line=recognizer.open_line(strip.line))
    except DataError:
        return None


def read_found_lines(gray: Line, lines: Sequence[FoundLine], recognizer: Recognizer) -> Iterator[tuple[int, ReadLine]]:
    """The lines of a page that can be read, with their numbers."""
    return read_strips(lines, strips_of(gray, lines, recognizer), recognizer.read_lines)


def read_strips(
    lines: Sequence[FoundLine], strips: Iterable[tuple[int, Strip]], read: ReadLines
) -> Iterator[tuple[int, ReadLine]]:
    """Read the strips of some lines, given with the numbers of these."""
    waiting = iter(strips)
    while some := list(islice(waiting, LINES_AT_A_TIME)):
        readings = read([strip.line for _, strip in some])
        for (number, strip), reading in zip(some, readings, strict=True):
            yield number, ReadLine(lines[number], strip, reading)


def upright(gray: Line, reads: Mapping[int, ReadLine], recognizer: Recognizer, read: ReadLines) -> dict[int, ReadLine]:
    """The lines; those of one writing direction are turned and read again if they are upside down."""
    found, numbers = dict(reads), list(reads)

    def read_turned(some: Sequence[int]) -> dict[int, ReadLine]:
        turned = [half_turned(found[number].line, found[number].strip) for number in some]
        again = read_strips(turned, strips_of(gray, turned, recognizer), read)
        return {some[place]: one for place, one in again}

    for group in by_direction([one.line for one in found.values()]):
        own = [numbers[place] for place in group]
        if mean_confidence(found[number] for number in own) >= HEAD_DOWN:
            continue
        probes = sorted(own, key=lambda number: -found[number].strip.line.shape[1])[:PROBES]
        before = mean_confidence(found[number] for number in probes)
        if mean_confidence(read_turned(probes).values()) >= before + BETTER:
            found |= read_turned(own)
    return found


def mean_confidence(reads: Iterable[ReadLine]) -> float:
    """The mean confidence of all characters; 0 if there are none."""
    known = [(one.reading.confidence, len(one.reading.text)) for one in reads]
    return sum(confidence * length for confidence, length in known) / max(sum(length for _, length in known), 1)
