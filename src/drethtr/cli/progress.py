"""What commands show while they read: bars, what is skipped, text on the screen, and doubts at the end."""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from drethtr.base.archive import as_given
from drethtr.base.errors import DataError

if TYPE_CHECKING:
    from drethtr.documents.document import Document
    from drethtr.documents.formats import Format
    from drethtr.documents.page import Page
    from drethtr.lines.sample import Sample
    from drethtr.pages.doubts import DoubtCounts
    from drethtr.pages.job import JobSummary, PageEvent, PageJob
    from drethtr.pages.line_job import LineEvent, LineJob
    from drethtr.pages.segmentation import Segmentation
    from drethtr.pages.source import Original
    from drethtr.recognition.reading import Reading
    from drethtr.recognition.recognizer import Recognizer
    from drethtr.search.build import Builder

SHOWN = 10
"""How many lines that could not be read are named."""


def say(words: str) -> None:
    """Say something beside a progress bar."""
    from tqdm import tqdm

    tqdm.write(as_given(words), file=sys.stderr)


def report_skipped(error: DataError) -> None:
    """Say what was skipped and why."""
    say(f"drethtr: {error}")


def read_with_bar(recognizer: "Recognizer", samples: "Sequence[Sample]", name: str | None = None) -> "list[Reading]":
    """Read lines behind a progress bar, which has a name if one is given."""
    from tqdm import tqdm

    from drethtr.evaluation.evaluate import read_lines

    with tqdm(total=len(samples), unit="line", desc=name, disable=None) as bar:
        return read_lines(recognizer, samples, bar.update)


def report_opened(job: "PageJob | LineJob") -> None:
    """Say which files cannot be opened, and how many are finished."""
    for error in job.unreadable:
        report_skipped(error)
    if done := len(job.tasks) - len(job.waiting):
        files = len(job.tasks) + len(job.unreadable)
        typer.echo(f"{done} of {files} files were done before; --force reads them again", err=True)


def run_pages(
    job: "PageJob",
    load: "Callable[[], Recognizer]",
    *,
    alone: bool,
    verbose: bool,
    builder: "Builder | None" = None,
) -> "JobSummary":
    """Run a job of pages behind a bar; show the documents if they are not written, and add the pages to an index.

    `alone`: one input was given.
    """
    from tqdm import tqdm

    from drethtr.pages.job import FileRead, PageRead, Skipped
    from drethtr.pages.place import nobody

    waiting = job.waiting
    pages = sum(len(task.originals) for task in waiting)
    with tqdm(total=pages, unit="page", disable=None if waiting else True) as bar:

        def show(event: "PageEvent") -> None:
            match event:
                case Skipped(error):
                    report_skipped(error)
                case PageRead(original, page):
                    bar.update()
                    if builder is not None and page is not None:
                        builder.put(original, page)
                    for words in remarks(original, page, job.segmentation, verbose=verbose) if page is not None else ():
                        say(words)
                case FileRead(task, document) if job.output is None:
                    for format in job.formats.values():
                        typer.echo(on_screen(task.path, document, format, alone=alone), nl=False)

        summary = job.run(load, show, nobody if builder is None else builder.witness)
    if waiting:
        typer.echo(doubts_text(summary.doubts), err=True)
    return summary


def run_lines(job: "LineJob", load: "Callable[[], Recognizer]", *, alone: bool, verbose: bool) -> "JobSummary":
    """Run a job of lines; show their text if it is not written. `alone`: one input was given."""
    from tqdm import tqdm

    from drethtr.pages.job import Skipped
    from drethtr.pages.line_job import LineRead

    on_screen = job.output is None
    if on_screen:
        typer.echo(job.format.header, nl=False)
    write = job.format.file if alone else job.format.row
    # Text on the screen shows the progress itself. None: a bar only on a terminal.
    hidden = True if on_screen or not job.waiting else None
    with tqdm(total=len(job.waiting), unit="line", disable=hidden) as bar:

        def show(event: "LineEvent") -> None:
            bar.update()
            match event:
                case Skipped(error):
                    report_skipped(error)
                case LineRead(entry):
                    if verbose:
                        say(as_one_line(str(entry.path)))
                    if on_screen:
                        typer.echo(write(entry), nl=False)

        summary = job.run(load, show)
    if summary.doubts.lines:
        typer.echo(doubts_text(summary.doubts), err=True)
    return summary


def on_screen(path: Path, document: "Document", format: "Format", *, alone: bool) -> str:
    """What a file of the format would hold; text of one file among several as rows that name the file."""
    from drethtr.documents.writers.line import one_line

    if format.ending == ".txt" and not alone:
        texts = (text for page in document.apart() for text in format.write(page).decode().split("\n")[:-1])
        return "".join(f"{one_line(as_given(str(path)))}\t{one_line(text)}\n" for text in texts)
    parts = (document,) if format.together else document.apart()
    return "".join(format.write(part).decode() for part in parts)


def remarks(original: "Original", page: "Page", segmentation: "Segmentation", *, verbose: bool) -> Iterator[str]:
    """What there is to say about a page that was read."""
    if not page.lines:
        yield f"{original.name}: no lines found"
    if unread := lines_unread(original, page):
        yield unread
    if verbose:
        yield taken_for(original, page, segmentation)


def lines_unread(original: "Original", page: "Page") -> str:
    """Which of the given lines could not be read; empty if all were."""
    unread = [line.id for line in page.lines if line.transcription is None]
    if not unread:
        return ""
    shown = ", ".join([*unread[:SHOWN], *(["…"] if len(unread) > SHOWN else [])])
    return f"{original.name}: {len(unread)} of {len(page.lines)} given lines could not be read: {shown}"


def taken_for(original: "Original", page: "Page", segmentation: "Segmentation") -> str:
    """How the lines of a page were segmented, for `--verbose`."""
    number = f"{len(page.lines)} line{'' if len(page.lines) == 1 else 's'}"
    if original.has_lines:
        return f"{original.name}: {number} given"
    if segmentation.finder(original).whole:
        return as_one_line(original.name)
    return f"{original.name}: {number} found ({segmentation.finder_name(original)})"


def as_one_line(name: str) -> str:
    """What is said of an image that was taken as one line."""
    return f"{name}: taken as one line"


def doubts_text(doubts: "DoubtCounts") -> str:
    """How much of what was read is doubtful, in one sentence."""
    if not doubts.lines:
        kept = f": {doubts.kept} have text; --force reads them again" if doubts.kept else ""
        return f"no line was read{kept}"
    found = f"{doubts.doubtful} of {doubts.words} words doubtful, {doubts.flagged} of {doubts.lines} lines flagged"
    kinds = ", ".join(f"{kind} {number}" for kind, number in sorted(doubts.kinds.items()))
    return f"{found} ({kinds})" if kinds else found
