"""Files of pages in, documents out. An interrupted job resumes where it stopped: existing results are kept."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from drethtr.base.errors import DataError
from drethtr.base.files import is_there, make_folder, write_bytes
from drethtr.documents.document import Document, Provenance, Sheet
from drethtr.documents.formats import Format
from drethtr.documents.markup import MAX_BYTES
from drethtr.documents.page import Page, TextLine
from drethtr.documents.read import first_bytes
from drethtr.documents.update import update
from drethtr.images.page_file import is_pdf
from drethtr.pages.events import DoubtCounts, FileRead, JobSummary, PageEvent, PageRead, Planned, Skipped
from drethtr.pages.plan import UNMARKED, Claims, JobPlan, Planner, Record
from drethtr.pages.record import made_with, provenance_of
from drethtr.pages.segmentation import Segmentation
from drethtr.pages.source import Original
from drethtr.pages.task import UPDATE, FileTask, is_whole, refuse_replacing_reviewed
from drethtr.pages.transcribe import Witness, nobody, transcribe
from drethtr.recognition.recognizer import Recognizer


class Job(Protocol):
    """Files to read, and where their results go."""

    @property
    def tasks(self) -> Sequence[FileTask]:
        """The files."""

    @property
    def unreadable(self) -> Sequence[DataError]:
        """Errors of files that cannot be opened; they count as failed."""

    @property
    def output(self) -> Path | None:
        """The folder for results, if they are written to one."""

    @property
    def force(self) -> bool:
        """Whether existing results are replaced."""

    def made(self, recognizer: Recognizer, format: str) -> Mapping[str, Any]:
        """The settings that determine the content of a result."""


@dataclass
class Run:
    """A job that is running; `done` and `failed` count its files, failed pages and failed results."""

    recognizer: Recognizer
    planner: Planner
    plan: JobPlan
    claims: Claims
    report: Callable[[Skipped], object]
    done: int
    failed: int
    doubts: DoubtCounts = field(default_factory=DoubtCounts)

    def fail(self, error: DataError) -> None:
        """Count and report a failure."""
        self.report(Skipped(error))
        self.failed += 1


def run_job(
    job: Job, load: Callable[[], Recognizer], report: Callable[[Planned | Skipped], object], read: Callable[[Run], None]
) -> JobSummary:
    """Run a job, whose waiting files `read` claims, reads and writes.

    Raises:
        DataError: if the folder for results cannot be used.
    """
    failed = len(job.unreadable)
    if not job.tasks:
        return JobSummary(0, failed, DoubtCounts())
    if job.output is not None and (job.force or not all(task.done for task in job.tasks)):
        make_folder(job.output)
    recognizer = load()
    planner = Planner(partial(job.made, recognizer))
    plan = planner.plan(job.tasks, force=job.force)
    report(Planned(plan))
    stale = sum(map(len, plan.refused.values()))
    with Claims(force=job.force) as claims:
        claims.tidy(plan.done)
        run = Run(recognizer, planner, plan, claims, report, len(plan.done), failed + stale)
        read(run)
        left = claims.settle()
    for reason in left:
        run.fail(reason)
    return JobSummary(run.done + claims.done, run.failed, run.doubts, stale)


Sheets: TypeAlias = Sequence[Sheet | None]
"""The pages of a file, None for those that could not be read."""


@dataclass(frozen=True)
class PageJob:
    """Files to read, and the results to write; see `opening.open_job`.

    unreadable  errors of files that cannot be opened; they count as failed
    output      the folder for results; if it is None, documents are only reported
    """

    tasks: tuple[FileTask, ...]
    unreadable: tuple[DataError, ...]
    formats: Mapping[str, Format]
    output: Path | None
    segmentation: Segmentation
    update: bool
    force: bool

    def run(
        self,
        load: Callable[[], Recognizer],
        report: Callable[[PageEvent], object] = lambda event: None,
        witness: Witness = nobody,
    ) -> JobSummary:
        """Read files without results and write their results; stale results are kept and counted as failed.

        Args:
            load: Returns the recognizer; not called if there are no files.
            report: Called with the plan, and with every page, file and failure.
            witness: Called with every line that is read, before its page is reported.

        Raises:
            DataError: if the folder for results cannot be used.
        """
        return run_job(self, load, report, partial(self.read_waiting, report=report, witness=witness))

    def read_waiting(self, run: Run, report: Callable[[PageEvent], object], witness: Witness) -> None:
        """Read the waiting files and write their results."""
        remove_shelves(run.plan.done)
        provenance = provenance_of(run.recognizer)
        for task in run.plan.waiting:
            try:
                if not run.claims.win(task):
                    continue
                if self.force:
                    refuse_replacing_reviewed(task)
                record = run.planner.recorder(task)
                sheets = self.read(task, run.recognizer, provenance, report, witness)
                lost = sheets.count(None)
                run.failed += lost
                self.count(task, sheets, run.doubts)
                if lost < len(sheets):
                    report(FileRead(task, self.finish(task, sheets, provenance, record)))
                    run.done += 1
            except DataError as error:
                run.fail(error)
            finally:
                run.claims.release(task)

    def made(self, recognizer: Recognizer, format: str) -> Mapping[str, Any]:
        """The settings that determine the content of a result."""
        marks = format == UPDATE or self.formats[format].doubts
        settings = {**made_with(recognizer, self.segmentation), "doubts": recognizer.doubtful if marks else UNMARKED}
        return settings if format == UPDATE else {**settings, "format": format}  # pdf and pdfa have the same names

    @property
    def fills(self) -> bool:
        """Whether only empty lines are read."""
        return self.update and not self.force

    def keeps(self, line: TextLine) -> bool:
        """Whether a given line keeps its text; a reviewed one always does."""
        return line.is_reviewed or (self.fills and line.transcription is not None)

    def read(
        self,
        task: FileTask,
        recognizer: Recognizer,
        provenance: Provenance,
        report: Callable[[PageEvent], object],
        witness: Witness,
    ) -> list[Sheet | None]:
        """The pages of a file."""
        settings = (
            f"{recognizer.strategy!r}, {recognizer.precision.value}, {self.segmentation!r}, {recognizer.doubtful}"
        )
        reader = f"{provenance}, {settings}"
        read = partial(self.read_page, recognizer=recognizer, report=report, witness=witness)
        sheets: list[Sheet | None] = []
        if self.force and task.shelf is not None:
            task.shelf.clear_pages()
        for original in task.originals:
            try:
                page = read(original) if task.shelf is None else task.shelf.page(original, read, reader, provenance)
            except DataError as error:
                report(Skipped(error))
                sheets.append(None)
            else:
                sheets.append(original.sheet(page))
        return sheets

    def count(self, task: FileTask, sheets: Sheets, doubts: DoubtCounts) -> None:
        """Count the doubts in the pages of a file."""
        for original, sheet in zip(task.originals, sheets, strict=True):
            if sheet is not None:
                doubts.add_page(sheet.page, lines_with_text(original) if self.fills else frozenset())

    def read_page(
        self,
        original: Original,
        recognizer: Recognizer,
        report: Callable[[PageEvent], object],
        witness: Witness = nobody,
    ) -> Page:
        """Read a page.

        Raises:
            DataError: if it cannot be read.
        """
        page = None
        try:
            finder = self.segmentation.finder(original)
            page = transcribe(original, recognizer, finder, keeps=self.keeps, witness=witness)
        finally:
            report(PageRead(original, page))
        return page

    def finish(self, task: FileTask, sheets: Sheets, provenance: Provenance, record: Record) -> Document:
        """Write the results of a file, and return the pages that were read.

        Raises:
            DataError: if something cannot be written.
        """
        read = tuple(sheet for sheet in sheets if sheet is not None)
        if task.updated is not None and (self.force or task.in_place or not is_there(task.updated)):
            data = first_bytes(task.path, MAX_BYTES + 1)
            updated = update(data, read[0].page, provenance, replace=self.force, name=str(task.path))
            write_bytes(task.updated, updated)
            if not task.in_place:
                record(UPDATE, task.updated)
        if self.output is not None:
            self.write(task, sheets, provenance, record)
        return Document(read, provenance)

    def write(self, task: FileTask, sheets: Sheets, provenance: Provenance, record: Record) -> None:
        """Write missing results, or all with `force`; rewrite those that lack pages which have been read since.

        Then remove the shelf. It stays while a page is missing, so that the next run reads only that page.

        Raises:
            DataError: if something cannot be written.
        """
        read = tuple(sheet for sheet in sheets if sheet is not None)
        lost = [original for original, sheet in zip(task.originals, sheets, strict=True) if sheet is None]
        missing = frozenset(str(original.source.number) for original in lost)
        for name, paths in task.targets.items():
            format = self.formats[name]
            if format.together or len(sheets) == 1:
                pdf = task.path if not missing and is_whole(task.path, task.originals) and is_pdf(task.path) else None
                parts = [(paths[0], Document(read, provenance, pdf))]
            else:
                known = (path for path, sheet in zip(paths, sheets, strict=True) if sheet is not None)
                parts = [(path, Document((sheet,), provenance)) for path, sheet in zip(known, read, strict=True)]
            lacking = missing if format.together else frozenset()
            for path, document in parts:
                if self.force or not is_there(path) or lacking < task.lacking(path):
                    content = format.write(document)
                    if task.shelf is None:
                        write_bytes(path, content)
                    else:
                        task.shelf.write(path, content, lacking)
                    record(name, path)
        if task.shelf is not None and not missing:
            task.shelf.remove()


def remove_shelves(tasks: Sequence[FileTask]) -> None:
    """Remove the shelves of finished files: those of processes that were killed after writing everything."""
    for task in tasks:
        if task.shelf is not None:
            task.shelf.remove()


def lines_with_text(original: Original) -> frozenset[str]:
    """The ids of the given lines that have text.

    Raises:
        DataError: if their description can no longer be read.
    """
    given = original.given()
    lines = given.lines if given is not None else ()
    return frozenset(line.id for line in lines if line.transcription is not None)
