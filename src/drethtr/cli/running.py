"""Run the jobs of `drethtr transcribe`, log their events, and print results that are not written to files."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from drethtr.base.archive import as_given
from drethtr.base.wording import counted
from drethtr.cli.logs import RunLog

if TYPE_CHECKING:
    from drethtr.documents.document import Document
    from drethtr.documents.formats import Format
    from drethtr.documents.page import Page
    from drethtr.pages.events import JobSummary, LineEvent, PageEvent
    from drethtr.pages.job import PageJob
    from drethtr.pages.line_job import LineJob
    from drethtr.pages.segmentation import Segmentation
    from drethtr.pages.source import Original
    from drethtr.recognition.recognizer import Recognizer
    from drethtr.search.build import Builder

SHOWN = 10
"""Most unreadable lines to list."""


def run_pages(
    job: "PageJob",
    load: "Callable[[], Recognizer]",
    log: RunLog,
    *,
    alone: bool,
    verbose: bool,
    builder: "Builder | None" = None,
) -> "JobSummary":
    """Run a job of pages; print the documents unless they are written, and add the pages to an index, if given.

    alone  whether a single input was given
    """
    from drethtr.pages.events import FileRead, PageRead, Planned, Skipped
    from drethtr.pages.transcribe import nobody

    def show(event: "PageEvent") -> None:
        match event:
            case Planned(plan):
                log.planned(plan, sum(len(task.originals) for task in plan.waiting), "page")
                if builder is not None:
                    builder.expect(original for task in plan.waiting for original in task.originals)
            case Skipped(error):
                log.failed(error)
            case PageRead(original, page):
                if builder is not None and page is not None:
                    builder.put(original, page)
                log.page(original, page)
                for words in remarks(original, page, job.segmentation, verbose=verbose) if page is not None else ():
                    log.note(words)
            case FileRead(task, document) if job.output is None:
                for format in job.formats.values():
                    typer.echo(on_screen(task.path, document, format, alone=alone), nl=False)

    for error in job.unreadable:
        log.failed(error)
    summary = job.run(load, show, nobody if builder is None else builder.witness)
    log.finished(summary)
    return summary


def run_lines(
    job: "LineJob", load: "Callable[[], Recognizer]", log: RunLog, *, alone: bool, verbose: bool
) -> "JobSummary":
    """Run a job of lines; print their text unless it is written.

    alone  whether a single input was given
    """
    from drethtr.pages.events import LineRead, Planned, Skipped

    on_screen = job.output is None
    if on_screen:
        typer.echo(job.format.header, nl=False)
    write = job.format.file if alone else job.format.row

    def show(event: "LineEvent") -> None:
        match event:
            case Planned(plan):
                log.planned(plan, len(plan.waiting), "line")
            case Skipped(error):
                log.line(None)
                log.failed(error)
            case LineRead(entry):
                log.line(entry)
                if verbose:
                    log.note(as_one_line(str(entry.path)))
                if on_screen:
                    typer.echo(write(entry), nl=False)

    for error in job.unreadable:
        log.failed(error)
    summary = job.run(load, show)
    log.finished(summary)
    return summary


def on_screen(path: Path, document: "Document", format: "Format", *, alone: bool) -> str:
    """The content of a file in a format; plain text of one file among several has the file name in each row."""
    from drethtr.documents.writers.line import one_line

    if format.ending == ".txt" and not alone:
        texts = (text for page in document.apart() for text in format.write(page).decode().split("\n")[:-1])
        return "".join(f"{one_line(as_given(str(path)))}\t{one_line(text)}\n" for text in texts)
    parts = (document,) if format.together else document.apart()
    return "".join(format.write(part).decode() for part in parts)


def remarks(original: "Original", page: "Page", segmentation: "Segmentation", *, verbose: bool) -> Iterator[str]:
    """Messages about a page that was read."""
    if not page.lines:
        yield f"{original.name}: no lines found"
    if unread := lines_unread(original, page):
        yield unread
    if verbose:
        yield segmented(original, page, segmentation)


def lines_unread(original: "Original", page: "Page") -> str:
    """Which of the given lines could not be read; empty if all were."""
    unread = [line.id for line in page.lines if line.transcription is None]
    if not unread:
        return ""
    shown = ", ".join([*unread[:SHOWN], *(["…"] if len(unread) > SHOWN else [])])
    return f"{original.name}: {len(unread)} of {len(page.lines)} given lines could not be read: {shown}"


def segmented(original: "Original", page: "Page", segmentation: "Segmentation") -> str:
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
