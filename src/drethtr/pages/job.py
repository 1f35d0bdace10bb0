"""Files of pages in, documents out. A job that is interrupted resumes where it stopped: results that exist are kept.

job = open_job(["scans/"], "out", ["alto", "pdf"])
summary = job.run(Recognizer.load)
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

from drethtr.base.archive import archive_of
from drethtr.base.config import named
from drethtr.base.errors import ConfigError, DataError
from drethtr.base.outputs import is_there, make_folder, refuse_protected, write_bytes
from drethtr.documents.document import Document, Provenance, Sheet
from drethtr.documents.formats import FORMATS, TEXT_WITH_DOUBTS, Format
from drethtr.documents.markup import MAX_BYTES
from drethtr.documents.page import Page
from drethtr.documents.read import first_bytes
from drethtr.documents.update import update
from drethtr.images.page_file import is_pdf
from drethtr.pages.doubts import DoubtCounts
from drethtr.pages.inputs import find_inputs
from drethtr.pages.place import Witness, nobody
from drethtr.pages.provenance import provenance_of
from drethtr.pages.segmentation import Found, Segmentation, segmentation_named
from drethtr.pages.source import Original, open_originals
from drethtr.pages.task import FileTask, refuse_overwriting, task_for
from drethtr.pages.transcribe import transcribe
from drethtr.recognition.recognizer import Recognizer

Sheets: TypeAlias = Sequence[Sheet | None]
"""The pages of a file, None for those that could not be read."""


class Skipped(NamedTuple):
    """A file or page could not be read, or a result could not be written."""

    error: DataError


class PageRead(NamedTuple):
    """A page was tried; `page` is None if it could not be read. Pages that were read before are not reported."""

    original: Original
    page: Page | None


class FileRead(NamedTuple):
    """All pages of a file that can be read are read, and its results are written."""

    task: FileTask
    document: Document


PageEvent: TypeAlias = Skipped | PageRead | FileRead


class JobSummary(NamedTuple):
    """How many files are done, now or before; how many files, pages and results failed; how much is doubtful."""

    done: int
    failed: int
    doubts: DoubtCounts


@dataclass(frozen=True)
class PageJob:
    """Files to read, and what to make of them; see `open_job`.

    unreadable  why other files cannot be opened; they count as failed
    output      the folder for results; if it is None, documents are only reported
    """

    tasks: tuple[FileTask, ...]
    unreadable: tuple[DataError, ...]
    formats: Mapping[str, Format]
    output: Path | None
    segmentation: Segmentation
    update: bool
    force: bool

    @property
    def waiting(self) -> tuple[FileTask, ...]:
        """The tasks whose results are not complete, or all of them by `force`."""
        return tuple(task for task in self.tasks if self.force or not task.done)

    def run(
        self,
        load: Callable[[], Recognizer],
        report: Callable[[PageEvent], object] = lambda event: None,
        witness: Witness = nobody,
    ) -> JobSummary:
        """Read what is waiting and write it.

        Args:
            load: Gives the recognizer; it is not called if nothing is waiting.
            report: Is told of every page, file and failure.
            witness: Is told of every line that is read, before its page is reported.
        """
        waiting, doubts = self.waiting, DoubtCounts()
        done, failed = len(self.tasks) - len(waiting), len(self.unreadable)
        for task in self.tasks:
            if task.shelf is not None:
                task.shelf.remove_empty()
        if not waiting:
            return JobSummary(done, failed, doubts)
        if self.output is not None:
            make_folder(self.output)
        recognizer = load()
        provenance = provenance_of(recognizer)
        for task in waiting:
            if self.force and task.shelf is not None:
                task.shelf.clear_pages()
            sheets = self.read(task, recognizer, provenance, report, witness)
            lost = sheets.count(None)
            failed += lost
            try:
                for original, sheet in zip(task.originals, sheets, strict=True):
                    if sheet is not None:
                        doubts.add_page(sheet.page, kept_lines(original) if self.keep else frozenset())
                if lost < len(sheets):
                    report(FileRead(task, self.finish(task, sheets, provenance)))
                    done += 1
            except DataError as error:
                report(Skipped(error))
                failed += 1
        return JobSummary(done, failed, doubts)

    @property
    def keep(self) -> bool:
        """Whether given lines that have text are left as they are."""
        return self.update and not self.force

    def read(
        self,
        task: FileTask,
        recognizer: Recognizer,
        provenance: Provenance,
        report: Callable[[PageEvent], object],
        witness: Witness,
    ) -> list[Sheet | None]:
        """The pages of a file."""
        reader = f"{provenance}, {recognizer.strategy!r}, {recognizer.precision.value}, {self.segmentation!r}"
        read = partial(self.read_page, recognizer=recognizer, report=report, witness=witness)
        sheets: list[Sheet | None] = []
        for original in task.originals:
            try:
                page = read(original) if task.shelf is None else task.shelf.page(original, read, reader, provenance)
            except DataError as error:
                report(Skipped(error))
                sheets.append(None)
            else:
                sheets.append(Sheet(page, original.scan(), original.source.number))
        return sheets

    def read_page(
        self,
        original: Original,
        recognizer: Recognizer,
        report: Callable[[PageEvent], object],
        witness: Witness = nobody,
    ) -> Page:
        """A page, read now.

        Raises:
            DataError: if it cannot be read.
        """
        page = None
        try:
            finder = self.segmentation.finder(original)
            page = transcribe(original, recognizer, finder, keep=self.keep, witness=witness)
        finally:
            report(PageRead(original, page))
        return page

    def finish(self, task: FileTask, sheets: Sheets, provenance: Provenance) -> Document:
        """Write the results of a file; returns the pages that were read.

        Raises:
            DataError: if something cannot be written.
        """
        read = tuple(sheet for sheet in sheets if sheet is not None)
        if task.updated is not None and (self.force or task.in_place or not is_there(task.updated)):
            data = first_bytes(task.path, MAX_BYTES + 1)
            updated = update(data, read[0].page, provenance, replace=self.force, name=str(task.path))
            write_bytes(task.updated, updated)
        if self.output is not None:
            self.write(task, sheets, provenance)
        return Document(read, provenance)

    def write(self, task: FileTask, sheets: Sheets, provenance: Provenance) -> None:
        """Write what does not exist yet, or everything by `force`; rewrite what lacks pages that are known by now.

        Then remove the shelf. It stays while a page is missing, so that the next run reads no more than that page.

        Raises:
            DataError: if something cannot be written.
        """
        read = tuple(sheet for sheet in sheets if sheet is not None)
        lost = [original for original, sheet in zip(task.originals, sheets, strict=True) if sheet is None]
        missing = frozenset(str(original.source.number) for original in lost)
        for name, paths in task.targets.items():
            format = self.formats[name]
            if format.together or len(sheets) == 1:
                pdf = task.path if not missing and is_pdf(task.path) else None
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
        if task.shelf is not None and not missing:
            task.shelf.remove()


def open_job(
    inputs: Sequence[str | Path],
    output: str | Path | None,
    formats: Sequence[str] = ("txt",),
    *,
    segmentation: Segmentation | str = "auto",
    update: bool = False,
    doubts: bool = False,
    force: bool = False,
) -> PageJob:
    """Open files of pages, and plan their results: `letter.alto.xml`, or `book_0001.alto.xml` for each page of a file.

    Args:
        inputs: Images, PDFs, PAGE, ALTO and METS files, IIIF manifests, folders and ZIP files of them, patterns, and
            addresses, which are fetched.
        output: A folder for results; None writes none, and documents are only reported.
        formats: Names in `FORMATS`.
        segmentation: Where lines come from, by value or name, as `drethtr transcribe --lines` takes them.
        update: Write the text into PAGE and ALTO files: into copies in `output`, or the files themselves without it.
            Lines that have text keep it, unless `force` is given.
        doubts: Mark doubts in `txt`.
        force: Replace files and texts that exist.

    Raises:
        ConfigError: for an unknown format or segmentation, one that does not go with `update`, or two formats whose
            files have the same names.
        DataError: if results would replace each other or a file that is read.
    """
    if isinstance(segmentation, str):
        segmentation = segmentation_named(segmentation)
    if update and isinstance(segmentation, Found):
        raise ConfigError(
            f"an update needs lines that are given; it does not go with finding them by {segmentation.name}"
        )
    wanted = {name: named("format", name, FORMATS) for name in formats}
    refuse_same_endings(wanted)
    if doubts and "txt" in wanted:
        wanted["txt"] = TEXT_WITH_DOUBTS
    folder = None if output is None else Path(output)
    files, errors = find_inputs([str(name) for name in inputs], folder, [format.ending for format in wanted.values()])
    tasks = []
    for file in files:
        try:
            originals = originals_in(file, segmentation, update=update)
            if update and folder is None:
                if (archive := archive_of(file)) is not None:
                    raise DataError(f"{archive}: is not changed; give --output, a folder for the updated copies")
                refuse_protected(file)
        except DataError as error:
            errors.append(error)
        else:
            tasks.append(task_for(file, originals, wanted, folder, update=update))
    if folder is not None:
        refuse_overwriting(tasks, folder)
    return PageJob(tuple(tasks), tuple(errors), wanted, folder, segmentation, update, force)


def refuse_same_endings(formats: Mapping[str, Format]) -> None:
    """Refuse two formats whose files have the same names.

    Raises:
        ConfigError: naming them.
    """
    owners: dict[str, str] = {}
    for name, format in formats.items():
        if (owner := owners.setdefault(format.ending, name)) != name:
            raise ConfigError(f"{owner} and {name} are both written to files named {format.ending}; choose one of them")


def originals_in(file: Path, segmentation: Segmentation, *, update: bool) -> tuple[Original, ...]:
    """The pages of a file.

    Raises:
        DataError: if it cannot be opened, lacks lines that must be given, or cannot be updated.
    """
    originals = open_originals(file)
    if update and (originals[0].description != file or file.suffix.lower() == ".json"):
        raise DataError(f"{file}: is neither PAGE nor ALTO; only those can be updated")
    if update and not originals[0].has_lines:
        raise DataError(f"{file}: has no lines to write text into; write a new file instead of updating it")
    return tuple(map(segmentation.prepare, originals))


def kept_lines(original: Original) -> frozenset[str]:
    """The ids of the given lines that have text.

    Raises:
        DataError: if their description can no longer be read.
    """
    given = original.given()
    lines = given.lines if given is not None else ()
    return frozenset(line.id for line in lines if line.transcription is not None)
