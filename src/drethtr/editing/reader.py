"""Reads the pages of a folder in the background, and new lines at once.

Lines that a person has edited or confirmed are not read again, and a reading is written only if its line has not moved
since.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Lock

import numpy as np

from drethtr.base.arrays import Floats
from drethtr.base.errors import DataError, DrethtrError
from drethtr.base.files import file_mark, write_own
from drethtr.base.links import text_of_own
from drethtr.base.wording import counted
from drethtr.documents.document import Document
from drethtr.documents.formats import FORMATS
from drethtr.documents.page import Page, TextLine
from drethtr.documents.page_file import READING
from drethtr.documents.points import Box, Points
from drethtr.documents.transcription import Transcription
from drethtr.editing.changes import Changed
from drethtr.editing.executor import PriorityExecutor
from drethtr.editing.folder_pages import FolderPage, changed_at
from drethtr.editing.index import FolderIndex, LineRead
from drethtr.editing.jobs import Job, Jobs
from drethtr.editing.journal import FOLDER, MAX_VALUE, Change
from drethtr.editing.new_lines import NewLines
from drethtr.editing.page_files import OpenLine, OpenPage
from drethtr.editing.repairs import Replace
from drethtr.editing.scans import place_mark, source_of
from drethtr.editing.status import Status
from drethtr.editing.workspace import Workspace
from drethtr.images.straighten import Strip
from drethtr.layout.finder import Layout
from drethtr.layout.order import arranged
from drethtr.layout.turn import turn_points
from drethtr.pages.line_reading import ReadLines
from drethtr.pages.placing import on_page, regions_of, transcription_of
from drethtr.pages.source import Original
from drethtr.pages.transcribe import PageReader
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer

READ = "read"
"""The kind of reading jobs."""

MAX_PRIORITIZED = 20
"""How many recently viewed pages are read first."""

AGAIN = "again.txt"
"""A file beside the journal with the ids of pages that are still to be read again, also after a restart."""


class Reader:
    """Reads the pages of a folder with one recognizer."""

    def __init__(
        self,
        workspace: Workspace,
        jobs: Jobs,
        recognizer: Recognizer,
        index: FolderIndex,
    ) -> None:
        self.workspace = workspace
        self.index = index
        self.jobs = jobs
        self.segmentation = index.segmentation
        self.executor = PriorityExecutor()
        self.prioritized: list[str] = []
        self.lock = Lock()  # held while `again` is changed
        self.again = frozenset(text_of_own(workspace.folder / FOLDER / AGAIN, MAX_VALUE).split())
        self.failed: dict[str, str] = {}  # marks of scans at the time when their pages could not be read
        self.new_lines = NewLines(self.executor, self.read_new)
        self.on_model_change: list[Callable[[Recognizer], object]] = []
        self.use(recognizer)

    def use(self, recognizer: Recognizer) -> None:
        """Use a recognizer from now on."""
        self.recognizer = recognizer
        for callback in self.on_model_change:
            callback(recognizer)
        self.workspace.error_rate = recognizer.model.record.error_rate(recognizer.strategy)
        self.workspace.notify("status")

    @property
    def model(self) -> str:
        """The name of the model."""
        return self.recognizer.model.identity

    def close(self) -> None:
        """Cancel all jobs, and stop."""
        self.new_lines.close()
        for job in self.jobs.newest_first():
            self.jobs.cancel(job)
        self.executor.shutdown()

    def read_pages(self, page_ids: Sequence[str] | None = None, *, again: bool = False) -> Job:
        """Read pages in the background; by default all that have not been read, or were not read again as asked.

        Args:
            again: Whether also to read lines that were read before, unless a person has touched them.
        """
        chosen = list(dict.fromkeys([*self.unread(), *self.left_to_read_again()]) if page_ids is None else page_ids)
        if again:
            self.keep_again(asked=chosen)
        job = self.jobs.new(READ, len(chosen))
        self.executor.submit_background(lambda: self.run_job(job, chosen))
        return job

    def left_to_read_again(self) -> list[str]:
        """The pages that are still to be read again, apart from those that cannot be read."""
        return [
            id
            for id, page in self.workspace.folder_pages.items()
            if id in self.again and page.source is not None and id not in self.workspace.unreadable
        ]

    def keep_again(self, asked: Collection[str] = (), done: Collection[str] = ()) -> None:
        """Keep which pages are still to be read again, also for the next start, unless the disk is full."""
        with self.lock:
            before, self.again = self.again, self.again.union(asked).difference(done)
            if self.again != before:
                with suppress(DataError):
                    write_own(self.workspace.folder / FOLDER / AGAIN, "\n".join(sorted(self.again)))

    def unread(self) -> Iterable[str]:
        """The pages on which nothing has been read. Lines of other pages may be empty on purpose."""
        for page, summary in self.workspace.page_summaries():
            if page.source is not None and not isinstance(summary, DataError) and summary.status is Status.UNREAD:
                yield page.id

    def prioritize(self, page_id: str) -> None:
        """Read a page before others of the running job, because somebody is viewing it."""
        self.prioritized = [*self.prioritized[-MAX_PRIORITIZED:], page_id]

    def run_job(self, job: Job, page_ids: list[str]) -> None:
        """Read pages one after the other, until all are read or the job is cancelled."""
        failed = []
        with self.jobs.in_progress(job, cancelled="{} of {} pages were read"):
            while page_ids:
                page_id = next((one for one in reversed(self.prioritized) if one in page_ids), page_ids[0])
                page_ids.remove(page_id)
                job.check()
                if page_id not in self.workspace.folder_pages:
                    continue
                page = self.workspace.folder_page(page_id)
                self.jobs.update(job, message=f"reading {page.name}")
                mark = file_mark(page.source.path) if page.source is not None else ""
                self.failed.pop(page_id, None)
                if self.workspace.unreadable.pop(page_id, None) is not None:
                    self.workspace.notify_page(page, "read")  # reading notifies only of what it changes
                try:
                    recognizer = self.recognizer
                    self.read_page(page, job, again=page_id in self.again)
                    if self.recognizer is recognizer:  # or another was adopted, with which all pages are read again
                        self.keep_again(done=[page_id])
                except DrethtrError as error:
                    self.workspace.unreadable[page_id], self.failed[page_id] = error.reason, mark
                    self.workspace.notify_page(page, "read")
                    failed.append(f"{page.name}: {self.workspace.without_private_paths(error.reason)}")
                self.jobs.update(job, done=job.done + 1)
            read = "; ".join([f"{counted(job.total - len(failed), 'page')} read", *failed[:1]])
            self.jobs.update(job, message=read + (f", and {len(failed) - 1} more" if len(failed) > 1 else ""))

    def read_changed(self) -> None:
        """Read pages that could not be read, and whose scans have changed since; not while they are being copied."""
        pages = self.workspace.folder_pages
        changed = [
            id
            for id, mark in tuple(self.failed.items())  # other threads change it meanwhile
            if id in pages
            and (source := pages[id].source) is not None
            and changed_at(source.path)
            and file_mark(source.path) != mark
        ]
        for id in changed:
            self.failed.pop(id, None)
        if changed:
            self.read_pages(changed)

    def read_page(self, page: FolderPage, job: Job, *, again: bool = False) -> None:
        """Read a page in turns with urgent work: lines of its file that no person has touched, or those that are found.

        Raises:
            DataError: if scan or file cannot be used.
        """
        recognizer = self.index.for_reading(self.recognizer)  # another recognizer may be adopted meanwhile
        read_lines = self.executor.in_turns(recognizer.read_lines, job.check)
        opened = self.workspace.page_files.open(page)
        if opened is None or not opened.file.page.lines:
            self.find_and_read(page, opened, recognizer, read_lines)
            return
        states = {line: opened.status(line) for line in opened.file.page.lines}
        lines = [line for line, now in states.items() if now is Status.UNREAD or (again and not now.touched)]
        read = self.readings(opened, lines, recognizer, read_lines)
        self.write_readings(page, transcribed(read, opened.file.page), recognizer.model.identity)
        # The index takes whole pages; pages with lines of people are left to the indexer, which uses their texts.
        if len(lines) == len(opened.file.page.lines) and recognizer.pieces.keeps_posteriors:
            now = self.workspace.page_files.open_existing(page).file.lines
            if {line.id: place_mark(line) for line in lines} == {id: place_mark(line) for id, line in now.items()}:
                seen = [(line.id, strip, reading) for line, strip, reading in read]
                self.index.add(page, opened.file.page, recognizer, seen)

    def fill(self, page: FolderPage) -> bool:
        """Write the index's reading of a page that has no file; returns whether it has one now."""
        recognizer = self.recognizer
        data = self.index.reading(page, recognizer)
        if data is None:
            return False
        with suppress(DataError):  # reading it reports why it cannot be used or written
            opened = self.workspace.page_files.parse(page, data)
            notes = notes_of(opened.file.page.lines if opened is not None else ())
            self.workspace.create(page, data, notes, model=recognizer.model.identity)
            return True
        return False

    def find_and_read(
        self, page: FolderPage, opened: OpenPage | None, recognizer: Recognizer, read_lines: ReadLines
    ) -> None:
        """Find the lines of a page, read them, and write a new file, or into one without lines."""
        if opened is None and self.fill(page):
            return
        original = Original(source_of(page))
        seen: list[LineRead] = []
        reader = PageReader(
            recognizer, self.segmentation, on_line=lambda *line: seen.append(line), read_lines=read_lines
        )
        content = reader.transcribe(original)
        lines = content.lines
        model = recognizer.model.identity

        if opened is None:
            document = Document((original.sheet(content),), recognizer.provenance())
            data = FORMATS["page"].write(document)
            is_ours = self.workspace.create(page, data, notes_of(lines), model=model)
            if is_ours and recognizer.pieces.keeps_posteriors:
                self.index.add(page, content, recognizer, seen)
            return

        def work(opened: OpenPage) -> Changed:
            if opened.file.page.lines or not lines:
                return Changed(opened.file, (), ())
            ids = self.workspace.for_new_lines(opened).new_editor().ids
            new = [replace(line, id=ids.claim(line.id)) for line in lines]
            return Changed(opened.file.with_lines_after({None: new}), (), notes_of(new))

        self.workspace.change(page.id, work, {}, model=model)

    def readings(
        self,
        opened: OpenPage,
        lines: Sequence[TextLine],
        recognizer: Recognizer,
        read_lines: ReadLines | None = None,
    ) -> list[tuple[TextLine, Strip, Reading]]:
        """Read lines; those that cannot be cut out of the scan are left out."""
        cut = self.cut_lines(opened, lines, recognizer)
        found = (read_lines or recognizer.read_lines)([strip.line for _, strip in cut])
        return [(line, strip, reading) for (line, strip), reading in zip(cut, found, strict=True)]

    def cut_lines(
        self, opened: OpenPage, lines: Sequence[TextLine], recognizer: Recognizer
    ) -> list[tuple[TextLine, Strip]]:
        """Lines with their straightened images for the recognizer; those that cannot be cut out are left out."""
        cut = []
        for line in lines:
            with suppress(DataError):
                strip = self.workspace.scans.straighten_line(opened.page, line, opened.file.page.lines)
                cut.append((line, strip._replace(line=recognizer.open_line(strip.line))))
        return cut

    def write_readings(self, page: FolderPage, read: Sequence[tuple[TextLine, Transcription]], model: str) -> None:
        """Write readings of a model into the file of a page, except lines that were moved or edited in the meantime."""

        def work(opened: OpenPage) -> Changed:
            changed, notes = [], []
            for line, text in read:
                here = opened.file.lines.get(line.id)
                if here is None or place_mark(here) != place_mark(line) or opened.status(here).touched:
                    continue
                changed.append(replace(here, transcription=text))
                if here.transcription is None or here.text != text.text:
                    notes.append(Change(line.id, "read", here.text, text.text, str(Status.READ)))
            return Changed(opened.file.with_texts(changed, READING), tuple(line.id for line in changed), tuple(notes))

        if read:
            self.workspace.change(page.id, work, {}, model=model)

    def find_again(self, page_id: str, box: Box | None = None, quarters: int = 0, who: str = "") -> Changed:
        """Find the lines of a page again, in a box or on the page as it is after turns to the left by 90 degrees.

        Lines that a person has edited stay.

        Raises:
            DataError: if there is no scan, or no line on it.
        """
        source = source_of(self.workspace.folder_page(page_id))
        gray = self.workspace.scans.gray(source)
        height, width = gray.shape
        part = box or Box(0, 0, width, height)
        cut = np.ascontiguousarray(np.rot90(gray[part.top : part.bottom, part.left : part.right], quarters))
        if not cut.size:
            raise DataError("the box lies outside the scan")

        def find() -> Layout:
            return arranged(self.segmentation.layout(Original(source), cut, self.recognizer.threads))

        layout = self.executor.submit(find).result()

        def on_scan(points: Floats) -> Points:
            turned = turn_points(points, -quarters, cut.shape[1], cut.shape[0])
            return on_page(turned + np.array((part.left, part.top)), width, height)

        lines = {
            number: TextLine(str(number), on_scan(line.polygon), on_scan(line.baseline))
            for number, line in enumerate(layout.lines)
        }
        regions = regions_of(layout, lines, width, height)
        return self.workspace.act(page_id, Replace(tuple(replace(one, polygon=None) for one in regions), box), who=who)

    def read_new(self, page_id: str, lines: Collection[str]) -> None:
        """Read the lines of a page that have these ids and no text.

        Raises:
            DataError: if scan or file cannot be used.
        """
        recognizer, opened = self.recognizer, self.workspace.opened(page_id)
        wanted = [line for line in opened.file.page.lines if line.id in lines and opened.status(line) is Status.UNREAD]
        read = self.readings(opened, wanted, recognizer)
        self.write_readings(opened.page, transcribed(read, opened.file.page), recognizer.model.identity)

    def read_again(self, page_id: str, line: str, revision: str, who: str = "") -> OpenLine:
        """Replace a person's text by a reading, and return the line.

        Raises:
            Stale: if the line is no longer of this revision.
            DataError: if it cannot be read.
        """
        opened = self.workspace.opened(page_id)
        opened.check_revision(line, revision)
        recognizer = self.recognizer
        read = self.executor.submit(self.readings, opened, [opened.file.line(line)], recognizer).result()
        if not read:
            raise DataError(f"line {line!r} cannot be cut out of its scan; check its baseline and outline")
        [(old, text)] = transcribed(read, opened.file.page)

        def work(opened: OpenPage) -> Changed:
            note = Change(line, "read", old.text, text.text, str(Status.READ))
            return Changed(opened.file.with_line(replace(old, transcription=text)), (line,), (note,))

        self.workspace.change(page_id, work, {line: revision}, who, model=recognizer.model.identity)
        return self.workspace.opened(page_id).line(line)


def notes_of(lines: Iterable[TextLine]) -> tuple[Change, ...]:
    """Records of lines that were read for the first time."""
    return tuple(Change(line.id, "read", None, line.text, str(Status.READ)) for line in lines)


def transcribed(read: Iterable[tuple[TextLine, Strip, Reading]], content: Page) -> list[tuple[TextLine, Transcription]]:
    """Lines of a page with the texts of their readings."""
    return [(line, transcription_of(reading, strip, content.width, content.height)) for line, strip, reading in read]
