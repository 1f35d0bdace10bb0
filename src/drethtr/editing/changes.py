"""Edits of a line, which return a changed file and a record of the change; `layout.py` has edits of several lines."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from drethtr.base.errors import DataError
from drethtr.documents.markup import clean
from drethtr.documents.page import Page, TextLine
from drethtr.documents.page_file import PageFile
from drethtr.documents.points import Box, Points, box_around
from drethtr.documents.transcription import PageWord, Review, Tag, Transcription
from drethtr.editing.journal import TAG, Change
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
    tags: tuple[Tag, ...] | None = None


def edit_line(file: PageFile, line_id: str, edit: LineEdit, outline: Outline) -> Changed:
    """Change the text, the review or the place of a line.

    Raises:
        DataError: if there is no such line, or a new tag is beyond its text.
    """
    old = file.line(line_id)
    written = with_text(old, edit)
    known = old.tags
    for tag in edit.tags or ():
        if tag.start + tag.length > len(written.text) and tag not in known:
            raise DataError(f"the tag {tag.name!r} is beyond the end of the text of line {line_id!r}")
    new = written if edit.baseline is None and edit.polygon is None else at_place(written, edit, file, outline)
    notes = list[Change]()

    def note(action: str, before: str | None, after: str | None, status: Review | None = None) -> None:
        notes.append(Change(line_id, action, before, after, status and str(status)))

    if written is not old:
        if written.transcription != old.transcription:
            note("status" if written.text == old.text else "text", old.text, written.text, written.review)
        if lost := file.lost_tags(line_id, written.text):
            note("tags", " ".join(lost), None, written.review)
    if (new.baseline, new.polygon) != (old.baseline, old.polygon):
        # A program's reading was of the ink at the old place, so it is dropped; a person's text stays.
        if written is old and not status_of(old, file).touched:
            new = replace(new, transcription=None)
        note("place", old.text, new.text)
    changed = file.with_line(new)
    if edit.tags is not None:
        changed = changed.with_tags(line_id, edit.tags)
        note(TAG, listed_tags(known, old.text), listed_tags(edit.tags, new.text))
    return Changed(changed, (line_id,), tuple(notes))


def with_text(line: TextLine, edit: LineEdit) -> TextLine:
    """A line with the text and the review of an edit; the same object if it has neither."""
    text = line.text if edit.text is None else tidy(edit.text)
    if text == line.text and edit.status is None:
        return line
    return replace(line, transcription=with_review(line.transcription, text, edit.status or Review.CORRECTED))


def at_place(line: TextLine, edit: LineEdit, file: PageFile, outline: Outline) -> TextLine:
    """A line at the place of an edit; with a baseline alone, in an outline around the ink there."""
    baseline = within(edit.baseline, file.page) or line.baseline
    placed = replace(line, baseline=baseline, polygon=within(edit.polygon, file.page))
    if edit.polygon is None:
        placed = replace(placed, polygon=outline(placed, file) or line.polygon)
    return placed


def confirm_lines(file: PageFile, lines: Sequence[TextLine]) -> Changed:
    """Confirm lines as they are, in one edit of the file."""
    review = Review.CONFIRMED
    new = [replace(line, transcription=with_review(line.transcription, line.text, review)) for line in lines]
    notes = tuple(Change(line.id, "status", line.text, line.text, str(review)) for line in lines)
    return Changed(file.with_lines(new), tuple(line.id for line in lines), notes)


def listed_tags(tags: Sequence[Tag], text: str) -> str:
    """Tags of a text, for the history."""
    return "; ".join(f"{tag.name} {text[tag.start : tag.start + tag.length]}" for tag in tags)


def within(points: Points | None, content: Page) -> Points | None:
    """Points on a page; others move to its edge, since finding the ink around far ones would take forever."""
    if points is None or not (content.width and content.height):
        return points
    return tuple((min(x, content.width), min(y, content.height)) for x, y in points)


def with_review(old: Transcription | None, text: str, review: Review) -> Transcription:
    """The transcription with a person's text; unchanged words keep their confidences."""
    if old is not None and old.text == text:
        return replace(old, review=review)
    return Transcription(text, None, carry_over(old.words if old else (), text), review=review)


def tidy(text: str) -> str:
    """A text on one line, without spaces at its ends."""
    return clean(text).strip()


def carry_over(old: Sequence[PageWord], text: str) -> tuple[PageWord, ...]:
    """Return the words of a changed text.

    Unchanged words keep place and confidence. Words that replace others share their place in proportion to length;
    added words get the gap between their neighbors. If an old word has no place, none of the changed words gets one.
    """
    new = text.split()
    boxes = [word.box for word in old]
    # With autojunk, difflib ignores frequent words in texts of 200 words or more.
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
    # Neighbors may touch or overlap, but a box needs a width.
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
