"""Carry the positions of words over to a text that a person has changed."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from drethtr.documents.points import Box, box_around
from drethtr.documents.transcription import PageWord


def carry_over(old: Sequence[PageWord], text: str) -> tuple[PageWord, ...]:
    """Return the words of a changed text.

    Words that stay keep place and confidence. Those that replace others share their place by length; added ones stand
    in the gap between their neighbors. If some old word has no place, none of the changed words gets one.
    """
    new = text.split()
    boxes = [word.box for word in old]
    matcher = SequenceMatcher(None, [word.text for word in old], new, autojunk=False)
    words: list[PageWord] = []
    for kind, first, last, begin, end in matcher.get_opcodes():
        if kind == "equal":
            words += old[first:last]
        elif begin < end:
            room = room_between(boxes, first, last)
            words += place_words(new[begin:end], room)
    return tuple(words)


def room_between(boxes: Sequence[Box | None], first: int, last: int) -> Box | None:
    """The box of the words from `first` to before `last`, or of the gap before `first` if there are none."""
    known = [box for box in boxes if box is not None]
    if not known or len(known) < len(boxes):
        return None
    if first < last:
        return box_around(corner for box in boxes[first:last] if box is not None for corner in box.polygon())
    before, after = known[first - 1] if first else None, known[first] if first < len(known) else None
    beside = before or after
    assert beside is not None
    left = before.right if before else max(0, beside.left - beside.height)
    right = after.left if after else beside.right + beside.height
    return Box(min(left, right), beside.top, max(left, right, min(left, right) + 2), beside.bottom)


def place_words(texts: Sequence[str], room: Box | None) -> Iterator[PageWord]:
    """Words side by side in a box, along its longer side, by their lengths."""
    if room is None:
        yield from map(PageWord, texts)
        return
    lengths = [len(text) + 1 for text in texts]
    done, whole = 0, sum(lengths) - 1
    flat = room.width >= room.height
    start, extent = (room.left, room.width) if flat else (room.top, room.height)
    for text in texts:
        begin = start + extent * done // whole
        end = max(begin + 1, start + extent * (done + len(text)) // whole)
        box = Box(begin, room.top, end, room.bottom) if flat else Box(room.left, begin, room.right, end)
        yield PageWord(text, polygon=box.polygon())
        done += len(text) + 1
