"""The base class of logs."""

from abc import ABC, abstractmethod
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Self

import typer

from drethtr.base.errors import DataError, DrethtrError
from drethtr.cli.progress import INTERRUPTED
from drethtr.documents.page import Page
from drethtr.pages.events import JobSummary
from drethtr.pages.plan import JobPlan
from drethtr.pages.source import Original
from drethtr.pages.unknown_hand import has_unknown_hand


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
        """The run starts, with `units` pages or lines to read."""
        self.before = len(plan.done)
        self.stale = [task.name for tasks in plan.refused.values() for task in tasks]
        self.unit = unit
        self.start(plan, units)

    def failed(self, error: DataError) -> None:
        """A file or page could not be read, or a result could not be written."""
        self.failures.append(culprit(error))
        self.tell_failed(error)

    def page(self, original: Original, page: Page | None) -> None:
        """A page, or the image of a line, was read, or could not be."""
        self.units += page is not None
        if page is not None and has_unknown_hand(page):
            self.unknown_hands.append(original.name)
        self.tell_page(original, page)

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return monotonic() - self.began

    @abstractmethod
    def start(self, plan: JobPlan, units: int) -> None:
        """Report the start."""

    @abstractmethod
    def tell_failed(self, error: DataError) -> None:
        """Report a failure."""

    @abstractmethod
    def tell_page(self, original: Original, page: Page | None) -> None:
        """Report a page or line."""

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
