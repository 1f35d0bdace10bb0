"""Run the job of `drethtr transcribe`, log their events, and print results that are not written to files."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import typer

from drethtr.base.wording import counted
from drethtr.cli.logs import RunLog

if TYPE_CHECKING:
    from drethtr.documents.document import Document
    from drethtr.documents.formats import Format
    from drethtr.documents.page import Page
    from drethtr.pages.events import JobSummary, PageEvent
    from drethtr.pages.job import PageJob
    from drethtr.pages.segmentation import Segmentation
    from drethtr.pages.source import Original
    from drethtr.recognition.recognizer import Recognizer
    from drethtr.search.build import Builder

SHOWN = 10
"""Most unreadable lines to list."""


def run_job(
    job: "PageJob",
    load: "Callable[[], Recognizer]",
    log: RunLog,
    *,
    verbose: bool,
    builder: "Builder | None" = None,
) -> "JobSummary":
    """Run a job; print the documents unless they are written, and add the pages to an index, if given."""
    from drethtr.pages.events import FileRead, PageRead, Planned, Skipped
    from drethtr.pages.transcribe import nobody

    alone = len(job.tasks) + len(job.unreadable) == 1

    def show(event: "PageEvent") -> None:
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
                    typer.echo(on_screen(document, format, alone=alone), nl=False)

    for error in job.unreadable:
        log.failed(error)
    if job.output is None:
        typer.echo(b"".join(format.header for format in job.formats.values()), nl=False)
    summary = job.run(load, show, nobody if builder is None else builder.witness)
    log.finished(summary)
    return summary


def on_screen(document: "Document", format: "Format", *, alone: bool) -> bytes:
    """The content of a file in a format; as rows if it is one file among several, or a row of a table."""
    if format.row is not None and (format.header or not alone):
        return format.row(document)
    parts = (document,) if format.together else document.apart()
    return b"".join(map(format.write, parts))


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
