"""Logs of a run: text for people, or JSON lines for programs.

with LOGS["text"](output, resumable=True) as log:
    log.planned(plan, pages, "page")
"""

import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from drethtr.base.archive import as_given
from drethtr.base.errors import DataError, DrethtrError
from drethtr.base.wording import counted, first_of
from drethtr.cli.progress import CONTINUE, INTERRUPTED, doubts_text, report_skipped, say, unknown_hands_text
from drethtr.cli.screen import echo, shown
from drethtr.documents.page import Page
from drethtr.pages.events import DoubtCounts, JobSummary
from drethtr.pages.flags import has_unknown_hand
from drethtr.pages.plan import JobPlan
from drethtr.pages.source import Original
from drethtr.pages.task import FileTask
from drethtr.pages.volume import given_name

if TYPE_CHECKING:
    from tqdm import tqdm


class RunLog(ABC):
    """Receives the events of a run, and keeps what the summary needs.

    resumable  whether the same command resumes a stopped run
    """

    def __init__(self, output: Path | None, *, resumable: bool) -> None:
        self.output = output
        self.resumable = resumable
        self.began = monotonic()
        self.failures: list[str] = []
        self.stale: list[str] = []
        self.before = 0
        self.unit = ""
        self.units = 0
        self.unknown_hands: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, KeyboardInterrupt):
            self.stopped()
            raise typer.Exit(INTERRUPTED) from None
        if isinstance(error, DrethtrError):
            self.refused(error)

    def planned(self, plan: JobPlan, units: int, unit: str) -> None:
        """Report the start, with `units` pages or lines to read."""
        self.before = len(plan.done)
        self.stale = [task.name for tasks in plan.refused.values() for task in tasks]
        self.unit = unit

    def failed(self, error: DataError) -> None:
        """Report a file or page that could not be read, or a result that could not be written."""
        self.failures.append(culprit(error))

    def page(self, original: Original, page: Page | None) -> None:
        """Report a page, or the image of a line, that was read, or could not be."""
        self.units += page is not None
        if page is not None and has_unknown_hand(page):
            self.unknown_hands.append(original.name)

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return monotonic() - self.began

    @abstractmethod
    def note(self, words: str) -> None:
        """Report anything else."""

    @abstractmethod
    def finished(self, summary: JobSummary) -> None:
        """Report the end."""

    @abstractmethod
    def stopped(self) -> None:
        """Report Ctrl-C, and how to resume."""

    @abstractmethod
    def refused(self, error: DrethtrError) -> None:
        """Report an error that ends the run, or leave that to the command line."""


def culprit(error: DataError) -> str:
    """The file or page at fault; the message if it names none."""
    return str(error if error.source is None else error.source)


SHOWN_FILES = 3
"""Maximum number of files to list per reason."""

SHOWN_FAILURES = 10
"""Maximum number of failed files to list in the summary."""


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

    def planned(self, plan: JobPlan, units: int, unit: str) -> None:
        super().planned(plan, units, unit)
        self.files = len(plan.waiting) + self.before + len(self.stale) + len(self.failures)
        if plan.done:
            cure = how_to_replace(plan.done, "--force reads them again")
            say(f"{self.before:,} of {self.files:,} files already have results; {cure}")
        if updated := [task for task in plan.outdated if task.in_place]:
            say(
                f"drethtr: {some(updated)}: newer than the other results in {self.output}, which were kept and may "
                "still have the earlier text; to write those again, delete them, not the corrected file, and repeat "
                "the command"
            )
        if corrected := [task for task in plan.outdated if not task.in_place]:
            say(
                f"drethtr: {some(corrected)}: a person has since corrected results in {self.output}; the others "
                "still have the earlier text; to write the others again, delete only them, and repeat the command"
            )
        if plan.unrecorded:
            say(
                f"drethtr: {some(plan.unrecorded)}: the results in {self.output} have no record of how they were made; "
                f"they are kept; {how_to_replace(plan.unrecorded, '--force replaces them')}"
            )
        for reason, tasks in plan.refused.items():
            say(
                f"drethtr: {some(tasks)}: the results in {self.output} were {reason}; they are kept; choose another "
                f"--output, or {how_to_replace(tasks, 'add --force to replace them')}"
            )
        if units and not (self.output is None and self.unit == "line"):  # printed text shows the progress itself
            from tqdm import tqdm  # takes longer to import than the command line

            self.bar = tqdm(total=units, unit=self.unit, disable=None)

    def failed(self, error: DataError) -> None:
        super().failed(error)
        report_skipped(error)

    def page(self, original: Original, page: Page | None) -> None:
        super().page(original, page)
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
            echo(shown(as_given(self.summary(summary))), err=True)
        if summary.doubts.lines or summary.doubts.kept or summary.doubts.reviewed:
            echo(doubts_text(summary.doubts), err=True)
        if self.unknown_hands:
            echo(shown(as_given(unknown_hands_text(self.unknown_hands, self.units))), err=True)

    def summary(self, summary: JobSummary) -> str:
        """A summary: what was read in which time, what failed, and where the results are."""
        read = summary.done - self.before - summary.others
        units = f" ({counted(self.units, self.unit)})" if self.units != read else ""
        parts = [f"{counted(read, 'file')}{units} read in {duration(self.seconds)}"]
        if self.before:
            parts.append(f"{self.before:,} done before")
        if summary.others:
            parts.append(f"{summary.others:,} done by another run")
        for names, fate in (self.stale, "kept"), (list(dict.fromkeys(self.failures)), "failed"):
            if names:
                parts.append(f"{len(names):,} {fate}: {first_of(names, SHOWN_FAILURES)}")
        if self.output is not None and summary.done:
            parts.append(f"results are in {self.output}")
        return "; ".join(parts)

    def stopped(self) -> None:
        echo(CONTINUE if self.resumable else "stopped", err=True)

    def refused(self, error: DrethtrError) -> None:
        """The command line prints it."""


