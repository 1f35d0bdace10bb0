"""The difference that a change made to a page file, so that it can be undone exactly, even after other changes.

A file is split into its lines, the texts of its regions, and the frame around them, which holds everything else: order,
regions, and what other programs wrote. A difference has the parts that differ, before and after. Undoing it restores
the earlier bytes; if a part has changed since, the two changes are merged, as in version control, or the undo is
refused.
"""

import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain
from typing import Self

from drethtr.base.errors import DataError
from drethtr.documents.markup import Edit, apply
from drethtr.documents.page import MAX_LINES, TextLine
from drethtr.documents.page_file import PageFile
from drethtr.documents.transcription import Review

LINE, TEXT, FRAME = "line", "text", "frame"
"""Kinds of parts: the element of a line, the text of a whole region, and in the journal the frame."""

PLACEHOLDER = re.compile("\0([^\0]*)\0")
"""Stands in the frame for a part; no XML contains NUL."""

TAGS = re.compile("\0[^\0]*\0|[^\0>]*(?:>|(?=\0)|$)")
WORDS = re.compile(r"\w+|\W")
"""The tokens by which frames are compared, tags with the text before them; and those of lines and texts."""

APART, MISSING = "\1", "\2"
"""In the journal, they separate the values of a difference and stand for missing ones; no XML contains them."""

MAX_BYTES, MAX_PARTS = 64 << 20, 4 * MAX_LINES
"""Maximum bytes and parts of a difference that can be undone: far more than the fullest page has before and after."""

DAMAGED = "the history of this change is damaged, so that it cannot be undone"

MAX_TOKENS = 20_000
"""Maximum tokens that are compared, as comparing takes up to their square. With more, changes on either side of an undo
count as conflicting."""

Part = tuple[str, str]
Sides = tuple[str | None, str | None]
"""A part before and after a change; None if it was not there."""


@dataclass(frozen=True)
class Difference:
    """The parts of a page file that a change made different, before and after."""

    frame: Sides | None
    parts: Mapping[Part, Sides]

    @classmethod
    def between(cls, before: PageFile, after: PageFile) -> Self:
        """What is different in a file after a change."""
        (old_frame, old), (new_frame, new) = taken_apart(before), taken_apart(after)
        sides = {key: (old.get(key), new.get(key)) for key in sorted({*old, *new})}
        changed = {key: both for key, both in sides.items() if both[0] != both[1]}
        return cls((old_frame, new_frame) if old_frame != new_frame else None, changed)

    @property
    def lines(self) -> tuple[str, ...]:
        """The ids of the lines that the change made, removed or altered."""
        return tuple(id for kind, id in self.parts if kind == LINE)

    def packed(self) -> bytes:
        """The difference as bytes, for the journal."""
        frame = () if self.frame is None else (((FRAME, ""), self.frame),)
        values = (value for part in (*frame, *self.parts.items()) for value in chain(*part))
        return zlib.compress(APART.join(MISSING if value is None else value for value in values).encode())

    @classmethod
    def unpacked(cls, data: bytes) -> Self:
        """The difference from bytes of the journal, which anybody may have written.

        Raises:
            DataError: if they are none.
        """
        try:
            unpacker = zlib.decompressobj()
            text = unpacker.decompress(data, MAX_BYTES).decode()
            values = text.split(APART, 4 * MAX_PARTS) if unpacker.eof else ()
            sides = {
                (kind, id): (None if old == MISSING else old, None if new == MISSING else new)
                for kind, id, old, new in zip(*[iter(values)] * 4, strict=True)
            }
        except (zlib.error, ValueError) as error:
            raise DataError(DAMAGED) from error
        if not sides:
            raise DataError(DAMAGED)
        return cls(sides.pop((FRAME, ""), None), sides)

    @property
    def reversed(self) -> "Difference":
        """The difference that takes it back."""
        parts = {key: (new, old) for key, (old, new) in self.parts.items()}
        return Difference(self.frame and (self.frame[1], self.frame[0]), parts)

    def made_in(self, file: PageFile, is_read: Callable[[str], bool]) -> PageFile:
        """A file with this difference applied to it.

        Args:
            file: The file as it is now.
            is_read: Whether a line, by its id, differs from before this difference by readings of a model alone.

        Raises:
            DataError: if somebody has changed the same part since.
        """
        frame, now = taken_apart(file)
        present = frame
        parts: dict[Part, str | None] = {**now}
        earlier = dict[Part, str]()  # of the lines that are merged
        # A part equal to `old` becomes `new`, and one equal to `new` stays; any other is merged or refused.
        for (kind, id), (old, new) in self.parts.items():
            have = parts.get((kind, id))
            if have == old or (kind == LINE and is_read(id)):
                parts[kind, id] = new
            elif kind == LINE and have != new:
                merged = None if None in (old, new, have) else merge(str(old), str(have), str(new), WORDS)
                if merged is None:
                    raise DataError(f"line {id!r} was changed since; undo that first")
                parts[kind, id] = merged
                earlier[kind, id] = str(old)
        if self.frame is not None and frame != self.frame[1]:
            old_frame, new_frame = self.frame
            found = new_frame if frame == old_frame else merge(str(old_frame), frame, str(new_frame), TAGS)
            if found is None:
                raise DataError("the order or the regions were changed since; undo that first")
            frame = found
        made = file.replaced(assembled(frame, {key: part for key, part in parts.items() if part is not None}))
        left = file.replaced(assembled(present, now | earlier)) if earlier else file
        for _, id in earlier:
            if is_nobodys(*(one.line(id) for one in (left, file, made))):
                raise DataError(f"line {id!r} was changed since; undo that first")
        return made


