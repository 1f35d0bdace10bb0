"""An open folder: its pages, all changes to their files, and the listeners that are notified of changes.

Every change starts from the present content of the file, so that changes by other programs are kept.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import sep
from pathlib import Path
from threading import RLock
from types import MappingProxyType
from typing import Any, Self

from drethtr.base.errors import DataError
from drethtr.base.files import file_mark
from drethtr.documents.page_file import PageFile
from drethtr.editing.changes import Changed, LineEdit, Outline, confirm_lines, edit_line, tidy
from drethtr.editing.folder_pages import FolderPage, Listing, find_pages
from drethtr.editing.journal import REDO, UNDO, Change, Journal, Step, stacks
from drethtr.editing.layout import Action
from drethtr.editing.notes import notes_between, record, text_in, text_known, user
from drethtr.editing.overview import Overview, Summary
from drethtr.editing.page_files import Missing, OpenLine, OpenPage, PageFiles, Stale, no_lines
from drethtr.editing.scans import Scans
from drethtr.editing.status import Status
from drethtr.editing.undo import Difference
from drethtr.layout.given import Outlines
from drethtr.recognition.confidence.error_rate import ErrorRate

VIEWED = 16
"""Pages last asked for, whose files are checked more often than others."""

Event = tuple[str, dict[str, Any]]
Listener = Callable[[Event], object]


class Workspace:
    """An open folder. All methods may be called from any thread."""

    def __init__(
        self, folder: Path, journal: Journal, outlines: Outlines = Outlines.AUTO, images: Path | None = None
    ) -> None:
        self.folder = folder
        self.images = images
        self.journal = journal
        self.scans = Scans(outlines)
        self.page_files = PageFiles(folder, self.scans)
        self.overview = Overview(self.page_files, journal)
        self.lock = RLock()
        self.listeners: list[Listener] = []
        self.marks: dict[str, str] = {}
        self.error_rate: ErrorRate | None = None
        self.unreadable: dict[str, str] = {}  # why pages could not be read, by their ids
        self.viewed = deque[str](maxlen=VIEWED)
        self.folder_pages: Mapping[str, FolderPage] = self.pages_now()

    @classmethod
    def open(cls, folder: str | Path, outlines: Outlines = Outlines.AUTO, images: str | Path | None = None) -> Self:
        """Open a folder.

        Args:
            outlines: Which outlines of given lines are used to show and read them.
            images: A folder in which the scans of PAGE and ALTO files are looked for first.

        Raises:
            DataError: if it is not a folder, holds no scan, cannot be written to, or is open in another process.
        """
        folder = Path(folder)
        if not folder.is_dir():
            raise DataError("is a file; give the folder it is in" if folder.exists() else "no such folder", folder)
        journal = Journal.open(folder)
        try:
            opened = cls(folder.resolve(), journal, outlines, None if images is None else Path(images).resolve())
            if not opened.folder_pages:
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
        """Close the folder, so that other processes can open it."""
        with self.lock:
            self.journal.close()

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call a function at each event, in any thread, until the returned function is called."""
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def notify(self, name: str, **data: Any) -> None:
        """Notify all listeners of an event."""
        for listener in tuple(self.listeners):
            listener((name, data))

    def notify_page(self, page: FolderPage, why: str) -> None:
        """Notify all listeners of a change of a page: "edit", "read" or "outside", with its row in the overview."""
        [row] = self.rows([page])
        self.notify("page", page=page.id, why=why, row=row)

    def notice_changes(self, page_ids: Iterable[str] | None = None) -> bool:
        """Notify listeners of files that other programs have written since the last call; say whether there are any.

        Args:
            page_ids: The pages to look at; by default all.
        """
        noticed = False
        for page_id in tuple(self.folder_pages if page_ids is None else page_ids):
            if (page := self.folder_pages.get(page_id)) is None:
                continue
            with self.lock:  # so that no change of ours happens between reading the file and its mark
                known = self.marks.get(page_id)
                self.marks[page_id] = mark = file_mark(page.xml_path)
            if known is not None and known != mark:
                self.notify_page(page, "outside")
                noticed = True
        return noticed

    def pages_now(self) -> dict[str, FolderPage]:
        """The pages that are in the folder now, by their ids.

        Raises:
            DataError: if the folder cannot be read.
        """
        self.listing = Listing(self.folder, self.images)  # first, so that a file that comes now is found next time
        return {page.id: page for page in find_pages(self.folder, self.images)}

    def folder_page(self, page_id: str) -> FolderPage:
        """A page by its id.

        Raises:
            Missing: if there is none.
        """
        if page_id not in self.folder_pages:
            raise Missing("there is no such page; its scan may have been moved or renamed")
        return self.folder_pages[page_id]

    def pages(self) -> list[dict[str, Any]]:
        """The overview: every page as JSON values, by name.

        Raises:
            DataError: if the folder is gone.
        """
        self.page_files.check_folder()
        return self.rows(tuple(self.folder_pages.values()))

    def rows(self, pages: Sequence[FolderPage]) -> list[dict[str, Any]]:
        """Pages in the overview, as JSON values."""
        rows = self.overview.rows(pages, self.error_rate)
        return [{**row, "error": self.error_of(row["id"], row["error"])} for row in rows]

    def without_private_paths(self, error: object) -> str:
        """The message of an error for clients: paths start at the folder, as its place on this machine is private."""
        message = str(error)
        for folder in (self.folder, *([self.images] if self.images else [])):
            message = message.replace(f"{folder}{sep}", "").replace(str(folder), folder.name)
            message = re.sub(rf"(?<= ){re.escape(str(folder.parent))}(?=[;,]|$)", "the folder above", message)
        return message

    def page_summaries(self) -> Iterator[tuple[FolderPage, Summary | DataError]]:
        """Every page with its summary; files that changed since the last time are read again."""
        return self.overview.of(tuple(self.folder_pages.values()))

    def error_of(self, page_id: str, error: str | None) -> str | None:
        """Why a page cannot be used or read; None if it can."""
        reason = error or self.unreadable.get(page_id)
        return None if reason is None else self.without_private_paths(reason)

    def opened(self, page_id: str) -> OpenPage:
        """A page with its file, as that is now.

        Raises:
            Missing: if there is no such page, or it has no lines yet.
            DataError: if its file is damaged.
        """
        return self.page_files.open_existing(self.folder_page(page_id))

    def strip(self, page_id: str, line: str) -> bytes:
        """A straightened line as JPEG.

        Raises:
            Missing: if there is none.
            DataError: if the scan is missing or damaged, or the line has no place on it.
        """
        opened = self.opened(page_id)
        return self.scans.strip(opened.page, opened.line(line).content, opened.file.page.lines)

    def edit_line(self, page_id: str, line: str, revision: str, edit: LineEdit, who: str = "") -> OpenLine:
        """Change the text, the review or the place of a line, and return it.

        Raises:
            Stale: if the line is no longer of this revision.
            Missing, DataError: if there is no such page, or its file cannot be read or written.
        """

        def work(opened: OpenPage) -> Changed:
            return edit_line(opened.file, line, edit, self.outline_finder(opened.page))

        changed = self.change(page_id, work, {line: revision}, who)
        return self.page_files.known(self.folder_page(page_id), changed.file).line(line)

    def confirm(self, page_id: str, revisions: Mapping[str, str] | None = None, who: str = "") -> tuple[str, ...]:
        """Confirm the lines of a page as they are, and return the ids of those that were not confirmed before.

        Args:
            revisions: Only lines of these revisions, which somebody has seen; by default all.

        Raises:
            Missing, DataError: if there is no such page, or its file cannot be read or written.
        """

        def work(opened: OpenPage) -> Changed:
            lines = [
                line
                for line in opened.file.page.lines
                if revisions is None or revisions.get(line.id) == opened.file.revision_of(line.id)
                if opened.status(line) not in (Status.UNREAD, Status.CONFIRMED)
            ]
            return confirm_lines(opened.file, lines)

        return self.change(page_id, work, {}, who).lines

    def change(
        self,
        page_id: str,
        work: Callable[[OpenPage], Changed],
        revisions: Mapping[str, str],
        who: str = "",
        *,
        model: str | None = None,
        of: int | None = None,
    ) -> Changed:
        """Change the file of a page.

        Args:
            work: Makes the change; it is called again if another program writes the file at the same moment.
            revisions: The expected revision of each line that the change depends on.
            who: The person who makes the change, or asks a model to do so; then it is a step that can be undone.
            model: The model that makes the change; by default a person does.
            of: The number of the step that the change undoes or redoes.

        Raises:
            Stale: if a line is no longer of its revision.
            Missing, DataError: if there is no such page, or its file cannot be read or written.
        """
        found: list[tuple[OpenPage, Changed]] = []

        def attempt(opened: OpenPage | None) -> bytes:
            if opened is None:
                raise no_lines()
            for line, revision in revisions.items():
                opened.check_revision(line, revision)
            found.append((opened, work(opened)))
            return found[-1][1].file.data

        with self.lock:
            page = self.folder_page(page_id)
            mark = self.write(page, attempt)
            opened, changed = found[-1]
            record(self.journal, opened, changed, who, model, of)
        if changed.file.data != opened.file.data:
            now = self.page_files.known(page, changed.file)
            if mark is not None:
                self.overview.keep(page, mark, now)
            self.notify_page(page, "edit" if model is None else "read")
            for one in changed.lines:
                self.notify("line", page=page_id, line=one)
        return changed

    def write(self, page: FolderPage, attempt: Callable[[OpenPage | None], bytes]) -> str | None:
        """Write the file of a page as `PageFiles.change`; this is not noticed as another program's change."""
        mark = self.page_files.change(page, attempt)
        if mark is not None:
            self.marks[page.id] = mark
        return mark

    def create(self, page: FolderPage, data: bytes, notes: Sequence[Change], *, model: str) -> bool:
        """Write the first file of a page, unless there is one by now; returns whether it was written.

        Raises:
            DataError: if it cannot be written.
        """
        created = False

        def attempt(opened: OpenPage | None) -> bytes:
            nonlocal created
            created = opened is None
            return data if opened is None else opened.file.data

        with self.lock:
            self.write(page, attempt)
            if not created:
                return False
            self.journal.add(page.id, [replace(note, model=model) for note in notes])
        self.notify_page(page, "read")
        return True

    def act(
        self, page_id: str, action: Action, revisions: Mapping[str, str] = MappingProxyType({}), who: str = ""
    ) -> Changed:
        """Do something to the layout of a page.

        Args:
            revisions: Revisions of the lines as the person saw them; if one has been edited since, nothing is changed.

        Raises:
            Stale: if there is such a line.
            Missing, DataError: if there is no such page, or the action cannot be done.
        """

        def work(opened: OpenPage) -> Changed:
            for line, revision in revisions.items():
                now = opened.file.lines.get(line)
                if now is None or opened.status(now).touched:
                    opened.check_revision(line, revision)
            return action.done(self.for_new_lines(opened), self.outline_finder(opened.page))

        return self.change(page_id, work, {}, who)

    def for_new_lines(self, opened: OpenPage) -> PageFile:
        """The file of a page, prepared so that a new line does not get the id, and the history, of a deleted one."""
        return replace(opened.file, gone=self.journal.lines(opened.page.id))

    def undo(self, page_id: str, who: str = "", step: int | None = None) -> Changed:
        """Take back the last step of a person on a page, or another one by its number.

        Raises:
            Missing, DataError: if there is none.
            Stale: if somebody has changed the same since.
        """
        return self.reverse(page_id, who, step, UNDO)

    def redo(self, page_id: str, who: str = "") -> Changed:
        """Do the step again that a person has undone last; errors as of `undo`."""
        return self.reverse(page_id, who, None, REDO)

    def reverse(self, page_id: str, who: str, number: int | None, action: str) -> Changed:
        """Undo or redo a step."""
        with self.lock:
            steps = self.journal.steps(self.folder_page(page_id).id)
            stack = stacks(steps, tidy(who) or user())[action == REDO]
            chosen = stack if number is None else [one for one in steps if one.number == number]
            if not chosen:
                raise DataError(f"there is nothing to {action} on this page")
            step = chosen[-1]
            repeated = [one for one in steps if one.of == step.number]
            if step.of is not None or (repeated and repeated[-1].action == action):
                raise DataError("this was undone before, or is an undo itself")
            packed = self.journal.difference(page_id, step.number)
            difference = Difference.unpacked(packed or b"")
            persons = self.journal.changed_by_persons(page_id, step, steps)

            def work(opened: OpenPage) -> Changed:
                back = difference.reversed if action == UNDO else difference

                def is_read(line: str) -> bool:
                    # Not if the history lacks the text: another program wrote it, or the disk was full.
                    known = text_known(self.journal.of_line(page_id, line))
                    return line not in persons and text_in(opened.file, line) == known

                try:
                    file = back.made_in(opened.file, is_read)
                except DataError as error:
                    raise Stale(error.reason, kind="page") from error
                return Changed(file, back.lines, tuple(notes_between(action, opened.file, file, back.lines)))

            return self.change(page_id, work, {}, who, of=step.number)

    def steps(self, page_id: str) -> list[Step]:
        """What persons did to a page, newest first.

        Raises:
            Missing: if there is no such page.
        """
        return self.journal.steps(self.folder_page(page_id).id)[::-1]

    def outline_finder(self, page: FolderPage) -> Outline:
        """Finds outlines of lines on the scan of a page."""
        return lambda line, file: self.scans.outline(page, line, file.page.lines)

    def history(self, page_id: str, line: str) -> list[Change]:
        """The changes of a line, newest first.

        Raises:
            Missing: if there is no such page.
        """
        return self.journal.of_line(self.folder_page(page_id).id, line)
