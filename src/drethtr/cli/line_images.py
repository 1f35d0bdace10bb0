"""`drethtr transcribe` for images of single lines."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import typer

from drethtr.base.errors import DataError
from drethtr.cli.doubts import Doubts
from drethtr.cli.line_formats import LINE_FORMATS, TEXT_WITH_DOUBTS, Entry, LineFormat
from drethtr.cli.outputs import stem_of, write_text
from drethtr.cli.provenance import provenance_of
from drethtr.cli.where_lines import Lines
from drethtr.cli.work import Count, Work, as_one_line, left_to_do, refuse_overwriting, report

if TYPE_CHECKING:
    from drethtr.pages.source import Original
    from drethtr.recognition.recognizer import Recognizer

Show: TypeAlias = Callable[[Entry], None]

SHOWN_TOGETHER = 64
"""Fewer lines than are read fastest together: a person waits for the first of them."""


@dataclass(frozen=True)
class LineOptions:
    """What a person chose, as `drethtr transcribe --help` tells it."""

    name: str
    output: Path | None
    doubts: bool
    force: bool
    verbose: bool

    @property
    def format(self) -> LineFormat:
        """How to write readings."""
        return TEXT_WITH_DOUBTS if self.doubts else LINE_FORMATS[self.name]


def only_lines(
    files: Sequence[Path], lines: Lines
) -> "tuple[dict[Path, tuple[Original, ...]], list[DataError]] | None":
    """The images of single lines, and why other files cannot be opened; None if one is something else."""
    from drethtr.pages.source import open_originals

    images, errors = {}, []
    for file in files:
        try:
            originals = open_originals(file)
            if not all(map(lines.is_line, originals)):
                return None
        except DataError as error:
            errors.append(error)
        else:
            images[file] = originals
    return images, errors


def transcribe_lines(
    images: "Mapping[Path, tuple[Original, ...]]",
    unreadable: Sequence[DataError],
    load: "Callable[[], Recognizer]",
    options: LineOptions,
    *,
    alone: bool,
) -> Count:
    """Read what `only_lines` has found, and write or show what it says; `alone` if a person gave but one file."""
    from tqdm import tqdm

    for error in unreadable:
        report(error)
    works = plan_lines(images, options.name, options.output)
    waiting = left_to_do(works, len(images) + len(unreadable), force=options.force)
    show = to_files(options.format, works) if options.output is not None else to_screen(options.format, alone=alone)
    done, failed = len(works) - len(waiting), len(unreadable)
    if not waiting:
        return Count(done, failed)
    doubts = Doubts()
    recognizer = load()
    made_by = provenance_of(recognizer)
    paths = ((work.path, work.path) for work in waiting)
    readings = recognizer.read_each(paths, together=SHOWN_TOGETHER)
    # None: only where a person looks on; what is written to the screen is bar enough.
    silent = None if options.output is not None else True
    for image, result in tqdm(readings, total=len(waiting), unit="line", disable=silent):
        try:
            if isinstance(result, DataError):
                raise result
            if options.verbose:
                tqdm.write(as_one_line(str(image)), file=sys.stderr)
            show(Entry(image, result, made_by))
        except DataError as error:
            report(error)
            failed += 1
        else:
            doubts.see_line(result)
            done += 1
    if doubts.lines:
        typer.echo(doubts, err=True)
    return Count(done, failed)


def plan_lines(images: "Mapping[Path, tuple[Original, ...]]", name: str, folder: Path | None) -> list[Work]:
    """Where the reading of each image goes: `folder`, under the image's name and that of the format, or nowhere.

    Raises:
        DataError: if two images would share a file, or one that is read would be overwritten.
    """
    if folder is None:
        return [Work(image, originals, {}) for image, originals in images.items()]
    works = [
        Work(image, originals, {name: (folder / f"{stem_of(image)}.{name}",)}) for image, originals in images.items()
    ]
    refuse_overwriting(works, folder)
    return works


def to_screen(format: LineFormat, *, alone: bool) -> Show:
    """Print readings as they come: of a single image what a file would hold, else rows that name the image."""
    typer.echo(format.header, nl=False)
    write = format.file if alone else format.row
    return lambda entry: typer.echo(write(entry), nl=False)


def to_files(format: LineFormat, works: Sequence[Work]) -> Show:
    """Write each reading to its file."""
    outputs = {work.path: work.wanted[0] for work in works}

    def write(entry: Entry) -> None:
        output = outputs[entry.path]
        told = entry._replace(path=seen_from(output.parent, entry.path)) if format.is_table else entry
        write_text(output, format.header + format.file(told))

    return write


def seen_from(folder: Path, image: Path) -> Path:
    """The path of an image from a folder; as it is, if it is absolute or on another drive."""
    place = image.parent.resolve() / image.name
    same_drive = place.drive == folder.resolve().drive
    return Path(relpath(place, folder.resolve())) if same_drive and not image.is_absolute() else image
