"""A second pass over what an alignment leaves: lines without text, whose text is elsewhere in the given text.

An alignment keeps the order of both sides. Where two lines have changed places, or an edition prints a note elsewhere,
one line finds no text, and its text finds no line.
"""

import re
from dataclasses import replace

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from drethtr.proofreading.alignment import AlignedLine, Alignment, alike

MIN_LENGTH, MAX_LENGTH = 10, 2000
"""Minimum characters of a reading that is searched for, and the maximum length of a part of the text to search in."""

ALIKE = 0.75
"""Minimum similarity of a reading and its text."""

MAX_TRIES = 100_000
"""Maximum pairs of lines and parts to compare; if more are left over, it is another text."""


def with_moved(alignment: Alignment) -> Alignment:
    """The alignment in which a line without text gets the unplaced part of the text that reads like it."""
    lines, letters, moved = list(alignment.lines), alike(alignment.text), set(alignment.moved)
    parts = [part for part in alignment.gaps if MIN_LENGTH <= part[1] - part[0] <= MAX_LENGTH]
    bare = [number for number, line in enumerate(lines) if line.last == line.first]
    if len(bare) * len(parts) > MAX_TRIES:
        return alignment
    for number in bare:
        reading = alignment.readings[number]
        if len(reading) < MIN_LENGTH or not parts:
            continue
        part = max(parts, key=lambda one: fuzz.partial_ratio(reading, letters[slice(*one)]))
        line = words_like(reading, letters, *part)
        if Levenshtein.normalized_similarity(letters[line.first : line.last], reading) >= ALIKE:
            lines[number] = line
            moved.add(number)
            parts.remove(part)
            parts += [(part[0], line.first), (line.last, part[1])]
    return replace(alignment, lines=tuple(lines), moved=frozenset(moved))


def words_like(reading: str, letters: str, begin: int, end: int) -> AlignedLine:
    """The words between two places of a text that are most similar to a reading."""
    found = fuzz.partial_ratio_alignment(reading, letters[begin:end])
    near = (0, 0) if found is None else (found.dest_start, found.dest_end)
    words = [(word.start(), word.end()) for word in re.finditer(r"\S+", letters[begin:end])]
    first = min((start for start, _ in words), key=lambda start: abs(start - near[0]), default=0)
    last = min((stop for _, stop in words if stop > first), key=lambda stop: abs(stop - near[1]), default=first)
    return AlignedLine(begin + first, begin + last)
