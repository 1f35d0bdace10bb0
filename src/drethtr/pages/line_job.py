"""Images of single lines in, their text out, in the order given; existing results are kept."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from os.path import relpath
from pathlib import Path
from typing import Any

from drethtr.base.archive import as_given
from drethtr.base.config import named
from drethtr.base.errors import DataError
from drethtr.base.files import write_text
from drethtr.documents.beside import page_stem
from drethtr.documents.document import Provenance
from drethtr.documents.formats import LINE_FORMATS, LINE_TEXT_WITH_DOUBTS, LineFormat
from drethtr.documents.writers.line import LineEntry
from drethtr.pages.events import JobSummary, LineEvent, LineRead
from drethtr.pages.job import Run, run_job
from drethtr.pages.plan import UNMARKED, Record
from drethtr.pages.record import made_with, provenance_of
from drethtr.pages.segmentation import Segmentation
from drethtr.pages.selection import Selection
from drethtr.pages.source import Original, open_originals
from drethtr.pages.task import FileTask, refuse_overwriting
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer

READ_TOGETHER = 64
"""Lines that are read together: fewer than would be fastest, as a user waits for the first of them."""


@dataclass(frozen=True)
class LineJob:
    """Images to read; for the fields see `PageJob`."""

    tasks: tuple[FileTask, ...]
    unreadable: tuple[DataError, ...]
    format: LineFormat
    output: Path | None
    segmentation: Segmentation
    force: bool

    def run(
        self, load: Callable[[], Recognizer], report: Callable[[LineEvent], object] = lambda event: None
    ) -> JobSummary:
        """Read images without results and write their results; stale results are kept and counted as failed.

        Args:
            load: Returns the recognizer; not called if there are no images.
            report: Called with the plan, and with every line and failure.

        Raises:
            DataError: if the folder for results cannot be used.
        """
        return run_job(self, load, report, partial(self.read_waiting, report=report))

    def read_waiting(self, run: Run, report: Callable[[LineEvent], object]) -> None:
        """Read the waiting images and write their results."""
        made_by = cache(lambda: provenance_of(run.recognizer))
        won = filter(run.claims.win, run.plan.waiting)
        lines = (
            ((task, run.planner.recorder(task)), run.recognizer.line_or_error(task.path, any_shape=True))
            for task in won
        )
        for (task, record), result in run.recognizer.read_opened(lines, together=READ_TOGETHER):
            try:
                if isinstance(result, DataError):
                    raise result
                entry = entry_of(task.path, result, made_by)
                self.write(task, entry, record)
            except DataError as error:
                run.fail(error)
            else:
                report(LineRead(entry))
                run.doubts.add(entry.transcription)
                run.done += 1
            finally:
                run.claims.release(task)

    def made(self, recognizer: Recognizer, format: str) -> Mapping[str, Any]:
        """The settings that determine the content of a result."""
        more = {"alternatives": recognizer.pieces.alternatives} if format == "json" else {}
        doubts = recognizer.doubtful if self.format.doubts else UNMARKED
        return {**made_with(recognizer, self.segmentation), "doubts": doubts, **more}

    def write(self, task: FileTask, entry: LineEntry, record: Record) -> None:
        """Write an entry to its file and record it, if results are written.

        Raises:
            DataError: if it cannot be written.
        """
        for name, path in task.results:
            relative = entry._replace(path=seen_from(path.parent, entry.path)) if self.format.is_table else entry
            write_text(path, self.format.header + self.format.file(relative))
            record(name, path)


def open_line_job(
    images: Mapping[Path, tuple[Original, ...]],
    unreadable: Sequence[DataError],
    selection: Selection,
    output: Path | None,
    format: str,
    *,
    segmentation: Segmentation,
    doubts: bool = False,
    force: bool = False,
) -> LineJob:
    """A job for the images that `line_images` found: `line.txt` in the folder `output`, or no files without it.

    Raises:
        ConfigError: for an unknown format.
        DataError: if two images would share a file, or one that is read would be overwritten.
    """
    chosen = LINE_TEXT_WITH_DOUBTS if doubts and format == "txt" else named("format", format, LINE_FORMATS)
    tasks = []
    for image, originals in images.items():
        folder = selection.folders.get(image)
        targets = {} if folder is None else {format: (folder / f"{page_stem(image)}.{format}",)}
        tasks.append(FileTask(image, originals, targets))
    refuse_overwriting(tasks)
    return LineJob(tuple(tasks), tuple(unreadable), chosen, output, segmentation, force)


def line_images(
    selection: Selection, segmentation: Segmentation
) -> tuple[dict[Path, tuple[Original, ...]], list[DataError]] | None:
    """The images of single lines, and the errors of files that cannot be opened; None if one is not a line."""
    images, errors = {}, list(selection.unreadable)
    for file in selection.files:
        try:
            originals = selection.chooser.of(file, open_originals(file))
            if not all(map(segmentation.is_line, originals)):
                return None
        except DataError as error:
            errors.append(error)
        else:
            if originals:
                images[file] = originals
    selection.chooser.refuse_nothing()
    return images, errors


def entry_of(path: Path, reading: Reading, made_by: Callable[[], Provenance]) -> LineEntry:
    """The entry for a reading."""
    return LineEntry(Path(as_given(str(path))), reading.transcription(), reading.to_json(), made_by)


def seen_from(folder: Path, image: Path) -> Path:
    """The path of an image relative to a folder; unchanged if it is absolute or on another drive."""
    place = image.parent.resolve() / image.name
    same_drive = place.drive == folder.resolve().drive
    return Path(relpath(place, folder.resolve())) if same_drive and not image.is_absolute() else image
