"""One thread for all work with the recognizer; requests of people run before background reading."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from threading import Condition, Thread, current_thread
from traceback import print_exception
from typing import Any, ParamSpec, TypeVar

from drethtr.base.errors import DrethtrError
from drethtr.editing.jobs import Cancelled
from drethtr.images.line import Line
from drethtr.pages.line_reading import ReadLines
from drethtr.recognition.reading import Reading

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

LINES_AT_A_TIME = 4
"""Lines that background work reads before urgent work may run.

A person who asks for alternatives of a word waits for at most this many lines; with one line at a time, most processors
would be idle.
"""

Work = tuple["Future[Any]", Callable[[], Any]]


class PriorityExecutor(Executor):
    """An executor with one thread and two queues: urgent and background work."""

    def __init__(self) -> None:
        self.urgent: deque[Work] = deque()
        self.background: deque[Work] = deque()
        self.changed = Condition()
        self.ended = False
        self.thread = Thread(target=self.run, name="recognizer", daemon=True)
        self.thread.start()

    def submit(
        self, fn: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> "Future[Result]":
        """Queue urgent work ahead of background work."""
        return self.queue(self.urgent, lambda: fn(*args, **kwargs))

    def submit_background(self, work: Callable[[], Result]) -> "Future[Result]":
        """Queue work that runs when nothing is urgent; a bug in it is printed, since nobody may wait for its result."""
        future = self.queue(self.background, work)
        future.add_done_callback(print_bug)
        return future

    def queue(self, queue: deque[Work], work: Callable[[], Result]) -> "Future[Result]":
        """Add work to a queue."""
        future: Future[Result] = Future()
        with self.changed:
            if self.ended:
                raise RuntimeError("the recognizer was shut down")
            queue.append((future, work))
            self.changed.notify()
        return future

    def run(self) -> None:
        """Run queued work until shutdown."""
        while (work := self.next()) is not None:
            run_work(*work)

    def next(self) -> Work | None:
        """The next work; None after shutdown."""
        with self.changed:
            while not (self.urgent or self.background or self.ended):
                self.changed.wait()
            if self.ended:
                return None
            return (self.urgent or self.background).popleft()

    def run_urgent(self) -> None:
        """Run all urgent work now, called from within background work."""
        assert current_thread() is self.thread
        while True:
            with self.changed:
                if not self.urgent or self.ended:
                    return
                work = self.urgent.popleft()
            run_work(*work)  # without the lock, so that more can be submitted meanwhile

    def in_turns(self, read: ReadLines, check_cancelled: Callable[[], None]) -> ReadLines:
        """A function for background work that reads lines with `read`, and runs urgent work every few lines.

        `check_cancelled` is called just as often, and may raise.
        """

        def read_in_turns(lines: Sequence[Line]) -> list[Reading]:
            readings: list[Reading] = []
            for start in range(0, len(lines), LINES_AT_A_TIME):
                check_cancelled()
                self.run_urgent()
                readings += read(lines[start : start + LINES_AT_A_TIME])
            return readings

        return read_in_turns

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop after the present work; cancel what is queued."""
        with self.changed:
            self.ended = True
            waiting = [*self.urgent, *self.background]
            self.urgent.clear()
            self.background.clear()
            self.changed.notify_all()
        for future, _ in waiting:
            future.cancel()
            future.set_running_or_notify_cancel()  # only now do threads that `wait` for it continue
        if wait and current_thread() is not self.thread:
            self.thread.join()


def print_bug(future: "Future[Any]") -> None:
    """Print the traceback of an error that is neither expected nor a cancellation."""
    error = None if future.cancelled() else future.exception()
    if error is not None and not isinstance(error, DrethtrError | Cancelled):
        print_exception(error)


def run_work(future: "Future[Any]", work: Callable[[], Any]) -> None:
    """Run work, and set the result or error of its future."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = work()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)
