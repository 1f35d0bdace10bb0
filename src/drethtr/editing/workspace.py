"""The folder as a whole: its pages, the one place where their files are changed, and who is told of that.

Every change starts from the file as it is now, so that what other programs write is seen and built upon.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from getpass import getuser
from os import sep
from pathlib import Path
from threading import RLock
from typing import Any, Self

from drethtr.base.errors import DataError
from drethtr.documents.page import Points, TextLine
from drethtr.documents.page_file import PageFile
from drethtr.editing import changes
from drethtr.editing.changes import Changed, LineEdit
from drethtr.editing.content import page_content, unread_content
from drethtr.editing.journal import Change, Journal
from drethtr.editing.leaves import Leaf, leaves_of
from drethtr.editing.overview import Overview
from drethtr.editing.scans import Scans
from drethtr.editing.summary import Summary
from drethtr.editing.truths import Missing, Truth, Truths, mark_of, no_line
from drethtr.recognition.confidence.error_rate import ErrorRate

Event = tuple[str, dict[str, Any]]
Listener = Callable[[Event], object]


class Workspace:
    """An open folder. All methods may be called from any thread."""

    def __init__(self, folder: Path, journal: Journal) -> None:
        self.folder = folder
        self.journal = journal
        self.scans = Scans()
        self.truths = Truths(folder, self.scans)
        self.overview = Overview(self.truths, journal)
        self.lock = RLock()
        self.listeners: list[Listener] = []
        self.marks: dict[str, str] = {}
        self.error_rate: ErrorRate | None = None
        self.unreadable: dict[str, str] = {}  # why pages could not be read, by their ids
        self.leaves: Mapping[str, Leaf] = {leaf.id: leaf for leaf in leaves_of(folder)}

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Open a folder.

        Raises:
            DataError: if it is none, holds no scan, cannot be written to, or is open in another process.
        """
        folder = Path(folder)
        if not folder.is_dir():
            raise DataError("is a file; give the folder it is in" if folder.exists() else "no such folder", folder)
        journal = Journal.open(folder)
        try:
            opened = cls(folder.resolve(), journal)
            if not opened.leaves:
                raise DataError("contains no images or PDFs, nor do its subfolders", folder)
        except BaseException:
            journal.close()
            raise
        return opened

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let other processes open the folder."""
        with self.lock:
            self.journal.close()

    # Events.

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call a function at each event, in any thread, until the returned function is called."""
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def tell(self, name: str, **data: Any) -> None:
        """Tell all listeners of an event."""
        for listener in tuple(self.listeners):
            listener((name, data))

    def notice_changes(self) -> None:
        """Tell of files that other programs have written since the last time."""
        for leaf in tuple(self.leaves.values()):
            mark = mark_of(leaf.truth)
            with self.lock:
                known = self.marks.get(leaf.id)
                self.marks[leaf.id] = mark
            if known is not None and known != mark:
                self.tell("page", page=leaf.id, why="outside")

    # Pages.

    def leaf(self, page: str) -> Leaf:
        """A page by its id.

        Raises:
            Missing: if there is none.
        """
        if page not in self.leaves:
            raise Missing("there is no such page; its scan may have been moved or renamed")
        return self.leaves[page]

    def pages(self) -> list[dict[str, Any]]:
        """The overview: every page in the order of names."""
        rows = self.overview.rows(tuple(self.leaves.values()), self.error_rate)
        return [{**row, "error": self.error_of(row["id"], row["error"])} for row in rows]

    def told(self, error: object) -> str:
        """What clients are told of an error: files as seen from the folder, as its place on this machine is private."""
        return str(error).replace(f"{self.folder}{sep}", "").replace(str(self.folder), self.folder.name)

    def summarized(self) -> Iterator[tuple[Leaf, Summary | DataError]]:
        """Every page with its summary; files that changed since the last time are read again."""
        return self.overview.of(tuple(self.leaves.values()))

    def page(self, page: str) -> dict[str, Any]:
        """A page with its lines, and its neighbors.

        Raises:
            Missing: if there is none.
        """
        leaf, order = self.leaf(page), list(self.leaves)
        place = order.index(page)
        beside = {
            "previous": order[place - 1] if place else None,
            "next": order[place + 1] if place + 1 < len(order) else None,
        }
        content = self.content(leaf)
        return {**content, "error": self.error_of(page, content["error"]), **beside}

    def error_of(self, page: str, error: str | None) -> str | None:
        """Why a page cannot be used or read; None if it can."""
        reason = error or self.unreadable.get(page)
        return None if reason is None else self.told(reason)

    def content(self, leaf: Leaf) -> dict[str, Any]:
        """A page with its lines, or with the reason why it has none."""
        try:
            truth = self.truths.of(leaf)
            if truth is not None:
                return page_content(leaf, truth.file, made_here=truth.made_here)
            width, height = (0, 0) if leaf.source is None else self.scans.size(leaf.source)
            return unread_content(leaf, width, height, None)
        except DataError as error:
            return unread_content(leaf, 0, 0, str(error))

    def line(self, page: str, line: str) -> dict[str, Any]:
        """A line.

        Raises:
            Missing: if there is none.
            DataError: if its file is damaged.
        """
        leaf = self.leaf(page)
        found = self.truths.line_now(leaf, self.truths.existing(leaf), line)
        if found is None:
            raise no_line(leaf, line)
        return found

    # Pictures.

    def strip(self, page: str, line: str) -> bytes:
        """A straightened line as JPEG.

        Raises:
            Missing: if there is none.
            DataError: if the scan is missing or damaged, or the line has no place on it.
        """
        leaf = self.leaf(page)
        lines = self.truths.existing(leaf).file.page.lines
        found = next((one for one in lines if one.id == line), None)
        if found is None:
            raise no_line(leaf, line)
        return self.scans.strip(leaf, found, lines)

    # Changes.

    def edit_line(self, page: str, line: str, revision: str, edit: LineEdit, who: str = "") -> dict[str, Any]:
        """Change the text, the review or the place of a line, and return it.

        Raises:
            Stale: if the line is no longer of this revision.
            Missing, DataError: if there is no such page, or its file cannot be read or written.
        """

        def work(leaf: Leaf, truth: Truth) -> Changed:
            return changes.edit_line(
                truth.file, line, edit, page, made_here=truth.made_here, outline=self.outline_of(leaf)
            )

        self.change(page, work, {line: revision}, who)
        return self.line(page, line)

    def change(
        self,
        page: str,
        work: Callable[[Leaf, Truth], Changed],
        revisions: Mapping[str, str],
        who: str = "",
        *,
        model: str | None = None,
    ) -> Changed:
        """Change the file of a page.

        Args:
            work: Makes the change.
            revisions: What the lines must be like for it to make sense.
            model: The model that reads; by default a person makes the change.

        Raises:
            Stale: if a line is no longer of its revision.
            Missing, DataError: if there is no such page, or its file cannot be read or written.
        """
        with self.lock:
            leaf = self.leaf(page)
            truth = self.truths.existing(leaf)
            for line, revision in revisions.items():
                self.truths.check(leaf, truth, line, revision)
            changed = work(leaf, truth)
            if changed.file.data != truth.file.data:
                self.write(leaf, truth.file.data, changed.file.data)
            self.note(truth, changed.notes, who, model)
        if changed.file.data != truth.file.data:
            self.tell("page", page=page, why="edit" if model is None else "read")
            for one in changed.lines:
                self.tell("line", page=page, line=one)
        return changed

    def create(self, leaf: Leaf, content: bytes, notes: Sequence[Change], *, model: str) -> None:
        """Write the first file of a page, unless there is one by now.

        Raises:
            DataError: if it cannot be written.
        """
        with self.lock:
            if leaf.truth.exists():
                return
            self.write(leaf, None, content)
            self.journal.add([replace(note, model=model) for note in notes])
        self.tell("page", page=leaf.id, why="read")

    def write(self, leaf: Leaf, before: bytes | None, after: bytes) -> None:
        """Write the file of a page, as `Truths.write`; that is no change by another program."""
        self.truths.write(leaf, before, after)
        self.marks[leaf.id] = mark_of(leaf.truth)

    def note(self, truth: Truth, notes: Sequence[Change], who: str, model: str | None) -> None:
        """Add notes to the history, and before them what other programs have done to these lines."""
        rows = []
        before = {line.id: line for line in truth.file.page.lines}
        for note in notes:
            last = self.journal.of_line(note.page, note.line)
            known = next((change.new for change in last if change.new is not None), None)
            if known is not None and note.line in before and (now := before[note.line].text) != known:
                rows.append(Change(note.page, note.line, "outside", known, now, str(truth.status(before[note.line]))))
            rows.append(replace(note, who=None if model is not None else who or user(), model=model))
        if rows:
            self.journal.add(rows)

    def outline_of(self, leaf: Leaf) -> changes.Outline:
        """What finds the polygon of a line of a page."""

        def outline(line: TextLine, file: PageFile) -> Points | None:
            return self.scans.outline(leaf, line, file.page.lines)

        return outline

    def history(self, page: str, line: str) -> list[dict[str, Any]]:
        """The changes of a line, newest first.

        Raises:
            Missing: if there is no such page.
        """
        return [change.to_json() for change in self.journal.of_line(self.leaf(page).id, line)]


def user() -> str:
    """The name of the user who runs this process."""
    try:
        return getuser()
    except (OSError, KeyError, ImportError):
        return "somebody"
