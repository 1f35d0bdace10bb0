"""A log of text for people."""

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import typer
from tqdm import tqdm

from drethtr.base.archive import as_given
from drethtr.base.errors import DataError, DrethtrError
from drethtr.base.wording import counted
from drethtr.cli.logs.run_log import RunLog
from drethtr.cli.progress import CONTINUE, doubts_text, report_skipped, say, unknown_hands_text
from drethtr.documents.page import Page
from drethtr.pages.events import JobSummary
from drethtr.pages.plan import JobPlan
from drethtr.pages.source import Original
from drethtr.pages.task import FileTask

SHOWN_FILES = 3
"""Most files to list per reason."""

SHOWN_FAILURES = 10
"""Most failed files to list in the summary."""


class TextLog(RunLog):
    """Shows a progress bar on a terminal, and prints messages."""

    def __init__(self, output: Path | None, *, resumable: bool) -> None:
        super().__init__(output, resumable=resumable)
        self.files = 0
        self.bar: tqdm[Any] | None = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close_bar()
        super().__exit__(kind, error, trace)

    def start(self, plan: JobPlan, units: int) -> None:
        self.files = len(plan.waiting) + self.before + len(self.failures)
        if plan.done:
            say(f"{self.before:,} of {self.files:,} files already have results; --force reads them again")
        if plan.unrecorded:
            say(
                f"drethtr: {some(plan.unrecorded)}: the results in {self.output} have no record of how they were made; "
                "they are kept; --force replaces them"
            )
        for reason, tasks in plan.refused.items():
            say(
                f"drethtr: {some(tasks)}: the results in {self.output} were {reason}; they are kept; choose another "
                "--output, or add --force to replace them"
            )
        if units and not (self.output is None and self.unit == "line"):  # printed text shows the progress itself
            self.bar = tqdm(total=units, unit=self.unit, disable=None)

    def tell_failed(self, error: DataError) -> None:
        report_skipped(error)

    def tell_page(self, original: Original, page: Page | None) -> None:
        if self.bar is not None:
            self.bar.update()

    def close_bar(self) -> None:
        """Close the bar."""
        if self.bar is not None:
            self.bar.close()

    def note(self, words: str) -> None:
        say(words)

    def finished(self, summary: JobSummary) -> None:
        self.close_bar()
        if self.files > 1 or self.output is not None:
            typer.echo(as_given(self.summary(summary.done - self.before)), err=True)
        if summary.doubts.lines or summary.doubts.kept or summary.doubts.reviewed:
            typer.echo(doubts_text(summary.doubts), err=True)
        if self.unknown_hands:
            typer.echo(as_given(unknown_hands_text(self.unknown_hands, self.units)), err=True)

    def summary(self, read: int) -> str:
        """A summary: what was read in which time, what failed, and where the results are."""
        units = f" ({counted(self.units, self.unit)})" if self.units != read else ""
        parts = [f"{counted(read, 'file')}{units} read in {duration(self.seconds)}"]
        if self.before:
            parts.append(f"{self.before:,} done before")
        parts += [f"{len(names):,} {fate}: {listed(names)}" for fate, names in self.left().items() if names]
        if self.output is not None and read + self.before:
            parts.append(f"results are in {self.output}")
        return "; ".join(parts)

    def left(self) -> dict[str, list[str]]:
        """The files without a current result, by what became of them."""
        return {"kept": self.stale, "failed": list(dict.fromkeys(self.failures))}

    def stopped(self) -> None:
        typer.echo(CONTINUE if self.resumable else "stopped", err=True)

    def refused(self, error: DrethtrError) -> None:
        """The command line prints it."""


def some(tasks: Sequence[FileTask]) -> str:
    """The names of the first files, and how many more there are."""
    names = ", ".join(task.name for task in tasks[:SHOWN_FILES])
    return names if len(tasks) <= SHOWN_FILES else f"{names} and {len(tasks) - SHOWN_FILES:,} more"


def duration(seconds: float) -> str:
    """A duration as text: `8.3 s`, `7 min 28 s`, `2 h 5 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes_left = divmod(minutes, 60)
    return f"{hours} h {minutes_left} min" if hours else f"{minutes} min {rest} s"


def listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - SHOWN_FAILURES:,} more" if len(names) > SHOWN_FAILURES else ""
    return f"{', '.join(names[:SHOWN_FAILURES])}{more}"
