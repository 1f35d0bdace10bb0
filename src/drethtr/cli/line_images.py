"""`drethtr transcribe` for images of single lines."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import typer

from drethtr.cli.files import stem_of, write_text
from drethtr.cli.formats import Entry, Format
from drethtr.cli.page_work import Work, refuse_overwriting
from drethtr.errors import DataError

if TYPE_CHECKING:
    from drethtr.images.line import Line
    from drethtr.reading import Reading
    from drethtr.recognizer import Recognizer
    from drethtr.transcription.source import Original

Show: TypeAlias = Callable[[Entry], None]

READ_TOGETHER = 64


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


def read_all(recognizer: "Recognizer", images: Sequence[Path]) -> "Iterator[tuple[Path, Reading | DataError]]":
    """Each image with its reading, or with what is wrong with it."""
    from drethtr.batching import in_groups

    for group in in_groups(((image, load(recognizer, image)) for image in images), READ_TOGETHER):
        readings = iter(recognizer.read([line for _, line in group if not isinstance(line, DataError)]))
        for image, line in group:
            yield image, line if isinstance(line, DataError) else next(readings)


def load(recognizer: "Recognizer", image: Path) -> "Line | DataError":
    """The line of an image file, or the reason why there is none."""
    try:
        return recognizer.open_line(image)
    except DataError as error:
        return error


def to_screen(format: Format, *, alone: bool) -> Show:
    """Print readings as they come: of a single image what a file would hold, else rows that name the image."""
    typer.echo(format.header, nl=False)
    write = format.file if alone else format.row
    return lambda entry: typer.echo(write(entry), nl=False)


def to_files(format: Format, works: Sequence[Work]) -> Show:
    """Write each reading to its file."""
    outputs = {work.path: work.wanted[0] for work in works}
    return lambda entry: write_text(outputs[entry.path], format.header + format.file(entry))
