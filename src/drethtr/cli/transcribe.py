"""`drethtr transcribe`: transcribe images of handwriting, lines or pages."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drethtr.base.sandbox import prepare
from drethtr.base.wording import counted
from drethtr.cli.doubts import USUAL, Doubts, WithDoubts
from drethtr.cli.logs import LogName, RunLog, run_log_named
from drethtr.cli.options import ImagesFolder, OutlinesName, Pages, ReadingOptions, TableOrder, with_reading_options
from drethtr.cli.reports import NOT_CALIBRATED
from drethtr.cli.transcribe_choices import Choices, formats_named
from drethtr.documents.document import Document
from drethtr.documents.formats import Format
from drethtr.documents.page import Page
from drethtr.pages.events import FileRead, JobSummary, PageEvent, PageRead, Planned, Skipped
from drethtr.pages.job import PageJob
from drethtr.pages.segmentation import Segmentation
from drethtr.pages.source import Original
from drethtr.pages.transcribe import LAYOUT, nobody
from drethtr.recognition.recognizer import Recognizer

if TYPE_CHECKING:
    from drethtr.search.build import Builder

SHOWN = 10
"""Most unreadable lines to list."""

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
    outlines: OutlinesName = "auto",
    images: ImagesFolder = None,
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
            outlines=outlines,
            images=images,
            pages=pages,
            recursive=recursive,
            update=update,
            doubts=doubts is not None,
            alternatives=alternatives,
            index=index,
            force=force,
        )

        def load() -> Recognizer:
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


def run(job: PageJob, load: Callable[[], Recognizer], log: RunLog, index: Path | None, *, verbose: bool) -> JobSummary:
    """Run a job, and add its pages to an index if one is given."""
    if index is None or not job.tasks:
        return run_job(job, load, log, verbose=verbose)
    from drethtr.search.build import open_builder  # with the posteriors of readings, which only an index needs

    recognizer = load()
    with open_builder(index, recognizer, job.segmentation) as builder:
        return run_job(job, lambda: recognizer, log, verbose=verbose, builder=builder)


def run_job(
    job: PageJob,
    load: Callable[[], Recognizer],
    log: RunLog,
    *,
    verbose: bool,
    builder: "Builder | None" = None,
) -> JobSummary:
    """Run a job; print the documents unless they are written, and add the pages to an index, if given."""
    alone = len(job.tasks) + len(job.unreadable) == 1

    def show(event: PageEvent) -> None:
        match event:
            case Planned(plan):
                originals = [original for task in plan.waiting for original in task.originals]
                log.planned(plan, len(originals), "line" if job.of_lines else "page")
                if builder is not None:
                    builder.expect(originals)
            case Skipped(error):
                log.failed(error)
            case PageRead(original, page):
                if builder is not None and page is not None:
                    builder.put(original, page)
                log.page(original, page)
                for words in remarks(original, page, job.segmentation, verbose=verbose) if page is not None else ():
                    log.note(words)
            case FileRead(_, document) if job.output is None:
                for format in job.formats.values():
                    typer.echo(on_screen(document, format, alone=alone).decode(), nl=False)

    for error in job.unreadable:
        log.failed(error)
    if job.output is None:
        typer.echo(b"".join(format.header for format in job.formats.values()).decode(), nl=False)
    summary = job.run(load, show, nobody if builder is None else builder.witness)
    log.finished(summary)
    return summary


def on_screen(document: Document, format: Format, *, alone: bool) -> bytes:
    """The content of a file in a format; as rows if it is one file among several, or a row of a table."""
    if format.row is not None and (format.header or not alone):
        return format.row(document)
    parts = (document,) if format.together else document.apart()
    return b"".join(map(format.write, parts))


def remarks(original: Original, page: Page, segmentation: Segmentation, *, verbose: bool) -> Iterator[str]:
    """Messages about a page that was read."""
    if not page.lines:
        yield f"{original.name}: no lines found"
    if unread := lines_unread(original, page):
        yield unread
    yield from original.remarks(page)
    yield from (f"{original.name}: {flag}" for flag in page.flags if flag.kind == LAYOUT)
    if verbose:
        yield segmented(original, page, segmentation)


def lines_unread(original: Original, page: Page) -> str:
    """Which of the given lines could not be read; empty if all were."""
    unread = [line.id for line in page.lines if line.transcription is None]
    if not unread:
        return ""
    shown = ", ".join([*unread[:SHOWN], *(["…"] if len(unread) > SHOWN else [])])
    return f"{original.name}: {len(unread)} of {len(page.lines)} given lines could not be read: {shown}"


def segmented(original: Original, page: Page, segmentation: Segmentation) -> str:
    """How the lines of a page were segmented, for `--verbose`."""
    number = counted(len(page.lines), "line")
    if original.has_lines:
        return f"{original.name}: {number} given"
    if segmentation.finder(original).whole:
        return as_one_line(original.name)
    return f"{original.name}: {number} found ({segmentation.finder_name(original)})"


def as_one_line(name: str) -> str:
    """The message for an image that was read as a single line."""
    return f"{name}: read as one line"
