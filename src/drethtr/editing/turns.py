"""One thread for all work with the recognizer; what a person waits for goes before what is read in the background."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from threading import Condition, Thread, current_thread
from typing import Any, ParamSpec, TypeVar

from drethtr.images.line import Line
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

LINES_AT_A_TIME = 4
"""Lines that background work reads before others get their turn."""

Work = tuple["Future[Any]", Callable[[], Any]]


class Turns(Executor):
    """An executor with one thread and two queues."""

    def __init__(self) -> None:
        self.urgent: deque[Work] = deque()
        self.patient: deque[Work] = deque()
        self.changed = Condition()
        self.ended = False
        self.thread = Thread(target=self.run, name="recognizer", daemon=True)
        self.thread.start()

    def submit(
        self, fn: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> "Future[Result]":
        """Do something before all that is patient."""
        return self.queue(self.urgent, lambda: fn(*args, **kwargs))

    def later(self, work: Callable[[], Result]) -> "Future[Result]":
        """Do something when nothing is urgent."""
        return self.queue(self.patient, work)

    def queue(self, queue: deque[Work], work: Callable[[], Result]) -> "Future[Result]":
        """Add work to a queue."""
        future: Future[Result] = Future()
        with self.changed:
            if self.ended:
                raise RuntimeError("the recognizer has ended")
            queue.append((future, work))
            self.changed.notify()
        return future

    def run(self) -> None:
        """Work until the end."""
        while (work := self.next()) is not None:
            do(*work)

    def next(self) -> Work | None:
        """The next thing to do; None at the end."""
        with self.changed:
            while not (self.urgent or self.patient or self.ended):
                self.changed.wait()
            if self.ended:
                return None
            return (self.urgent or self.patient).popleft()

    def give_way(self) -> None:
        """Do what is urgent now, in the midst of patient work."""
        assert current_thread() is self.thread
        while True:
            with self.changed:
                if not self.urgent or self.ended:
                    return
                work = self.urgent.popleft()
            do(*work)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End after the present work; what waits is cancelled."""
        with self.changed:
            self.ended = True
            waiting = [*self.urgent, *self.patient]
            self.changed.notify_all()
        for future, _ in waiting:
            future.cancel()
        if wait and current_thread() is not self.thread:
            self.thread.join()


def do(future: "Future[Any]", work: Callable[[], Any]) -> None:
    """Do work, and hand its result or error to those who wait for it."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = work()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)


class PatientRecognizer(Recognizer):
    """A recognizer that lets urgent work pass between few lines; it shares the network of another one."""

    def __init__(self, other: Recognizer, turns: Turns, checked: Callable[[], None]) -> None:
        super().__init__(other.model, other.strategy, network=other.network, precision=other.precision)
        self.turns = turns
        self.checked = checked

    def read_lines(self, lines: Sequence[Line]) -> list[Reading]:
        """The readings of lines; `checked` may raise between them, to end the work."""
        readings: list[Reading] = []
        for start in range(0, len(lines), LINES_AT_A_TIME):
            self.checked()
            self.turns.give_way()
            readings += super().read_lines(lines[start : start + LINES_AT_A_TIME])
        return readings
