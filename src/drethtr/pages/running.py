"""Run a job: plan it, claim its files one after the other, and sum up."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from drethtr.base.errors import DataError
from drethtr.base.files import make_folder
from drethtr.pages.claims import Claims
from drethtr.pages.doubts import DoubtCounts
from drethtr.pages.events import JobSummary, Planned, Skipped
from drethtr.pages.plan import JobPlan, Planner
from drethtr.pages.task import FileTask
from drethtr.recognition.recognizer import Recognizer


class Job(Protocol):
    """Files to read, and where their results go."""

    @property
    def tasks(self) -> Sequence[FileTask]:
        """The files."""

    @property
    def unreadable(self) -> Sequence[DataError]:
        """Errors of files that cannot be opened; they count as failed."""

    @property
    def output(self) -> Path | None:
        """The folder for results, if they are written to one."""

    @property
    def force(self) -> bool:
        """Whether existing results are replaced."""

    def made(self, recognizer: Recognizer, format: str) -> Mapping[str, Any]:
        """The settings that determine the content of a result."""


@dataclass
class Run:
    """A job that is running; `done` and `failed` count its files, failed pages and failed results."""

    recognizer: Recognizer
    planner: Planner
    plan: JobPlan
    claims: Claims
    report: Callable[[Skipped], object]
    done: int
    failed: int
    doubts: DoubtCounts = field(default_factory=DoubtCounts)

    def fail(self, error: DataError) -> None:
        """Count and report a failure."""
        self.report(Skipped(error))
        self.failed += 1


def run_job(
    job: Job, load: Callable[[], Recognizer], report: Callable[[Planned | Skipped], object], read: Callable[[Run], None]
) -> JobSummary:
    """Run a job, whose waiting files `read` claims, reads and writes.

    Raises:
        DataError: if the folder for results cannot be used.
    """
    failed = len(job.unreadable)
    if not job.tasks:
        return JobSummary(0, failed, DoubtCounts())
    if job.output is not None and (job.force or not all(task.done for task in job.tasks)):
        make_folder(job.output)
    recognizer = load()
    planner = Planner(partial(job.made, recognizer))
    plan = planner.plan(job.tasks, force=job.force)
    report(Planned(plan))
    stale = sum(map(len, plan.refused.values()))
    with Claims(force=job.force) as claims:
        claims.tidy(plan.done)
        run = Run(recognizer, planner, plan, claims, report, len(plan.done), failed + stale)
        read(run)
        left = claims.settle()
    for reason in left:
        run.fail(reason)
    return JobSummary(run.done + claims.done, run.failed, run.doubts, stale)
