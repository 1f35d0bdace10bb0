"""Files of pages in, documents out. An interrupted job resumes where it stopped: existing results are kept.

What decides whether a page is read, in this order:

1. `open_selected`: files that cannot be opened are left out; they count as failed.
2. `Planner.difference`: a file is left out if one of its results was made with other settings or from other files, as
   the record of its folder says. The results are kept and count as failed.
3. `FileTask.is_written`: a file is done if all its results exist and, as the record says, lack no pages. A file that is
   updated in place is never done: only reading it shows which lines lack text.
4. `Claims.acquire`: of several processes, one reads a file. The others count it as done if its results are complete by
   then, or at the end (`Claims.settle`).
5. `Run.corrected`: results on which people or other programs have worked describe their pages, for other results.
6. `PageCache.place`: pages of a file with several are taken from its hidden folder if an interrupted run has read them.

Then `Run.write` decides about each result: it is written if it does not exist, or lacks pages that were read now. With
`force`, every file that is claimed is read from its first page, and all its results are replaced. Never replaced are
results on which a person has worked or that another program wrote (`refuse_replacing_results` asks before reading,
`write_result` after it), and lines that a person reviewed (`PageJob.keeps`).

What writes: before reading, `PageJob.run` records what the inputs are. `PageCache` keeps each page of a file with
several, until all its results are complete. `write_result` or `write_update` writes a result. The `Recorder` records
how it was made: after it is written, but before that if it lacks pages, so that no incomplete result looks complete.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

from drethtr.base.errors import DataError, or_error
from drethtr.base.files import is_there, make_folder
from drethtr.base.wording import counted
from drethtr.documents.document import Document, Provenance, Sheet
from drethtr.documents.formats import FORMATS, Format
from drethtr.documents.page import Page, TextLine
from drethtr.documents.read import read_page
from drethtr.pages.events import DoubtCounts, FileRead, JobSummary, PageEvent, PageRead, Planned, Skipped
from drethtr.pages.plan import UNMARKED, Claims, Planner, Recorder
from drethtr.pages.results import is_copy, is_edited, is_worked_on, refuse_replacing_results, write_result, write_update
from drethtr.pages.segmentation import Segmentation, made_with
from drethtr.pages.selection import Selection
from drethtr.pages.source import Original
from drethtr.pages.task import UPDATE, FileTask, Sheets, paths_of
from drethtr.pages.transcribe import LineCallback, PageReader, Segmented, WholeLine, ignore_line
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer

Segment: TypeAlias = Callable[[], tuple[Original, Segmented]]
"""Opens a page and segments it, or waits for the thread that does."""

DESCRIBING = "page", "alto", "json"
"""Formats of results that can describe a page when it is read again, best first."""

READ_TOGETHER = 64
"""Images of single lines that are read together: fewer than would be fastest, as a user waits for the first result."""


@dataclass(frozen=True, repr=False)
class PageJob:
    """Files to read, and the results to write; see `opening.open_job`.

    selection   the files as selected; without a folder for results, documents are only reported
    unreadable  errors of files that cannot be opened; they count as failed
    of_lines    whether all files are images of single lines, and their results have the forms of `LINE_FORMATS`
    """

    selection: Selection
    tasks: tuple[FileTask, ...]
    unreadable: tuple[DataError, ...]
    formats: Mapping[str, Format]
    segmentation: Segmentation
    update: bool
    force: bool
    of_lines: bool

    def __repr__(self) -> str:
        return f"<PageJob: {counted(len(self.tasks), 'file')} to read, {len(self.unreadable)} unreadable>"

    def run(
        self,
        load: Callable[[], Recognizer],
        report: Callable[[PageEvent], object] = lambda event: None,
        on_line: LineCallback = ignore_line,
    ) -> JobSummary:
        """Read files without results and write their results; stale results are kept and counted as failed.

        Args:
            load: Returns the recognizer; not called if there are no files.
            report: Called with the plan, and with every page, file and failure. What it raises stops the job, which
                can be continued like an interrupted one.
            on_line: Called with every line that is read, before its page is reported.

        Raises:
            DataError: if the folder for results cannot be used.
        """
        failed = len(self.unreadable)
        if not self.tasks:
            return JobSummary(0, failed, DoubtCounts())
        output, folders, records = self.selection.output, self.selection.catalog.folders, self.selection.records
        if output is not None and (self.force or not all(task.is_written(folders.is_there) for task in self.tasks)):
            make_folder(output)
        recognizer = load()  # after everything that can refuse the job, since loading takes longest
        planner = Planner(partial(self._made, recognizer), records, folders)
        plan = planner.plan(self.tasks, force=self.force)
        report(Planned(plan))
        stale = sum(map(len, plan.refused.values()))
        with Claims(records, force=self.force) as claims:
            # Before reading, while what was seen in the folders still holds.
            claims.tidy(plan.done, folders)
            for task in plan.done:
                planner.forget_pages(task)  # left by a process that was killed after writing everything
            self._keep_catalog()
            run = Run(self, recognizer, planner, claims, report, on_line, len(plan.done), failed + stale)
            run.read(plan.waiting)
            # Files of other processes that were killed meanwhile have no results; they count as failed.
            left = claims.settle()
        records.known.clear()
        for reason in left:
            run.fail(reason)
        return JobSummary(run.done + claims.done, run.failed, run.doubts, stale, claims.done)

    def _keep_catalog(self) -> None:
        """Record what the files are; what was seen in folders no longer holds once results are written."""
        output, catalog = self.selection.output, self.selection.catalog
        if output is not None and catalog.new:
            with suppress(DataError):  # the next run opens the files again
                self.selection.records.of(output).add_inputs(catalog.new)
                catalog.new.clear()
        catalog.forget_folders()

    def _made(self, recognizer: Recognizer, format: str) -> Mapping[str, Any]:
        """The settings that determine the content of a result."""
        settings: dict[str, Any] = made_with(recognizer, self.segmentation)
        if format == UPDATE:
            return {**settings, "doubts": recognizer.doubtful}
        settings["format"] = format  # pdf and pdfa have the same names
        if self.of_lines and format == "json":
            settings |= {"format": "json of lines", "alternatives": recognizer.pieces.alternatives}
        return {**settings, "doubts": recognizer.doubtful if self.formats[format].doubts else UNMARKED}

    @property
    def fills(self) -> bool:
        """Whether only empty lines are read."""
        return self.update and not self.force

    def keeps(self, line: TextLine) -> bool:
        """Whether a given line keeps its text; a reviewed one always does."""
        return line.is_reviewed or (self.fills and line.transcription is not None)


@dataclass
class Run:
    """A job that is running; `done` and `failed` count its files, failed pages and failed results."""

    job: PageJob
    recognizer: Recognizer
    planner: Planner
    claims: Claims
    report: Callable[[PageEvent], object]
    on_line: LineCallback
    done: int
    failed: int
    doubts: DoubtCounts = field(default_factory=DoubtCounts)
    corrected_results: set[Path] = field(default_factory=set)

    @cached_property
    def provenance(self) -> Provenance:
        """What makes the results."""
        return self.recognizer.provenance()

    @cached_property
    def page_reader(self) -> PageReader:
        """Reads pages that are not images of single lines."""
        return PageReader(self.recognizer, self.job.segmentation, self.job.keeps, self.on_line)

    @cached_property
    def rereader(self) -> PageReader:
        """Reads pages that earlier results describe: only what no person wrote there."""
        return replace(self.page_reader, keeps=lambda line: self.job.keeps(line) or is_of_person(line))

    def fail(self, error: DataError) -> None:
        """Count and report a failure."""
        self.report(Skipped(error))
        self.failed += 1

    def read(self, tasks: Iterable[FileTask]) -> None:
        """Read files and write their results: images of single lines in groups, others page by page."""
        # Only neighbors are grouped, so that results come in the order of the files.
        for alone, some in groupby(map(self.corrected, tasks), self.is_line):
            for task, record, sheets in self.lines(some) if alone else self.pages(some):
                try:
                    self.finish(task, record, sheets)
                except DataError as error:
                    self.fail(error if error.source is not None else error.of(task.given))
                finally:
                    self.claims.release(task)

    def corrected(self, task: FileTask) -> FileTask:
        """The task, in which earlier results describe its pages where a person or another program worked on them.

        So its other results get what these say.
        """
        folder = self.job.selection.folders.get(task.path)
        if folder is None or self.job.of_lines or self.job.update:
            return task
        found = list[Path]()

        def described(original: Original, results: Sequence[Path]) -> Original:
            given = original.description
            # What lies beside results may be what a person corrected last, and they copies of it.
            is_beside = given is not None and given.parent.resolve() == folder.resolve()
            is_source = is_worked_on if given is None else is_edited
            for path in results if original.error is None and not is_beside else ():
                with suppress(DataError):  # a damaged one describes nothing
                    if is_source(path) and self.planner.is_of(path, task):
                        new = replace(original, description=path, has_lines=bool(read_page(path).lines))
                        if (new := self.job.segmentation.prepare(new)).has_lines:
                            found.append(path)
                            return new
            return original

        paths = (paths_of(FORMATS[name], task.path, task.originals, folder) for name in DESCRIBING)
        originals = tuple(map(described, task.originals, zip(*paths, strict=True)))
        self.corrected_results.update(found)
        if not found:
            return task
        return replace(task, originals=originals, corrected=frozenset(found), before=task.sources)

    def is_line(self, task: FileTask) -> bool:
        """Whether a file is an image of a single line."""
        try:
            return all(map(self.job.segmentation.is_line_image, task.originals))
        except DataError:
            return False  # reading it tells why

    def acquired(self, tasks: Iterable[FileTask]) -> Iterator[tuple[FileTask, Recorder]]:
        """The files that no other process reads, opened, each with its recorder."""
        for task in filter(self.claims.acquire, tasks):
            try:
                if self.job.force:
                    refuse_replacing_results(task, self.planner.records)
                opened = self.planner.opened(task)
            except DataError as error:
                self.fail(error)
                self.claims.release(task)
            else:
                yield opened

    def lines(self, tasks: Iterable[FileTask]) -> Iterator[tuple[FileTask, Recorder, Sheets]]:
        """Read images of single lines, several at a time."""
        opened = (
            ((task, record, line), line if isinstance(line, DataError) else line.pixels)
            for task, record in self.acquired(tasks)
            for line in [or_error(WholeLine.open, task.originals[0], self.recognizer)]
        )
        for (task, record, line), reading in self.recognizer.read_opened(opened, together=READ_TOGETHER):
            [original] = task.originals
            if isinstance(line, WholeLine) and isinstance(reading, Reading):
                page = line.page(reading, self.on_line)
                self.report(PageRead(original, page))
                details = reading.to_json() if self.job.of_lines else {}
                yield task, record, [replace(original.sheet(page), details=details)]
            elif isinstance(reading, DataError):
                self.report(PageRead(original, None))
                self.report(Skipped(reading))
                yield task, record, [None]

    def pages(self, tasks: Iterable[FileTask]) -> Iterator[tuple[FileTask, Recorder, Sheets]]:
        """Read files page by page; pages of a file with several are kept until the last one is read."""
        chosen = f"{self.recognizer.strategy!r}, {self.recognizer.precision.value}"
        read_by = f"{self.provenance}, {chosen}, {self.job.segmentation!r}, {self.recognizer.doubtful}"
        sheets = list[Sheet | None]()
        for task, record, original, segment in self.segmented_ahead(tasks, read_by):
            read = partial(self.page, segment=segment)
            try:
                if task.cache is None:
                    page = read(original)
                else:
                    page = task.cache.page(original, read, read_by, self.provenance)
            except DataError as error:
                self.report(Skipped(error))
                sheets.append(None)
            else:
                sheets.append(original.sheet(page))
            if len(sheets) == len(task.originals):
                yield task, record, sheets
                sheets = []

    def segmented_ahead(
        self, tasks: Iterable[FileTask], read_by: str
    ) -> Iterator[tuple[FileTask, Recorder, Original, Segment]]:
        """Each page of each file. While a page is read, other threads segment the next ones that were not read before.

        A third of the work on a page is opening it, finding its lines and cutting them out; hence the number of
        threads.
        """
        threads = self.recognizer.threads
        ahead = max(1, threads // 3) if threads > 1 else 0
        with ThreadPoolExecutor(max(1, ahead)) as pool:
            waiting = deque[tuple[FileTask, Recorder, Original, Segment]]()
            for task, record in self.acquired(tasks):
                if self.job.force and task.cache is not None:
                    task.cache.remove()  # or pages of the last run would be used for this one
                for original in task.originals:
                    is_read = task.cache is not None and task.cache.has(original, read_by)
                    segment = partial(self.segment, original, max(1, threads // (ahead + 1)))
                    wait = pool.submit(segment).result if ahead and not is_read else segment
                    waiting.append((task, record, original, wait))
                    if len(waiting) > ahead:
                        yield waiting.popleft()
            yield from waiting

    def segment(self, original: Original, threads: int) -> tuple[Original, Segmented]:
        """Open a page and segment it.

        Raises:
            DataError: if it cannot be read.
        """
        original = original.opened()
        return original, self.reader_of(original).segment(original, threads)

    def reader_of(self, original: Original) -> PageReader:
        """What reads a page."""
        return self.rereader if original.description in self.corrected_results else self.page_reader

    def page(self, original: Original, segment: Segment) -> Page:
        """Read a page.

        Raises:
            DataError: if it cannot be read.
        """
        page = None
        try:
            original, segmented = segment()
            page = self.reader_of(original).page(original, segmented)
        finally:
            self.report(PageRead(original, page))
        if not self.job.update and original.description not in self.corrected_results:
            self.doubts.unused += sum(is_of_person(line) and not line.is_reviewed for line in original.given_lines())
        return page

    def finish(self, task: FileTask, record: Recorder, sheets: Sheets) -> None:
        """Count the pages of a file, write its results, and report it.

        Raises:
            DataError: if something cannot be written.
        """
        read = tuple(sheet for sheet in sheets if sheet is not None)
        self.failed += len(sheets) - len(read)
        for original, sheet in zip(task.originals, sheets, strict=True):
            if sheet is not None:
                given = original.given_lines() if self.job.fills else ()
                self.doubts.add_page(sheet.page, {line.id for line in given if line.transcription is not None})
        if not read:
            return
        if task.updated is not None and (self.job.force or task.in_place or not is_there(task.updated)):
            write_update(task, read[0].page, self.provenance, replace=self.job.force)
            if not task.in_place:
                record(UPDATE, task.updated, frozenset(), b"")
        if self.job.selection.output is not None:
            self.write(task, record, sheets)
        self.report(FileRead(task, Document(read, self.provenance, name=task.given)))
        self.done += 1

    def write(self, task: FileTask, record: Recorder, sheets: Sheets) -> None:
        """Write missing results, or all with `force`; rewrite those that lack pages which have been read since.

        Then forget the pages. They stay while one is missing, so that the next run reads only that one.

        Raises:
            DataError: if something cannot be written.
        """
        lost = [original for original, sheet in zip(task.originals, sheets, strict=True) if sheet is None]
        missing, records = frozenset(original.source.number for original in lost), self.planner.records
        for name in task.targets:
            format = self.job.formats[name]
            lacks = missing if format.together else frozenset()
            for path, document in task.documents(name, format, sheets, self.provenance):
                if self.job.force or not is_there(path) or lacks < records.lacking(path):
                    content = format.write(document)
                    if lacks:  # recorded first: a process killed in between leaves no file that looks complete
                        record(name, path, lacks, content)
                    write_result(path, content, is_spared=partial(is_copy, records=records, pages=document.pages))
                    if not lacks:
                        record(name, path, lacks, content)
        if not missing:
            self.planner.forget_pages(task)


def is_of_person(line: TextLine) -> bool:
    """Whether a line has a text that no program states a confidence for."""
    return line.text != "" and line.transcription is not None and not line.transcription.by_program