def some(tasks: Sequence[FileTask]) -> str:
    """The names of the first files."""
    return first_of([task.name for task in tasks], SHOWN_FILES)


def how_to_replace(tasks: Sequence[FileTask], force: str) -> str:
    """How to replace results: by `force`, except where files are updated, since it would also replace given texts."""
    return "delete them to write them again" if any(task.updated is not None for task in tasks) else force


def duration(seconds: float) -> str:
    """A duration as text: `8.3 s`, `7 min 28 s`, `2 h 5 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes_left = divmod(minutes, 60)
    return f"{hours} h {minutes_left} min" if hours else f"{minutes} min {rest} s"


class JSONLog(RunLog):
    """Writes a JSON object per line to stderr; docs/programs.md lists the fields."""

    def emit(self, event: str, **fields: Any) -> None:
        """Write an event."""
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        sys.stderr.write(json.dumps({"event": event, "time": time, **given_names(fields)}) + "\n")
        sys.stderr.flush()

    def planned(self, plan: JobPlan, units: int, unit: str) -> None:
        super().planned(plan, units, unit)
        self.emit(
            "started",
            **{f"{self.unit}s": units, "files": len(plan.waiting), "done_before": self.before},
            unrecorded=[task.name for task in plan.unrecorded],
            outdated=[task.name for task in plan.outdated],
        )
        for reason, tasks in plan.refused.items():
            for task in tasks:
                self.emit("failed", file=task.name, reason=f"the results were {reason}")

    def failed(self, error: DataError) -> None:
        super().failed(error)
        self.emit("failed", file=culprit(error), reason=str(error))

    def page(self, original: Original, page: Page | None) -> None:
        super().page(original, page)
        if page is None:
            return  # a `failed` event follows
        doubts = DoubtCounts()
        doubts.add_page(page)
        file = given_name(original.description or original.source.path)
        number = {"page": original.source.number, "unknown_hand": has_unknown_hand(page)} if self.unit == "page" else {}
        self.emit(self.unit, file=file, **number, **numbers(doubts))

    def note(self, words: str) -> None:
        self.emit("note", message=words)

    def finished(self, summary: JobSummary) -> None:
        self.emit(
            "finished",
            files=summary.done - self.before - summary.others,
            done_before=self.before + summary.others,
            failed=list(dict.fromkeys([*self.stale, *self.failures])),
            **numbers(summary.doubts),
            output=None if self.output is None else str(self.output),
            seconds=round(self.seconds, 2),
        )

    def stopped(self) -> None:
        self.emit("stopped", resumable=self.resumable)

    def refused(self, error: DrethtrError) -> None:
        self.emit("refused", reason=str(error))
        raise typer.Exit(2) from None


def numbers(doubts: DoubtCounts) -> dict[str, int]:
    """Numbers of lines and words read, doubtful and flagged."""
    names = ("lines", "words", "doubtful", "flagged")
    return {name: getattr(doubts, name) for name in names}


def given_names(value: Any) -> Any:
    """Fields in which files of unpacked archives have the names by which they were given."""
    match value:
        case str():
            return as_given(value)
        case list():
            return list(map(given_names, value))
        case dict():
            return {name: given_names(field) for name, field in value.items()}
        case _:
            return value


LogName = Annotated[
    str, typer.Option("--log", metavar="NAME", help="Messages on stderr: text, or json, one object per line.")
]

LOGS: Mapping[str, type[RunLog]] = {"text": TextLog, "json": JSONLog}
"""Logs by the names that `--log` takes."""
