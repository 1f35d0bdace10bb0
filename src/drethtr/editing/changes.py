"""Edits of lines: each function returns a changed file and a record of the change."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from drethtr.base.errors import DataError
from drethtr.documents.markup import clean
from drethtr.documents.page import Page, TextLine
from drethtr.documents.page_file import PageFile
from drethtr.documents.points import Box, Points, box_around
from drethtr.documents.transcription import PageWord, Review, Transcription
from drethtr.editing.journal import Change
from drethtr.editing.places import hull, in_writing_order, neighbor_before, split_offset, split_place
from drethtr.editing.status import status_of

Outline = Callable[[TextLine, PageFile], Points | None]
"""Finds the polygon around the ink of a line that has a baseline."""


@dataclass(frozen=True)
class Changed:
    """A changed file, the ids of lines that are new or different, and records for the history."""

    file: PageFile
    lines: tuple[str, ...]
    notes: tuple[Change, ...]


@dataclass(frozen=True)
class LineEdit:
    """The new values of a line; None leaves a value as it is."""

    text: str | None = None
    status: Review | None = None
    baseline: Points | None = None
    polygon: Points | None = None


def edit_line(file: PageFile, line_id: str, edit: LineEdit, page: str, *, made_here: bool, outline: Outline) -> Changed:
    """Change the text, the review or the place of a line.

    Raises:
        DataError: if there is no such line.
    """
    old = new = file.line(line_id)
    notes = []
    text, status = None if edit.text is None else tidy(edit.text), status_of(old, made_here=made_here)
    if (text is not None and text != old.text) or edit.status is not None:
        review = edit.status or Review.CORRECTED
        new = replace(new, transcription=with_review(old.transcription, old.text if text is None else text, review))
        kind = "status" if text in (None, old.text) else "text"
        if new.transcription != old.transcription:
            notes.append(Change(page, line_id, kind, old.text, new.text, str(review)))
        if lost := file.lost_tags(line_id, new.text):
            notes.append(Change(page, line_id, "tags", " ".join(lost), None, str(review)))
    if edit.baseline is not None or edit.polygon is not None:
        baseline, polygon = (within(points, file.page) for points in (edit.baseline, edit.polygon))
        moved = replace(new, baseline=baseline or new.baseline, polygon=polygon)
        if edit.polygon is None:
            moved = replace(moved, polygon=outline(moved, file) or new.polygon)
        if (moved.baseline, moved.polygon) != (old.baseline, old.polygon):
            new = moved if status.touched or new is not old else replace(moved, transcription=None)
            notes.append(Change(page, line_id, "place", None, None, None))
    return Changed(file.with_line(new), (line_id,), tuple(notes))


def within(points: Points | None, page: Page) -> Points | None:
    """Points on a page; those outside move to its edge, since finding the ink around them would take for ever."""
    if points is None or not (page.width and page.height):
        return points
    return tuple((min(x, page.width), min(y, page.height)) for x, y in points)


def with_review(old: Transcription | None, text: str, review: Review) -> Transcription:
    """The transcription with a person's text; unchanged words keep their confidences."""
    if old is not None and old.text == text:
        return replace(old, review=review)
    return Transcription(text, None, carry_over(old.words if old else (), text), review=review)


def add_line(
    file: PageFile, line: TextLine, after: str | None, page: str, *, placed: bool, outline: Outline
) -> Changed:
    """Add a line after another one, or first; at the place its position suggests, unless `placed`.

    Its text, if it has one, is a person's.

    Raises:
        DataError: if there is no line `after`.
    """
    line = replace(line, baseline=within(line.baseline, file.page), polygon=within(line.polygon, file.page))
    if line.polygon is None:
        line = replace(line, polygon=outline(line, file))
    if not placed:
        after = neighbor_before(file.page.lines, line.baseline or line.polygon or ())
    new = replace(line, id=file.free_id("line"))
    given = line.transcription
    text, status = (given.text, str(given.review)) if given else (None, None)
    note = Change(page, new.id, "add", None, text, status)
    return Changed(file.with_new_lines([new], after), (new.id,), (note,))


