"""The attribute `custom` of PAGE: entries about an element, and tags on passages of its text, as in Transkribus.

    readingOrder {index:0;} person {offset:0; length:4; firstname:Anne;} unclear {offset:9; length:3;}

Tags are the work of people. When the text changes, they move with it.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from drethtr.documents.transcription import Tag

# Possessive, as the value is not trusted: backtracking would take quadratic time.
ENTRY = re.compile(r"(?<!\s)\s*+(?<![^{}\s])([^{}\s]*+)\s*+\{[^{}]*+\}")
OFFSET = re.compile(r"([{;]\s*offset\s*:\s*)(\d{1,9})")
LENGTH = re.compile(r"([{;]\s*length\s*:\s*)(\d{1,9})")

DETAIL = re.compile(r"[{;]\s*([A-Za-z]\w{0,40})\s*:([^;{}]*)")
PLACE = frozenset({"offset", "length", "continued"})
OF_ELEMENTS = frozenset({"readingOrder", "structure", "drethtr"})
"""Entries about an element, which no tag may be called."""
CODES = re.compile(r"\\u([0-9a-fA-F]{4})")

NOT_IN_NAME, NOT_IN_KEY = re.compile(r"[{}\s]+"), re.compile(r"\W+")
"""Characters that would end the name of an entry, or of a detail."""

MAX_COMPARED = 10_000
"""Longest text that is compared letter by letter, since memory grows with the square."""


class Passage(NamedTuple):
    """A passage of a text: its first character, and how many it has; 0 for a place between two characters."""

    start: int
    length: int

    @property
    def end(self) -> int:
        """The place behind its last character."""
        return self.start + self.length


class Moved(NamedTuple):
    """A value of `custom` whose tags are at their places in a new text, and the tags whose whole text is gone."""

    custom: str
    lost: tuple[str, ...] = ()


class Stretch(NamedTuple):
    """A passage of an old text from `first` to before `last`, and its unchanged or replaced passage in the new one."""

    first: int
    last: int
    begin: int
    end: int
    same: bool

    def place(self, position: int) -> int:
        """The position in the new text for one in the old text; within replaced text, in proportion."""
        if self.same or self.last == self.first:
            return self.begin + position - self.first
        return self.begin + round((position - self.first) * (self.end - self.begin) / (self.last - self.first))


def passage_of(entry: str) -> Passage | None:
    """The passage that an entry marks; None if it is about the whole element."""
    offset, length = OFFSET.search(entry), LENGTH.search(entry)
    return Passage(int(offset[2]), int(length[2]) if length else 0) if offset else None


def names_of(custom: str) -> frozenset[str]:
    """The names of the entries in a value."""
    return frozenset(found[1] for found in ENTRY.finditer(custom))


def tags_of(custom: str) -> tuple[Tag, ...]:
    """The entries that mark a passage, in their order; entries about the whole element are none."""
    found = []
    for entry in ENTRY.finditer(custom):
        if (passage := passage_of(entry[0])) is not None:
            details = tuple((key, decoded(value)) for key, value in DETAIL.findall(entry[0]) if key not in PLACE)
            found.append(Tag(entry[1], *passage, details))
    return tuple(found)


def entry_of(tag: Tag) -> str:
    """A tag as an entry; other signs than letters and digits are encoded in its details, as Transkribus does."""
    details = "".join(f" {NOT_IN_KEY.sub('_', key)}:{encoded(value)};" for key, value in tag.details)
    return f"{NOT_IN_NAME.sub('_', tag.name)} {{offset:{tag.start}; length:{tag.length};{details}}}"


def encoded(value: str) -> str:
    """A detail as encoded in the attribute: UTF-16 escapes for all but letters and digits."""
    units = ((sign, sign.encode("utf-16-be", "surrogatepass").hex()) for sign in value)
    return "".join(sign if sign.isalnum() else re.sub("....", r"\\u\g<0>", unit) for sign, unit in units)


def decoded(value: str) -> str:
    """A detail with its encoded characters decoded."""
    units = CODES.sub(lambda found: chr(int(found[1], 16)), value.strip())
    return units.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "replace")


def without_tags(custom: str, name: str, passages: Collection[Passage] | None = None) -> str:
    """The value without the entries of a name, or only without those that mark some passages."""

    def kept(found: re.Match[str]) -> str:
        gone = found[1] == name and (passages is None or passage_of(found[0]) in passages)
        return "" if gone else found[0]

    return ENTRY.sub(kept, custom).strip()


def moved(custom: str, old: str, new: str) -> Moved:
    """Move the tags of a text with its characters when the text changes.

    A tag grows with insertions into its passage and letters added to its words, and shrinks with deletions. It is lost
    if nothing is left of its passage, or if it was on a part of a passage that was replaced as a whole.
    """
    if old == new or OFFSET.search(custom) is None:
        return Moved(custom)
    stretches, lost = compared(old, new), list[str]()

    def move(found: re.Match[str]) -> str:
        entry, before = found[0], passage_of(found[0])
        if before is None or before.end > len(old):  # about the whole line, or never about this text
            return entry
        after = passage_after(stretches, before, old, new)
        if after is None:
            lost.append(entry.strip())
            return ""
        return LENGTH.sub(rf"\g<1>{after.length}", OFFSET.sub(rf"\g<1>{after.start}", entry, 1), 1)

    return Moved(ENTRY.sub(move, custom).strip(), tuple(lost))


def tags_in(new: str, tags: Sequence[Tag], old: str) -> tuple[Tag, ...]:
    """The tags of an old text at their places in a new one, see `moved`."""
    return tags_of(moved(" ".join(map(entry_of, tags)), old, new).custom)


def compared(old: str, new: str) -> list[Stretch]:
    """The stretches of an old text, alternately unchanged and replaced."""
    blocks = [(0, 0, 0)]
    if max(len(old), len(new)) <= MAX_COMPARED:
        blocks += [(block.a, block.b, block.size) for block in Levenshtein.editops(old, new).as_matching_blocks()]
    else:
        blocks.append((len(old), len(new), 0))
    found = []
    for (first, begin, size), (next_first, next_begin, _) in pairwise([*blocks, (len(old), len(new), 0)]):
        found.append(Stretch(first, first + size, begin, begin + size, same=True))
        found.append(Stretch(first + size, next_first, begin + size, next_begin, same=False))
    return [stretch for stretch in found if stretch.last > stretch.first or stretch.end > stretch.begin]


def passage_after(stretches: Sequence[Stretch], before: Passage, old: str, new: str) -> Passage | None:
    """A passage of an old text in the new one; None if it is lost."""
    first = bisect_left(stretches, before.start, key=lambda part: part.last)
    stretches = stretches[first : bisect_right(stretches, before.end, first, key=lambda part: part.first)]
    # At most three touch an edge. A file may have a million tags, each over thousands of stretches.
    outer = [*stretches[:3], *stretches[3:][-3:]]
    start = next((part.place(before.start) for part in outer if part.first <= before.start < part.last), len(new))
    if before.length == 0:
        return Passage(start, 0)
    end = next(part.place(before.end) for part in outer if part.first < before.end <= part.last)
    # A letter added to the first or last word of a tag belongs to the tag, as in "March 190" with a new 5.
    for part in outer:
        if not part.same and part.last == before.start and not in_word(old[: before.start][-1:]):
            while start > part.begin and in_word(new[start - 1]) and in_word(old[before.start]):
                start -= 1
        if not part.same and part.first == before.end and not in_word(old[before.end : before.end + 1]):
            while end < part.end and in_word(new[end]) and in_word(old[before.end - 1]):
                end += 1
    if not new[start:end].strip():
        return None
    cut = any(not part.same and part.first < edge < part.last for part in outer for edge in (before.start, before.end))
    kept = any(
        part.same and old[max(part.first, before.start) : min(part.last, before.end)].strip() for part in stretches
    )
    return Passage(start, end - start) if kept or not cut else None


def in_word(character: str) -> bool:
    """Whether a character is a letter or digit; "" is none."""
    return character.isalnum()