def is_nobodys(left: TextLine, now: TextLine, merged: TextLine) -> bool:
    """Whether nobody wrote or confirmed the text of a merged line.

    Args:
        left: The line before the difference.
        now: The line before merging.
    """
    is_other = (merged.text, merged.review) != (now.text, now.review)
    return (merged.review is Review.CONFIRMED and is_other) or merged.text != now.text != left.text


def taken_apart(file: PageFile) -> tuple[str, dict[Part, str]]:
    """The frame of a file, and its parts."""
    utf8, parts, edits = file.markup.utf8, dict[Part, str](), list[Edit]()
    spans = [((LINE, id), element.start, element.end) for id, element in file.parsed.lines.items()]
    texts = file.new_editor().region_texts().items()
    spans += [((TEXT, id), unicode.inside, unicode.inside_end) for id, unicode in texts if id in file.region_ids]
    for (kind, id), start, end in spans:
        parts[kind, id] = utf8[start:end].decode()
        edits.append(Edit(start, end, f"\0{kind} {id}\0".encode()))
    return apply(utf8, edits).decode(), parts


def assembled(frame: str, parts: Mapping[Part, str]) -> str:
    """A file put together again from its frame and its parts.

    Raises:
        DataError: if a part has no place, or a place no part, since two changes do not fit together.
    """
    placed = list[Part]()

    def put(found: re.Match[str]) -> str:
        kind, _, id = found[1].partition(" ")
        placed.append((kind, id))
        return parts.get((kind, id), "")

    whole = PLACEHOLDER.sub(put, frame)
    if sorted(placed) != sorted(parts):
        raise DataError("lines were added or removed since; undo that first")
    return whole


def merge(base: str, ours: str, theirs: str, tokens: re.Pattern[str]) -> str | None:
    """A text with two changes made to it; None if both changed the same place."""
    words, *sides = (tokens.findall(text) for text in (base, ours, theirs))
    if max(map(len, (words, *sides))) > MAX_TOKENS:
        return None
    changes = sorted((change for side in sides for change in changes_of(words, side)), key=lambda one: one[:2])
    found, done = list[str](), 0
    last: tuple[int, int, tuple[str, ...]] | None = None
    for change in changes:
        start, end, new = change
        if change == last:
            continue
        if last is not None and (start < last[1] or start == last[0]):
            return None  # also at one place: the order of two insertions would be a guess
        found += [*words[done:start], *new]
        done, last = end, change
    return "".join([*found, *words[done:]])


def changes_of(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """The ranges of tokens that were replaced, with their replacements."""
    for kind, first, last, begin, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            yield first, last, tuple(new[begin:end])
