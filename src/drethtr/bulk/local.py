"""An engine of processes on this machine."""

import signal
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import NamedTuple

from drethtr.base.config import check_positive
from drethtr.base.errors import DrethtrError
from drethtr.base.processors import begin_worker
from drethtr.bulk.inputs import Part
from drethtr.bulk.worker import TRIES, Engine, PartOutcome, Work, lost


class Attempt(NamedTuple):
    """An attempt at a part; `number` counts from 1."""

    part: Part
    number: int = 1


class Ready(NamedTuple):
    """A worker's message that it has loaded its model."""


class Refusal(NamedTuple):
    """A worker's message of an error that every other worker would have too."""

    reason: str


class Killed(Exception):
    """A worker ended without an answer."""

    def __init__(self, code: int | None) -> None:
        super().__init__(code)
        self.code = code

    def __str__(self) -> str:
        if self.code is not None and self.code < 0:
            names = {one.value: one.name for one in signal.Signals}  # most real-time signals have none
            return f"killed by {names.get(-self.code, f'signal {-self.code}')}"
        return f"exit code {self.code}"


class Worker:
    """A process that reads parts; `attempt` is the current one, None while it loads its model."""

    def __init__(self, work: Work) -> None:
        self.work = work
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, work), daemon=True)
        self.process.start()
        theirs.close()
        self.attempt: Attempt | None = None

    def give(self, attempt: Attempt) -> None:
        """Send the worker a part. If it was killed meanwhile, `answer` raises the error."""
        self.attempt = attempt
        with suppress(OSError):
            self.pipe.send(attempt.part)

    def answer(self) -> Ready | PartOutcome:
        """Wait for the worker's next message.

        Raises:
            Killed: if the worker has ended.
            DrethtrError: if every other worker would fail in the same way.
        """
        try:
            message: Ready | PartOutcome | Refusal = self.pipe.recv()
        except (EOFError, OSError) as error:
            self.process.join()
            raise Killed(self.process.exitcode) from error
        if isinstance(message, Refusal):
            raise DrethtrError(message.reason)
        return message

    def dismiss(self) -> None:
        """Let the worker end."""
        self.pipe.close()
        self.process.join()

    def kill(self) -> None:
        """Kill the worker."""
        self.process.kill()
        self.dismiss()


def serve(pipe: Connection, work: Work) -> None:
    """The main loop of a worker, which ends with its parent process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Ctrl-C, the parent ends the workers
    begin_worker()
    with suppress(EOFError, BrokenPipeError):
        try:
            reader = work.begin()
            pipe.send(Ready())
            while True:
                pipe.send(reader.read(pipe.recv()))
        except DrethtrError as error:
            pipe.send(Refusal(str(error)))


@dataclass(frozen=True)
class Local(Engine):
    """Processes on this machine, each with its own model on one processor.

    `devices` are what they compute on, in turn, given to `Work.load` as `device`; if empty, `load` itself chooses.
    """

    workers: int
    devices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_positive(self, "workers")

    def run(self, parts: Sequence[Part], work: Work) -> Iterator[PartOutcome]:
        waiting = deque(Attempt(part) for part in parts)
        works = [replace(work, load=partial(work.load, device=device)) for device in self.devices] or [work]
        crew = [Worker(works[number % len(works)]) for number in range(min(self.workers, len(parts)))]
        false_starts = 0
        try:
            while crew:
                ready = wait([worker.pipe for worker in crew])
                for worker in [worker for worker in crew if worker.pipe in ready]:
                    try:
                        answer = worker.answer()
                    except Killed as end:
                        crew.remove(worker)
                        # A worker killed while it loads its model says nothing about a part. Only several in a row end
                        # the job, since the system may kill one for another program's memory.
                        false_starts += worker.attempt is None
                        self.check_starts(false_starts, end)
                        yield from requeue(worker.attempt, end, waiting)
                        crew += [Worker(worker.work)] if waiting else []
                        continue
                    false_starts = 0
                    if isinstance(answer, PartOutcome):
                        yield answer
                    if waiting:
                        worker.give(waiting.popleft())
                    else:
                        crew.remove(worker)
                        worker.dismiss()
        finally:
            for worker in crew:
                worker.kill()

    def check_starts(self, false_starts: int, end: Killed) -> None:
        """Give up after several workers in a row ended while loading the model.

        Raises:
            DrethtrError: saying how the last one ended.
        """
        if false_starts == TRIES:
            raise DrethtrError(
                f"{TRIES} workers ended while loading the model ({end}); is there enough memory for {self.workers}?"
            )


def requeue(attempt: Attempt | None, end: Killed, waiting: deque[Attempt]) -> Iterator[PartOutcome]:
    """Put the part of a dead worker back into the queue, or report it as lost after too many attempts."""
    if attempt is None:
        return
    if attempt.number < TRIES:
        waiting.appendleft(Attempt(attempt.part, attempt.number + 1))
    else:
        yield lost(attempt.part, f"{TRIES} workers ended while reading them ({end})")
