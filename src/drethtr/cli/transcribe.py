"""`drethtr transcribe`: images of handwriting in, lines or pages; their text out."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drethtr.base.config import named
from drethtr.base.errors import ConfigError
from drethtr.base.limited import prepare
from drethtr.cli.choices import (
    DecoderName,
    DeviceName,
    ModelFile,
    PrecisionName,
    Threads,
    refuse_decoder,
)
from drethtr.cli.progress import report_opened, report_skipped, run_lines, run_pages, say
from drethtr.cli.trust_table import NOT_CALIBRATED

if TYPE_CHECKING:
    from drethtr.pages.job import PageJob
    from drethtr.recognition.recognizer import Recognizer


def transcribe(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT",
            help="Images of lines or pages, PDFs, PAGE, ALTO or METS files, folders or ZIPs of them, patterns; "
            "IIIF manifests and other addresses (https://…).",
        ),
    ],
    model: ModelFile = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            metavar="NAMES",
            help="Comma-separated: txt (default), page, alto, hocr, json, pdf, pdfa, csv, html; for lines also tsv.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FOLDER", help="A folder for the results; else the screen.")
    ] = None,
    lines: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Line segmentation: given (by PAGE or ALTO), whole (image is a line), rapid, projection or kraken. "
            "auto: given, else whole if lower than 300 pixels or 5 times as wide as high, else rapid.",
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
    index: Annotated[
        Path | None,
        typer.Option(
            "--index", metavar="FILE", help="Also add the pages that are read to this index for drethtr search."
        ),
    ] = None,
    decoder: DecoderName = None,
    precision: PrecisionName = "float32",
    device: DeviceName = "auto",
    threads: Threads = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files and texts that exist.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say what each file was taken for.")] = False,
) -> None:
    """Read images of handwriting: single lines, or pages whose lines are given or found.

    Repeat the command to resume: results that exist are kept. A file that cannot be read is named and skipped, and the
    exit code is 1; it is 2 if nothing could be read.
    """
    prepare("drethtr.images.line_file", "drethtr.images.page_file")  # meanwhile this process gets ready itself
    from drethtr.documents.formats import LINE_FORMATS
    from drethtr.pages.inputs import find_inputs
    from drethtr.pages.job import open_job
    from drethtr.pages.line_job import line_images, open_line_job
    from drethtr.pages.segmentation import segmentation_named

    names = formats_named(format if format is not None or update else "txt", doubts=doubts)
    if alternatives and "json" not in names:
        raise ConfigError(f"--alternatives are written in json; {', '.join(names) or 'PAGE or ALTO'} cannot hold them")
    if force and output is None and not update:
        raise ConfigError("--force replaces files; add --output or --update, or leave it out: nothing is written")
    refuse_decoder(decoder)
    if index is not None and update:
        raise ConfigError("--index goes with new files; run drethtr index on the updated ones")
    segmentation = segmentation_named(lines)
    if output is not None:
        refuse_name_of_file(output, names)
    files, errors = find_inputs(inputs, output, endings_of(names))
    if index is not None:
        from drethtr.search.build import refuse_passing

        refuse_passing(files)
    for error in errors:
        report_skipped(error)
    alone = len(files) + len(errors) == 1

    def load() -> "Recognizer":
        from drethtr.recognition.recognizer import Recognizer

        recognizer = Recognizer.load(
            model,
            decoder=decoder,
            device=device,
            precision=precision,
            threads=threads,
            alternatives=alternatives,
            posteriors=index is not None,
        )
        if recognizer.calibration is None:
            say(NOT_CALIBRATED)
        return recognizer

    of_lines = len(names) == 1 and names[0] in LINE_FORMATS and not update and index is None
    images = line_images(files, segmentation) if of_lines else None
    if images is not None:
        line_job = open_line_job(*images, output, names[0], doubts=doubts, force=force)
        report_opened(line_job)
        summary = run_lines(line_job, load, alone=alone, verbose=verbose)
    else:
        if alternatives:
            raise ConfigError("--alternatives needs single-line images and --format json alone")
        refuse_for_pages(names, output, lines, update=update)
        job = open_job(files, output, names, segmentation=segmentation, update=update, doubts=doubts, force=force)
        report_opened(job)
        if output is None:
            refuse_joined(job)
        if index is None or not job.waiting:
            summary = run_pages(job, load, alone=alone, verbose=verbose)
        else:
            from drethtr.search.build import open_builder

            recognizer = load()
            with open_builder(index, recognizer, segmentation) as builder:
                summary = run_pages(job, lambda: recognizer, alone=alone, verbose=verbose, builder=builder)
    if summary.failed or errors:
        raise typer.Exit(1 if summary.done else 2)


def refuse_for_pages(names: Sequence[str], output: Path | None, lines: str, *, update: bool) -> None:
    """Refuse options that do not go together when pages are read.

    Raises:
        ConfigError: naming the options.
    """
    from drethtr.documents.formats import FORMATS
    from drethtr.pages.segmentation import WITHOUT_FINDER

    if update and lines not in WITHOUT_FINDER:
        raise ConfigError(f"--update writes into the lines that are given; leave out --lines {lines}")
    if of_lines := set(names) - FORMATS.keys():
        raise ConfigError(f"{min(of_lines)} must be the only format, and only for line images; otherwise take csv")
    if output is None and (len(names) > 1 or not all(FORMATS[name].printed for name in names)):
        raise ConfigError(f"--format {','.join(names)} needs a folder to write to; give --output")


def refuse_joined(job: "PageJob") -> None:
    """Refuse to print several files of a format one after the other, as no program could read them; text is allowed.

    Raises:
        ConfigError: naming the format.
    """
    for name, format in job.formats.items():
        files = len(job.tasks) if format.together else sum(len(task.originals) for task in job.tasks)
        if files > 1 and format.ending != ".txt":
            raise ConfigError(f"--format {name} makes {files} files here; give --output, the folder for them")


def formats_named(text: str | None, *, doubts: bool) -> tuple[str, ...]:
    """The formats in a comma-separated list of names, each once.

    Raises:
        ConfigError: naming one that is unknown.
    """
    from drethtr.documents.formats import FORMATS, LINE_FORMATS

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
    """Refuse to make a folder called `out.txt`, which is meant to be a file.

    Raises:
        ConfigError: saying what the folder is for.
    """
    endings = {f".{ending.rpartition('.')[2]}" for ending in (*names, *endings_of(names))}
    if output.suffix.lower() in endings and not output.exists():
        raise ConfigError(f"--output {output}: results are named after their images; give the folder for them")


def endings_of(names: Sequence[str]) -> list[str]:
    """How the files of page formats end."""
    from drethtr.documents.formats import FORMATS

    return [FORMATS[name].ending for name in names if name in FORMATS]
