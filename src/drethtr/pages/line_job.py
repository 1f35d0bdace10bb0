"""Images of single lines in, their text out, in the order given; results that exist are kept."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path
from typing import NamedTuple, TypeAlias

from drethtr.base.archive import as_given
from drethtr.base.config import named
from drethtr.base.errors import DataError
from drethtr.base.outputs import make_folder, write_text
from drethtr.documents.beside import page_stem
from drethtr.documents.document import Provenance
from drethtr.documents.formats import LINE_FORMATS, LINE_TEXT_WITH_DOUBTS, LineFormat
from drethtr.documents.writers.line import LineEntry
from drethtr.pages.doubts import DoubtCounts
from drethtr.pages.job import JobSummary, Skipped
from drethtr.pages.place import transcription_without_places
from drethtr.pages.provenance import provenance_of
from drethtr.pages.segmentation import Segmentation
from drethtr.pages.source import Original, open_originals
from drethtr.pages.task import FileTask, refuse_overwriting
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer

READ_TOGETHER = 64
"""Lines that are read together: fewer than is fastest, as a user waits for the first of them."""


class LineRead(NamedTuple):
    """A line was read, and its result is written."""

    entry: LineEntry


LineEvent: TypeAlias = Skipped | LineRead


@dataclass(frozen=True)
class LineJob:
    """Images to read; the fields mean what they do in `PageJob`."""

    tasks: tuple[FileTask, ...]
    unreadable: tuple[DataError, ...]
    format: LineFormat
    output: Path | None
    force: bool

    @property
    def waiting(self) -> tuple[FileTask, ...]:
        """The tasks whose result does not exist, or all of them by `force`."""
        return tuple(task for task in self.tasks if self.force or not task.done)

    def run(
        self, load: Callable[[], Recognizer], report: Callable[[LineEvent], object] = lambda event: None
    ) -> JobSummary:
        """Read what is waiting and write it.

        Args:
            load: Gives the recognizer; it is not called if nothing is waiting.
            report: Is told of every line and failure.
        """
        waiting, doubts = self.waiting, DoubtCounts()
        done, failed = len(self.tasks) - len(waiting), len(self.unreadable)
        if not waiting:
            return JobSummary(done, failed, doubts)
        if self.output is not None:
            make_folder(self.output)
        recognizer = load()
        made_by = provenance_of(recognizer)
        images = ((task, task.path) for task in waiting)
        for task, result in recognizer.read_each(images, together=READ_TOGETHER):
            try:
                if isinstance(result, DataError):
                    raise result
                entry = entry_of(task.path, result, made_by)
                self.write(task, entry)
            except DataError as error:
                report(Skipped(error))
                failed += 1
            else:
                report(LineRead(entry))
                doubts.add(entry.transcription)
                done += 1
        return JobSummary(done, failed, doubts)

    def write(self, task: FileTask, entry: LineEntry) -> None:
        """Write an entry to its file, if results are written.

        Raises:
            DataError: if it cannot be written.
        """
        for path in task.wanted:
            relative = entry._replace(path=seen_from(path.parent, entry.path)) if self.format.is_table else entry
            write_text(path, self.format.header + self.format.file(relative))


def open_line_job(
    images: Mapping[Path, tuple[Original, ...]],
    unreadable: Sequence[DataError],
    output: Path | None,
    format: str = "txt",
    *,
    doubts: bool = False,
    force: bool = False,
) -> LineJob:
    """Plan the results of images that `line_images` has found: `line.txt` in the folder `output`, or none without it.

    Raises:
        ConfigError: for an unknown format.
        DataError: if two images would share a file, or one that is read would be overwritten.
    """
    chosen = LINE_TEXT_WITH_DOUBTS if doubts else named("format", format, LINE_FORMATS)
    tasks = [
        FileTask(image, originals, {format: (output / f"{page_stem(image)}.{format}",)} if output is not None else {})
        for image, originals in images.items()
    ]
    if output is not None:
        refuse_overwriting(tasks, output)
    return LineJob(tuple(tasks), tuple(unreadable), chosen, output, force)


def line_images(
    files: Sequence[Path], segmentation: Segmentation
) -> tuple[dict[Path, tuple[Original, ...]], list[DataError]] | None:
    """The images of single lines, and why other files cannot be opened; None if one of them is something else."""
    images, errors = {}, []
    for file in files:
        try:
            originals = open_originals(file)
            if not all(map(segmentation.is_line, originals)):
                return None
        except DataError as error:
            errors.append(error)
        else:
            images[file] = originals
    return images, errors


def entry_of(path: Path, reading: Reading, made_by: Provenance) -> LineEntry:
    """What there is to write of a reading."""
    return LineEntry(Path(as_given(str(path))), transcription_without_places(reading), reading.to_json(), made_by)


def seen_from(folder: Path, image: Path) -> Path:
    """The path of an image from a folder; unchanged if it is absolute or on another drive."""
    place = image.parent.resolve() / image.name
    same_drive = place.drive == folder.resolve().drive
    return Path(relpath(place, folder.resolve())) if same_drive and not image.is_absolute() else image
