"""`drethtr transcribe`: images of handwritten lines in, their text out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drethtr.cli.choices import DecoderName, DeviceName, decoder_named, device_named
from drethtr.cli.files import find_images, plan_outputs, write_text
from drethtr.cli.formats import FORMATS, TEXT_WITH_DOUBTS, Format
from drethtr.config import hint
from drethtr.errors import ConfigError, DataError

if TYPE_CHECKING:
    from drethtr.images.line import Line
    from drethtr.reading import Reading
    from drethtr.recognizer import Recognizer

READ_TOGETHER = 64


def transcribe(
    inputs: Annotated[list[str], typer.Argument(metavar="INPUT...", help="Line images, folders of them, patterns.")],
    model: Annotated[Path | None, typer.Option(help="A model file; the one inside the package if left out.")] = None,
    format: Annotated[str, typer.Option("--format", help="txt, json (one object per line image) or tsv.")] = "txt",
    output: Annotated[
        Path | None, typer.Option(help="A folder for one file per image; to the screen if left out.")
    ] = None,
    doubts: Annotated[
        bool, typer.Option("--doubts", help="Mark doubtful words as [word?] and odd lines as [!reason]; for txt.")
    ] = False,
    decoder: DecoderName = None,
    device: DeviceName = "auto",
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
) -> None:
    """Read images of handwritten lines.

    An image that cannot be read is named and skipped, and the exit code is 1; it is 2 if nothing could be read.
    """
    if format not in FORMATS:
        raise ConfigError(f"unknown format {format!r}{hint(format, FORMATS)}; known: {', '.join(FORMATS)}")
    if doubts and format != "txt":
        raise ConfigError(f"--doubts marks words in txt; {format} holds all confidences and flags as it is")
    written = TEXT_WITH_DOUBTS if doubts else FORMATS[format]
    chosen = decoder_named(decoder) if decoder is not None else None
    images, errors = find_images(inputs)
    outputs = plan_outputs(images, output, format, force=force) if output is not None else None
    for error in errors:
        report(error)
    read = 0
    if images:
        from drethtr.recognizer import Recognizer

        recognizer = Recognizer.load(model, decoder=chosen, device=device_named(device))
        alone = len(images) + len(errors) == 1
        show = to_files(written, outputs) if outputs is not None else to_screen(written, alone=alone)
        for image, result in read_all(recognizer, images):
            if isinstance(result, DataError):
                report(result)
            else:
                show(image, result)
                read += 1
    if read < len(images) + len(errors):
        raise typer.Exit(1 if read else 2)


def report(error: DataError) -> None:
    """Name what was skipped."""
    typer.echo(f"drethtr: {error}", err=True)


def read_all(recognizer: "Recognizer", images: Sequence[Path]) -> "Iterator[tuple[Path, Reading | DataError]]":
    """Each image with its reading, or with what is wrong with it."""
    for start in range(0, len(images), READ_TOGETHER):
        loaded = {image: load(recognizer, image) for image in images[start : start + READ_TOGETHER]}
        lines = {image: line for image, line in loaded.items() if not isinstance(line, DataError)}
        readings = dict(zip(lines, recognizer.read(list(lines.values())), strict=True))
        for image, line in loaded.items():
            yield image, line if isinstance(line, DataError) else readings[image]


def load(recognizer: "Recognizer", image: Path) -> "Line | DataError":
    """The line of an image file if the model can take it, else the reason why not."""
    from drethtr.images.line import load_line

    try:
        line = load_line(image)
    except DataError as error:
        return error
    try:
        recognizer.model.preparation.columns(line.shape[1], line.shape[0])
    except DataError as error:
        return DataError(f"{image}: {error}")
    return line


def to_screen(format: Format, *, alone: bool) -> "Callable[[Path, Reading], None]":
    """Print readings as they come: of a single image what a file would hold, else rows that name the image."""
    typer.echo(format.header, nl=False)
    write = format.file if alone else format.row
    return lambda image, reading: typer.echo(write(image, reading), nl=False)


def to_files(format: Format, outputs: Mapping[Path, Path]) -> "Callable[[Path, Reading], None]":
    """Write each reading to its file."""
    return lambda image, reading: write_text(outputs[image], format.header + format.file(image, reading))
