"""`drethtr transcribe`: transcribe images of handwriting, lines or pages."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drethtr.base.config import named
from drethtr.base.errors import ConfigError
from drethtr.base.files import make_folder
from drethtr.base.sandbox import prepare
from drethtr.base.wording import counted, first_of
from drethtr.cli.options import (
    SEGMENTATIONS,
    USUAL_DOUBT,
    Doubts,
    ImagesFolder,
    OutlinesName,
    Pages,
    ReadingOptions,
    TableOrder,
    WithDoubts,
    format_option,
    name_option,
    output_option,
    refuse_idle_layout,
    with_options,
    with_reading_options,
)
from drethtr.cli.outputs import refuse_places
from drethtr.cli.reports import NOT_CALIBRATED
from drethtr.cli.run_log import LOGS, LogName, RunLog
from drethtr.cli.screen import echo
from drethtr.documents.document import Document
from drethtr.documents.formats import FORMATS, LINE_FORMATS, Format, formats_named
from drethtr.documents.page import Page
from drethtr.pages.events import FileRead, JobSummary, PageEvent, PageRead, Planned, Skipped
from drethtr.pages.flags import LAYOUT
from drethtr.pages.job import PageJob
from drethtr.pages.opening import open_selected
from drethtr.pages.segmentation import Segmentation, segmentation_named
from drethtr.pages.selection import select
from drethtr.pages.source import Original
from drethtr.pages.transcribe import ignore_line
from drethtr.recognition.recognizer import Recognizer

if TYPE_CHECKING:
    from drethtr.search.build import Builder


SHOWN = 10
"""Maximum number of unreadable lines to list."""

app = typer.Typer(add_completion=False)


@dataclass(frozen=True, kw_only=True)
class TranscribeOptions:
    """The options of the command, apart from how to read."""

    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT",
            help="Images of lines or pages, PDFs, PAGE, ALTO or METS files, folders or ZIPs of them, patterns; "
            "IIIF manifests and other addresses (https://…).",
        ),
    ]
    format: Annotated[
        str | None,
        format_option(
            f"Comma-separated: {', '.join(FORMATS)}; for lines also tsv. Default: txt.", {**FORMATS, **LINE_FORMATS}
        ),
    ] = None
    output: Annotated[
        Path | None,
        output_option("FOLDER", "Folder for the results; default: print them."),
    ] = None
    lines: Annotated[
        str,
        name_option(
            "--lines",
            SEGMENTATIONS,
            "Line segmentation: given (by PAGE or ALTO), whole (image is a line), rapid, projection or kraken. auto: "
            "given, else whole if less than 300 pixels tall or 5 times wider than tall, else rapid.",
        ),
    ] = "auto"
    order: TableOrder = "auto"
    outlines: OutlinesName = "auto"
    images: ImagesFolder = None
    pages: Pages = None
    recursive: Annotated[
        bool,
        typer.Option("--recursive", "-r", help="Include subfolders; results are written to the same tree."),
    ] = False
    update: Annotated[bool, typer.Option("--update", help="Write the text into the given PAGE or ALTO files.")] = False
    doubts: Doubts = None
    alternatives: Annotated[
        int,
        typer.Option(metavar="N", min=0, max=99, help="Also return up to N alternative texts per line; json only."),
    ] = 0
    index: Annotated[
        Path | None,
        typer.Option("--index", metavar="FILE", help="Also add the pages to this index for drethtr search."),
    ] = None
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace existing files and texts, except those by people or other programs."),
    ] = False
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Report how each file was segmented.")] = False
    log: LogName = "text"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the formats.

        Raises:
            ConfigError: if one is unknown.
        """
        if self.format is None:
            return () if self.update else ("txt",)
        return tuple(formats_named(self.format.split(","), {**LINE_FORMATS, **FORMATS}))

    def refuse_combinations(self) -> None:
        """Refuse options that do not go together, and an output folder that looks like a file.

        Raises:
            ConfigError: naming them.
        """
        names = self.names
        formats = [FORMATS[name] for name in names if name in FORMATS]
        if self.doubts is not None and not (self.update or "txt" in names or any(format.doubts for format in formats)):
            raise ConfigError(f"--doubts cannot mark words in {', '.join(names)}; add txt, page or alto")
        if self.alternatives and "json" not in names:
            other = ", ".join(names) or "PAGE or ALTO"
            raise ConfigError(f"--alternatives needs json; {other} cannot store alternatives")
        if self.force and self.output is None and not self.update:
            raise ConfigError(
                "--force replaces files, but nothing is written; add --output or --update, or leave out --force"
            )
        if self.index is not None and self.update:
            raise ConfigError("--index does not go with --update; run drethtr index on the updated files")
        endings = {f".{ending.rpartition('.')[2]}" for ending in (*names, *endings_of(names))}
        if self.output is not None and self.output.suffix.lower() in endings and not self.output.exists():
            raise ConfigError(
                f"--output {self.output}: results are named after their images; give a folder instead of a file"
            )

    def open(self) -> PageJob:
        """Open a job.

        Raises:
            ConfigError: for options that do not go together, or with these inputs.
            DataError: if results would replace each other or an input.
        """
        self.refuse_combinations()
        names, segmentation = self.names, segmentation_named(self.lines, self.order, self.outlines)
        selection = select(
            self.inputs, self.output, endings_of(names), pages=self.pages, recursive=self.recursive, images=self.images
        )
        if self.index is not None:
            from drethtr.search.build import refuse_passing  # only an index needs it

            refuse_passing(selection)
        # Whether all inputs are lines is known only once they are open; if the options rule that out, those that pages
        # exclude are refused now.
        may_be_lines = len(names) == 1 and names[0] in LINE_FORMATS and not self.update and self.index is None
        if not may_be_lines:
            self.refuse_for_pages()
        job = open_selected(
            selection,
            names,
            segmentation,
            update=self.update,
            doubts=self.doubts is not None,
            force=self.force,
            may_be_lines=may_be_lines,
        )
        if not job.of_lines:
            self.refuse_for_pages()
        # No program could parse several such files one after the other, as it can texts and rows of tables.
        for name, format in job.formats.items() if self.output is None else ():
            files = len(job.tasks) if format.together else sum(len(task.originals) for task in job.tasks)
            if files > 1 and format.row is None:
                raise ConfigError(f"--format {name} can print only one file, not {files}; give a folder as --output")
        return job

    def refuse_for_pages(self) -> None:
        """Refuse options that do not go with pages.

        Raises:
            ConfigError: naming the options.
        """
        if self.alternatives:
            raise ConfigError("--alternatives needs single-line images and --format json alone")
        formats = [FORMATS[name] for name in self.names if name in FORMATS]  # `open_selected` refuses the others
        is_printed = len(formats) <= 1 and all(format.printed for format in formats)
        if self.output is None and not is_printed:
            raise ConfigError(f"--format {','.join(self.names)} writes files; give --output")


