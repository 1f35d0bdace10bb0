"""What a run says while it reads: to people, or in JSON lines to programs.

with run_log_named("text", output) as log:
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
from drethtr.base.config import named
from drethtr.base.errors import DataError, DrethtrError
from drethtr.cli.progress import CONTINUE, INTERRUPTED, counted, doubts_text, report_skipped, say

if TYPE_CHECKING:
    from tqdm import tqdm

    from drethtr.documents.page import Page
    from drethtr.documents.writers.line import LineEntry
    from drethtr.pages.doubts import DoubtCounts
    from drethtr.pages.events import JobSummary
    from drethtr.pages.plan import Plan
    from drethtr.pages.source import Original
    from drethtr.pages.task import FileTask

SHOWN_FILES = 3
"""How many files are named for one reason."""

SHOWN_FAILURES = 10
"""How many files that failed are named in the summary."""

LogName = Annotated[
    str, typer.Option("--log", metavar="NAME", help="What is said on stderr: text, or json: a JSON object per line.")
]


class RunLog(ABC):
    """Is told of a run as it goes on, and keeps what its end has to tell.

    resumable  whether the same command continues a run that is stopped
    """

    def __init__(self, output: Path | None, *, resumable: bool) -> None:
        self.output = output
        self.resumable = resumable
        self.began = monotonic()
        self.failures: list[str] = []
        self.before = 0
        self.units = 0

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

    def planned(self, plan: "Plan", units: int, unit: str) -> None:
        """It is known what there is to do: so many pages or lines."""
        self.before = len(plan.done)
        self.failures += [task.name for tasks in plan.refused.values() for task in tasks]
        self.start(plan, units, unit)

    def failed(self, error: DataError) -> None:
        """A file or page could not be read, or a result not be written."""
        self.failures.append(culprit(error))
        self.tell_failed(error)

    def page(self, original: "Original", page: "Page | None") -> None:
        """A page was tried."""
        self.units += page is not None
        self.tell_page(original, page)

    def line(self, entry: "LineEntry | None") -> None:
        """A line image was tried."""
        self.units += entry is not None
        self.tell_line(entry)

    @property
    def seconds(self) -> float:
        """How long the run has taken."""
        return monotonic() - self.began

    @abstractmethod
    def start(self, plan: "Plan", units: int, unit: str) -> None:
        """Tell what there is to do."""

    @abstractmethod
    def tell_failed(self, error: DataError) -> None:
        """Tell of a failure."""

    @abstractmethod
    def tell_page(self, original: "Original", page: "Page | None") -> None:
        """Tell of a page."""

    @abstractmethod
    def tell_line(self, entry: "LineEntry | None") -> None:
        """Tell of a line image."""

    @abstractmethod
    def note(self, words: str) -> None:
        """Tell something else."""

    @abstractmethod
    def finished(self, summary: "JobSummary") -> None:
        """Tell how it ended."""

    @abstractmethod
    def stopped(self) -> None:
        """Tell what to do after Ctrl-C."""

    @abstractmethod
    def refused(self, error: DrethtrError) -> None:
        """Tell why it cannot go on, or leave that to the command line."""


class TextLog(RunLog):
    """For people: a bar on a terminal, and sentences."""

    def __init__(self, output: Path | None, *, resumable: bool) -> None:
        super().__init__(output, resumable=resumable)
        self.files = 0
        self.bar: tqdm[Any] | None = None
        self.unit = ""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close_bar()
        super().__exit__(kind, error, trace)

    def start(self, plan: "Plan", units: int, unit: str) -> None:
        self.files = len(plan.waiting) + self.before + len(self.failures)
        if plan.done:
            say(f"{self.before:,} of {self.files:,} files were done before; --force reads them again")
        if plan.unrecorded:
            say(
                f"drethtr: {some(plan.unrecorded)}: not known how the results in {self.output} were made; they are "
                "kept; --force replaces them"
            )
        for reason, tasks in plan.refused.items():
            say(
                f"drethtr: {some(tasks)}: the results in {self.output} were {reason}; they are kept; choose another "
                "--output, or add --force to replace them"
            )
        self.unit = unit
        if units and not (self.output is None and unit == "line"):  # text on the screen shows the progress itself
            from tqdm import tqdm

            self.bar = tqdm(total=units, unit=unit, disable=None)

    def tell_failed(self, error: DataError) -> None:
        report_skipped(error)

    def tell_page(self, original: "Original", page: "Page | None") -> None:
        self.advance()

    def tell_line(self, entry: "LineEntry | None") -> None:
        self.advance()

    def advance(self) -> None:
        """One page or line more."""
        if self.bar is not None:
            self.bar.update()

    def close_bar(self) -> None:
        """Leave the bar as it is."""
        if self.bar is not None:
            self.bar.close()

    def note(self, words: str) -> None:
        say(words)

    def finished(self, summary: "JobSummary") -> None:
        self.close_bar()
        if self.files > 1 or self.output is not None:
            typer.echo(as_given(self.summary(summary.done - self.before)), err=True)
        if summary.doubts.lines or summary.doubts.kept:
            typer.echo(doubts_text(summary.doubts), err=True)

    def summary(self, read: int) -> str:
        """What was read, how long it took, what failed, and where the results are."""
        units = f" ({counted(self.units, self.unit)})" if self.units != read else ""
        parts = [f"{counted(read, 'file')}{units} read in {duration(self.seconds)}"]
        if self.before:
            parts.append(f"{self.before:,} done before")
        if failures := list(dict.fromkeys(self.failures)):
            more = f" and {len(failures) - SHOWN_FAILURES:,} more" if len(failures) > SHOWN_FAILURES else ""
            parts.append(f"{len(failures):,} failed: {', '.join(failures[:SHOWN_FAILURES])}{more}")
        if self.output is not None and read + self.before:
            parts.append(f"results are in {self.output}")
        return "; ".join(parts)

    def stopped(self) -> None:
        typer.echo(CONTINUE if self.resumable else "stopped", err=True)

    def refused(self, error: DrethtrError) -> None:
        """It is one line; the command line prints it."""


class JSONLog(RunLog):
    """For programs: a JSON object in each line of stderr; docs/programs.md has its fields."""

    def tell(self, event: str, **fields: Any) -> None:
        """Write an event."""
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        named = {name: as_given(value) if isinstance(value, str) else value for name, value in fields.items()}
        sys.stderr.write(json.dumps({"event": event, "time": time, **named}) + "\n")
        sys.stderr.flush()

    def start(self, plan: "Plan", units: int, unit: str) -> None:
        self.tell(
            "started",
            **{f"{unit}s": units, "files": len(plan.waiting), "done_before": self.before},
            unrecorded=[task.name for task in plan.unrecorded],
        )
        for reason, tasks in plan.refused.items():
            for task in tasks:
                self.tell("failed", file=task.name, reason=f"the results were {reason}")

    def tell_failed(self, error: DataError) -> None:
        self.tell("failed", file=culprit(error), reason=str(error))

    def tell_page(self, original: "Original", page: "Page | None") -> None:
        if page is None:
            return  # a failure follows
        from drethtr.pages.doubts import DoubtCounts
        from drethtr.pages.volume import given_name

        doubts = DoubtCounts()
        doubts.add_page(page)
        file = given_name(original.description or original.source.path)
        self.tell("page", file=file, page=original.source.number, **numbers(doubts))

    def tell_line(self, entry: "LineEntry | None") -> None:
        if entry is None:
            return
        from drethtr.pages.doubts import DoubtCounts
        from drethtr.pages.volume import given_name

        doubts = DoubtCounts()
        doubts.add(entry.transcription)
        self.tell("line", file=given_name(entry.path), **numbers(doubts))

    def note(self, words: str) -> None:
        self.tell("note", message=words)

    def finished(self, summary: "JobSummary") -> None:
        self.tell(
            "finished",
            files=summary.done - self.before,
            done_before=self.before,
            failed=list(dict.fromkeys(self.failures)),
            **numbers(summary.doubts),
            output=None if self.output is None else str(self.output),
            seconds=round(self.seconds, 2),
        )

    def stopped(self) -> None:
        self.tell("stopped", resumable=self.resumable)

    def refused(self, error: DrethtrError) -> None:
        self.tell("refused", reason=str(error))
        raise typer.Exit(2) from None


LOGS: Mapping[str, type[RunLog]] = {"text": TextLog, "json": JSONLog}


def run_log_named(name: str, output: Path | None, *, resumable: bool) -> RunLog:
    """The log of a name.

    Raises:
        ConfigError: if there is none.
    """
    return named("log", name, LOGS)(output, resumable=resumable)


def numbers(doubts: "DoubtCounts") -> dict[str, int]:
    """How much was read, and how much of it is doubtful."""
    names = ("lines", "words", "doubtful", "flagged")
    return {name: getattr(doubts, name) for name in names}


def culprit(error: DataError) -> str:
    """The file or page that an error is about."""
    return str(error.source) if error.source is not None else str(error).partition(": ")[0]


def some(tasks: "Sequence[FileTask]") -> str:
    """The names of some files, and how many more there are."""
    names = ", ".join(task.name for task in tasks[:SHOWN_FILES])
    return names if len(tasks) <= SHOWN_FILES else f"{names} and {len(tasks) - SHOWN_FILES:,} more"


def duration(seconds: float) -> str:
    """A time in words: `8.3 s`, `7 min 28 s`, `2 h 5 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes_left = divmod(minutes, 60)
    return f"{hours} h {minutes_left} min" if hours else f"{minutes} min {rest} s"
