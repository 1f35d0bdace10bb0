"""`drethtr transcribe`: transcribe images of handwriting, lines or pages."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drethtr.base.sandbox import prepare
from drethtr.cli.doubts import USUAL, Doubts, WithDoubts
from drethtr.cli.logs import LogName, RunLog, run_log_named
from drethtr.cli.options import Pages, ReadingOptions, TableOrder, with_reading_options
from drethtr.cli.reports import NOT_CALIBRATED
from drethtr.cli.running import run_job
from drethtr.cli.transcribe_choices import Choices, formats_named

if TYPE_CHECKING:
    from drethtr.pages.events import JobSummary
    from drethtr.pages.job import PageJob
    from drethtr.recognition.recognizer import Recognizer


app = typer.Typer(add_completion=False)


@app.command(cls=WithDoubts)
@with_reading_options()
def transcribe(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT",
            help="Images of lines or pages, PDFs, PAGE, ALTO or METS files, folders or ZIPs of them, patterns; "
            "IIIF manifests and other addresses (https://…).",
        ),
    ],
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            metavar="NAMES",
            help="Comma-separated: txt (default), md, docx, page, alto, tei, hocr, json, iiif, csv, html, pdf, pdfa; "
            "for lines also tsv.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the results; default: print them."),
    ] = None,
    lines: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Line segmentation: given (by PAGE or ALTO), whole (image is a line), rapid, projection or kraken. "
            "auto: given, else whole if less than 300 pixels tall or 5 times wider than tall, else rapid.",
        ),
    ] = "auto",
    order: TableOrder = "auto",
    pages: Pages = None,
    recursive: Annotated[
        bool,
        typer.Option("--recursive", "-r", help="Include subfolders; results are written to the same tree."),
    ] = False,
    update: Annotated[bool, typer.Option("--update", help="Write the text into the given PAGE or ALTO files.")] = False,
    doubts: Doubts = None,
    alternatives: Annotated[
        int,
        typer.Option(metavar="N", min=0, max=99, help="Also return up to N alternative texts per line; json only."),
    ] = 0,
    index: Annotated[
        Path | None,
        typer.Option("--index", metavar="FILE", help="Also add the pages to this index for drethtr search."),
    ] = None,
    *,
    reading: ReadingOptions,
    force: Annotated[
        bool, typer.Option("--force", help="Replace existing files and texts, except lines that a person reviewed.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Report how each file was segmented.")] = False,
    log: LogName = "text",
) -> None:
    """Transcribe images of handwriting: page scans or single lines.

    Repeat the command to resume: existing results are kept; those of another model, decoder or scan are reported. Files
    that cannot be read are reported and skipped; the exit code is then 1, or 2 if nothing could be read.
    """
    prepare("drethtr.images.line", "drethtr.images.page_file")  # in the background
    with run_log_named(log, output, resumable=output is not None or update) as run_log:
        reading.refuse_decoder()
        choices = Choices(
            names=formats_named(format if format is not None or update else "txt"),
            output=output,
            lines=lines,
            order=order,
            pages=pages,
            recursive=recursive,
            update=update,
            doubts=doubts is not None,
            alternatives=alternatives,
            index=index,
            force=force,
        )

        def load() -> "Recognizer":
            recognizer = reading.load(
                alternatives=alternatives,
                doubtful=USUAL if doubts is None else doubts,
                posteriors=index is not None,
            )
            if recognizer.calibration is None:
                run_log.note(NOT_CALIBRATED)
            return recognizer

        summary = run(choices.open(inputs), load, run_log, index, verbose=verbose)
    if summary.failed:
        raise typer.Exit(1 if summary.done or summary.stale else 2)


def run(
    job: "PageJob", load: "Callable[[], Recognizer]", log: RunLog, index: Path | None, *, verbose: bool
) -> "JobSummary":
    """Run a job, and add its pages to an index if one is given."""
    if index is None or not job.tasks:
        return run_job(job, load, log, verbose=verbose)
    from drethtr.search.build import open_builder

    recognizer = load()
    with open_builder(index, recognizer, job.segmentation) as builder:
        return run_job(job, lambda: recognizer, log, verbose=verbose, builder=builder)