@app.command(cls=WithDoubts)
@with_options("options", TranscribeOptions)
@with_reading_options()
def transcribe(ctx: typer.Context, *, options: TranscribeOptions, reading: ReadingOptions) -> None:
    """Transcribe images of handwriting: page scans or single lines.

    Repeat the command to resume: existing results are kept; those of another model, decoder or scan are reported. Files
    that cannot be read are reported and skipped; the exit code is then 1, or 2 if nothing could be read.
    """
    prepare("drethtr.images.line", "drethtr.images.page_file")  # in the background
    resumable = options.output is not None or options.update
    with named("log", options.log, LOGS)(options.output, resumable=resumable) as log:

        def load() -> Recognizer:
            recognizer = reading.load(
                alternatives=options.alternatives,
                doubtful=USUAL_DOUBT if options.doubts is None else options.doubts,
                posteriors=options.index is not None,
            )
            if recognizer.calibration is None:
                log.note(NOT_CALIBRATED)
            return recognizer

        reading.refuse_decoder()
        refuse_idle_layout(ctx, options.lines)
        job = options.open()
        if options.index is None or not job.tasks:
            summary = run_job(job, load, log, verbose=options.verbose)
        else:
            from drethtr.search.build import open_builder  # with the posteriors of readings, which only an index needs

            recognizer = load()
            if options.output is not None:
                make_folder(options.output)  # the index may be in it
            refuse_places(options.index)
            with open_builder(options.index, recognizer, job.segmentation) as builder:
                summary = run_job(job, lambda: recognizer, log, verbose=options.verbose, builder=builder)
    if summary.failed:
        raise typer.Exit(1 if summary.done or summary.stale else 2)


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
                    # Pages with results are not read again, and so do not come into the index either.
                    done = (original for task in plan.done for original in task.originals)
                    if lacking := sum(builder.store.state(builder.key(original)) is None for original in done):
                        number = counted(lacking, "page")
                        log.note(f"{number} with results, but not in the index; drethtr index adds them")
            case Skipped(error):
                log.failed(error)
            case PageRead(original, page):
                if builder is not None and page is not None:
                    builder.add(original, page)
                log.page(original, page)
                for words in remarks(original, page, job.segmentation, verbose=verbose) if page is not None else ():
                    log.note(words)
            case FileRead(_, document) if job.selection.output is None:
                for format in job.formats.values():
                    echo(on_screen(document, format, alone=alone).decode(), nl=False)

    for error in job.unreadable:
        log.failed(error)
    for words in job.selection.remarks:
        log.note(words)
    if job.selection.output is None:
        echo(b"".join(format.header for format in job.formats.values()).decode(), nl=False)
    summary = job.run(load, show, ignore_line if builder is None else builder.on_line)
    if summary.doubts.unused:
        log.note(
            f"{counted(summary.doubts.unused, 'line')} already had text, apparently a person's; the "
            "results have the model's reading instead; add --update to keep the given texts"
        )
    log.finished(summary)
    return summary


def on_screen(document: Document, format: Format, *, alone: bool) -> bytes:
    """A document as printed in a format: as rows if it is one of several files or a row of a table."""
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
        yield how_segmented(original, page, segmentation)


def lines_unread(original: Original, page: Page) -> str:
    """Which of the given lines could not be read; empty if all were."""
    unread = [line.id for line in page.lines if line.transcription is None]
    if not unread:
        return ""
    which = first_of(unread, SHOWN)
    return f"{original.name}: {len(unread)} of {len(page.lines)} given lines could not be read: {which}"


def how_segmented(original: Original, page: Page, segmentation: Segmentation) -> str:
    """How the lines of a page were segmented, for `--verbose`."""
    number = counted(len(page.lines), "line")
    if original.has_lines:
        return f"{original.name}: {number} given"
    if segmentation.is_line(original):
        return f"{original.name}: read as one line"
    return f"{original.name}: {number} found ({segmentation.finder_name(original)})"


def endings_of(names: Sequence[str]) -> list[str]:
    """The file extensions of page formats."""
    return [FORMATS[name].ending for name in names if name in FORMATS]
