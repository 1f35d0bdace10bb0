"""Record a change in the history: notes on its lines, earlier changes by other programs, and the step."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from getpass import getuser

from drethtr.documents.page_file import PageFile
from drethtr.editing.changes import Changed, tidy
from drethtr.editing.journal import TAG, Change, Journal
from drethtr.editing.page_files import OpenPage
from drethtr.editing.undo import Difference

WITHOUT_TEXT = frozenset({"place", "split", "merge", "move", "add", "delete"})
"""Changes that version 0.2 noted without the text that they left."""


def record(
    journal: Journal, opened: OpenPage, changed: Changed, who: str, model: str | None, of: int | None = None
) -> None:
    """Add a change of a page to the journal, after changes that other programs made to its lines before.

    Args:
        who: The person who makes the change, or asks a model to do so; by default the user of this process.
        model: The model that makes the change; by default a person does.
        of: The number of the step that the change undoes or redoes.
    """
    outside, page_id = [], opened.page.id
    before = {line.id: line for line in opened.file.page.lines}
    for note in changed.notes:
        known = text_known(journal.of_line(page_id, note.line)) if note.line else None
        if known is not None and note.line in before and (now := before[note.line].text) != known:
            status = str(opened.status(before[note.line]))
            outside.append(Change(note.line, "outside", known, now, status))
    if outside:
        journal.add(page_id, outside)
    person = None if model is not None and not who else tidy(who) or user()
    if changed.notes:
        is_step = person is not None and changed.file.data != opened.file.data
        difference = Difference.between(opened.file, changed.file).packed() if is_step else None
        journal.add(page_id, [replace(note, who=person, model=model) for note in changed.notes], difference, of)


def user() -> str:
    """The name of the user who runs this process."""
    try:
        return getuser()
    except (OSError, KeyError, ImportError):
        return "somebody"


def text_known(changes: Sequence[Change]) -> str | None:
    """The text of a line according to its changes, newest first; None if they do not tell."""
    for change in changes:
        if change.new is not None and change.action != TAG:
            return change.new
        if change.action in WITHOUT_TEXT:
            return None
    return None


def notes_between(action: str, before: PageFile, after: PageFile, lines: Sequence[str]) -> Iterator[Change]:
    """The notes of a step that undoes or redoes another; one of the page, if it changed no line's text."""
    changed = [line for line in lines if text_in(before, line) != text_in(after, line)]
    for line in changed:
        yield Change(line, action, text_in(before, line), text_in(after, line))
    if not changed:
        yield Change("", action)


def text_in(file: PageFile, line: str) -> str | None:
    """The text of a line in a file; None if there is no such line."""
    return file.lines[line].text if line in file.lines else None