def delete_line(file: PageFile, line_id: str, page: str) -> Changed:
    """Remove a line.

    Raises:
        DataError: if there is no such line.
    """
    old = file.line(line_id)
    return Changed(file.without_line(line_id), (), (Change(page, line_id, "delete", old.text, None, None),))


def split_line(
    file: PageFile, line_id: str, point: tuple[int, int], offset: int | None, page: str, *, made_here: bool
) -> Changed:
    """Cut a line in two across its baseline; its text is cut at `offset`, by default between its words there.

    Raises:
        DataError: if there is no such line, it has no baseline, or one part would be empty.
    """
    old = file.line(line_id)
    if old.baseline is None:
        raise DataError(f"line {line_id!r} has no baseline to split; draw one first")
    parts = split_place(old, point)
    if parts is None:
        raise DataError("a line can only be split between its ends; choose a point inside it")
    first, second = (TextLine(line_id, polygon, baseline) for baseline, polygon in parts)
    second = replace(second, id=file.free_id(line_id))
    status = status_of(old, made_here=made_here)
    if status.touched:
        cut = split_offset(old, point) if offset is None else offset
        texts = tidy(old.text[:cut]), tidy(old.text[cut:])
        before, after = (Transcription(text, review=Review.CORRECTED) for text in texts)
        words = len(before.text.split())
        if old.words:
            before = replace(before, words=carry_over(old.words[:words], before.text))
            after = replace(after, words=carry_over(old.words[words:], after.text))
        first, second = replace(first, transcription=before), replace(second, transcription=after)
    changed = file.with_line(first).with_new_lines([second], line_id)
    notes = (
        Change(page, line_id, "split", old.text, first.text, str(status)),
        Change(page, second.id, "split", old.text, second.text, str(status)),
    )
    return Changed(changed, (line_id, second.id), notes)


def merge_lines(
    file: PageFile, line_id: str, other_id: str, page: str, *, made_here: bool, outline: Outline
) -> Changed:
    """Join two pieces of a line; the id of the one that comes first in reading order is kept.

    Raises:
        DataError: if there is no such line, or both are the same.
    """
    if line_id == other_id:
        raise DataError("a line cannot be joined with itself; choose another one")
    lines = file.line(line_id), file.line(other_id)
    kept, gone = sorted(lines, key=file.page.lines.index)
    first, second = in_writing_order(kept, gone)
    baseline = (*(first.baseline or ()), *(second.baseline or ())) or None
    joined = TextLine(kept.id, hull([*(first.polygon or ()), *(second.polygon or ())]) or None, baseline)
    if baseline is not None and (found := outline(joined, file)) is not None:
        joined = replace(joined, polygon=found)
    states = [status_of(line, made_here=made_here) for line in (first, second)]
    text = tidy(f"{first.text} {second.text}")
    if any(state.touched for state in states):
        words = (*first.words, *second.words)
        joined = replace(joined, transcription=Transcription(text, None, words, review=Review.CORRECTED))
    notes = (
        Change(page, kept.id, "merge", kept.text, joined.text or None, None),
        Change(page, gone.id, "merge", gone.text, None, None),
    )
    return Changed(file.with_line(joined).without_line(gone.id), (kept.id,), notes)


def move_line(file: PageFile, line_id: str, after: str | None, page: str) -> Changed:
    """Move a line after another one, or to the beginning of the page.

    Raises:
        DataError: if there is no such line, or its file fixes the order.
    """
    changed = file.with_line_moved(line_id, after)
    return Changed(changed, (line_id,), (Change(page, line_id, "move", None, None, None),))


def tidy(text: str) -> str:
    """A text on one line, without spaces at its ends."""
    return clean(text).strip()


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
