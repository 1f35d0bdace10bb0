"""Background jobs: progress, remaining time, outcome and cancellation."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from threading import Event, Lock
from time import monotonic
from typing import Any

from drethtr.base.errors import DrethtrError
from drethtr.editing.workspace import Workspace

KEPT = 50
"""How many finished jobs are kept, apart from those with a result: what was learned."""


class Cancelled(Exception):
    """The job was cancelled by a person."""


class State(StrEnum):
    """The state of a job."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        """Whether the job is over."""
        return self in (State.DONE, State.FAILED, State.CANCELLED)


@dataclass
class Job:
    """A job; `Jobs.update` changes it."""

    id: str
    kind: str
    state: State = State.WAITING
    done: int = 0
    total: int = 0
    message: str = ""
    error: str | None = None
    result: dict[str, Any] | None = None
    started: float | None = None
    cancelled: Event = field(default_factory=Event)

    def check(self) -> None:
        """Raise if the job was cancelled.

        Raises:
            Cancelled: if so.
        """
        if self.cancelled.is_set():
            raise Cancelled

    @property
    def seconds_left(self) -> float | None:
        """How long the rest will take at the present pace; None if that is unknown."""
        if self.state is not State.RUNNING or self.started is None or not self.done:
            return None
        return round((monotonic() - self.started) / self.done * max(self.total - self.done, 0), 1)

    def to_json(self) -> dict[str, Any]:
        """The job as plain values."""
        return {
            "id": self.id,
            "kind": self.kind,
            "state": self.state,
            "done": self.done,
            "total": self.total,
            "seconds_left": self.seconds_left,
            "message": self.message,
            "error": self.error,
            "result": self.result,
        }


class Jobs:
    """All jobs since a folder was opened, whose listeners are notified of each change of one."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.all: dict[str, Job] = {}
        self.numbers = count(1)
        self.lock = Lock()

    def new(self, kind: str, total: int = 0) -> Job:
        """Add a waiting job."""
        with self.lock:
            job = Job(str(next(self.numbers)), kind, total=total)
            self.all[job.id] = job
            ended = [id for id, one in self.all.items() if one.state.ended and one.result is None]
            for id in ended[: max(0, len(ended) - KEPT)]:
                del self.all[id]
        self.notify(job)
        return job

    @contextmanager
    def in_progress(self, job: Job, cancelled: str) -> Iterator[None]:
        """Within, a job is running; then it is done, cancelled or failed. Unexpected errors are raised again.

        Args:
            cancelled: The message of a cancelled job, with `{}` for the number done and for the total.
        """
        if not job.cancelled.is_set():
            self.update(job, state=State.RUNNING)
        try:
            yield
        except Cancelled:
            self.update(job, state=State.CANCELLED, message=cancelled.format(job.done, job.total))
        except Exception as error:
            self.update(job, state=State.FAILED, error=self.workspace.without_private_paths(error))
            if not isinstance(error, DrethtrError | OSError):
                raise
        else:
            self.update(job, state=State.DONE)

    def cancel(self, job: Job) -> None:
        """Cancel a job: a waiting job ends at once, a running one at its next check."""
        job.cancelled.set()
        if job.state is State.WAITING:
            self.update(job, state=State.CANCELLED)

    def update(self, job: Job, **values: Any) -> None:
        """Change some values of a job."""
        for name, value in values.items():
            setattr(job, name, value)
        if job.state is State.RUNNING and job.started is None:
            job.started = monotonic()
        self.notify(job)

    def notify(self, job: Job) -> None:
        """Notify all listeners of the present state of a job."""
        self.workspace.notify("job", **job.to_json())

    def running(self, kind: str) -> Job | None:
        """The job of this kind that has not ended, if there is one."""
        with self.lock:
            return next((job for job in self.all.values() if job.kind == kind and not job.state.ended), None)

    def newest_first(self) -> list[Job]:
        """All jobs, newest first."""
        with self.lock:
            return list(self.all.values())[::-1]
