"""`drethtr transcribe`: images of handwriting in, lines or pages; their text out."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drethtr.base.config import named
from drethtr.base.errors import ConfigError
from drethtr.cli.choices import (
    DecoderName,
    DeviceName,
    ModelFile,
    PrecisionName,
    Threads,
    refuse_decoder,
)
from drethtr.cli.inputs import find_images
from drethtr.cli.line_formats import LINE_FORMATS
from drethtr.cli.line_images import LineOptions, only_lines, transcribe_lines
from drethtr.cli.outputs import make_folder
from drethtr.cli.pages import PageOptions, transcribe_pages
from drethtr.cli.trust_table import NOT_CALIBRATED
from drethtr.cli.where_lines import lines_named
from drethtr.cli.work import report

if TYPE_CHECKING:
    from drethtr.recognition.recognizer import Recognizer


def transcribe(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT", help="Images of lines or pages, PDFs, PAGE or ALTO files, folders of them, patterns."
        ),
    ],
    model: ModelFile = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAMES",
            help="Comma-separated: txt (default), page, alto, hocr, json, pdf, csv, html; for lines also tsv.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="A folder for the results; the screen if left out.")
    ] = None,
    lines: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Where lines come from: given by PAGE or ALTO; whole, the image is one; found by rapid, projection or "
            "kraken. auto: given, else whole if lower than 300 pixels or 5 times as wide as high, else rapid.",
        ),
    ] = "auto",
    update: Annotated[bool, typer.Option("--update", help="Write the text into the PAGE or ALTO files read.")] = False,
    doubts: Annotated[
        bool,
        typer.Option("--doubts", help="Mark doubtful words \\[word?] and odd lines \\[!kind: reason]; txt only."),
    ] = False,
    alternatives: Annotated[
        int,
        typer.Option(metavar="N", min=0, max=99, help="Also give up to this many other texts of each line; json only."),
    ] = 0,
    decoder: DecoderName = None,
    precision: PrecisionName = "float32",
    device: DeviceName = "auto",
    threads: Threads = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files and texts that exist.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Say what each file was taken for.")] = False,
) -> None:
    """Read images of handwriting: single lines, or pages whose lines are given or found.

    A file that cannot be read is named and skipped, and the exit code is 1; it is 2 if nothing could be read.
    """
    names = formats_named(format if format is not None or update else "txt", doubts=doubts)
    if alternatives and "json" not in names:
        raise ConfigError(
            f"--alternatives are written in json; {', '.join(names) or 'PAGE or ALTO'} has no place for them"
        )
    if force and output is None and not update:
        raise ConfigError("--force replaces files; add --output or --update, or leave it out: nothing is written")
    refuse_decoder(decoder)
    where = lines_named(lines)
    if output is not None:
        refuse_name_of_file(output, names)
    files, errors = find_images(inputs, output, endings_of(names))
    for error in errors:
        report(error)
    alone = len(files) + len(errors) == 1

    def load() -> "Recognizer":
        from drethtr.recognition.recognizer import Recognizer

        if output is not None:
            make_folder(output)
        recognizer = Recognizer.load(
            model, decoder=decoder, device=device, precision=precision, threads=threads, alternatives=alternatives
        )
        if recognizer.calibration is None:
            typer.echo(NOT_CALIBRATED, err=True)
        return recognizer

    of_lines = only_lines(files, where) if len(names) == 1 and names[0] in LINE_FORMATS and not update else None
    if of_lines is not None:
        line_options = LineOptions(names[0], output, doubts=doubts, force=force, verbose=verbose)
        count = transcribe_lines(*of_lines, load, line_options, alone=alone)
    else:
        if alternatives:
            raise ConfigError("--alternatives needs single-line images and --format json alone")
        options = PageOptions(names, output, where, update=update, doubts=doubts, force=force, verbose=verbose)
        count = transcribe_pages(files, load, options, alone=alone)
    if count.failed or errors:
        raise typer.Exit(1 if count.done else 2)


def formats_named(text: str | None, *, doubts: bool) -> tuple[str, ...]:
    """The formats a person means by their names with commas between, each once.

    Raises:
        ConfigError: naming one that is unknown.
    """
    from drethtr.documents.formats import FORMATS

    names = tuple(dict.fromkeys(name.strip() for name in text.split(","))) if text is not None else ()
    known = dict.fromkeys((*FORMATS, *LINE_FORMATS))
    for name in names:
        named("format", name, known)
    if doubts and "txt" not in names:
        raise ConfigError(
            f"--doubts marks words in txt; {', '.join(names) or 'PAGE or ALTO'} has the confidences anyway"
        )
    return names


def refuse_name_of_file(output: Path, names: Sequence[str]) -> None:
    """Refuse to make a folder `out.txt` for a person who means a file.

    Raises:
        ConfigError: saying what the folder is for.
    """
    endings = {f".{ending.rpartition('.')[2]}" for ending in (*names, *endings_of(names))}
    if output.suffix.lower() in endings and not output.exists():
        raise ConfigError(f"--output {output}: results are named after their images; give the folder they should be in")


def endings_of(names: Sequence[str]) -> list[str]:
    """How files of these formats end that hold pages."""
    from drethtr.documents.formats import FORMATS

    return [FORMATS[name].ending for name in names if name in FORMATS]
