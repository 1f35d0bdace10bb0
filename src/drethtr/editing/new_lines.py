"""New lines are read before all others, once nobody has changed their page for a moment."""

from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future, wait
from threading import Lock, Timer

from drethtr.editing.executor import PriorityExecutor, print_bug

PAUSE = 1.0
"""Seconds without a layout change after which new lines are read: somebody who draws one line will draw the next, and
may still move the lines."""


class NewLines:
    """The new lines of pages, until they are read.

    Args:
        executor: The executor that reads them.
        read: Reads the lines of a page that have these ids, and writes their texts.
    """

    def __init__(self, executor: PriorityExecutor, read: Callable[[str, Collection[str]], None]) -> None:
        self.executor = executor
        self.read = read
        self.waiting: dict[str, tuple[Timer | None, frozenset[str]]] = {}
        self.reading: dict[str, Future[None]] = {}  # the last timer of each page
        self.lock = Lock()
        self.is_closed = False

    def close(self) -> None:
        """Cancel all waiting lines."""
        with self.lock:
            self.is_closed = True
            for timer, _ in self.waiting.values():
                if timer is not None:
                    timer.cancel()

    def read_soon(self, page_id: str, lines: Iterable[str]) -> None:
        """Read new lines of a page once nobody has changed it for `PAUSE` seconds."""
        with self.lock:
            timer, waiting = self.waiting.pop(page_id, (None, frozenset[str]()))
            if timer is not None:
                timer.cancel()
            wanted = waiting.union(lines)
            if wanted and not self.is_closed:
                timer = Timer(PAUSE, self.read_now, [page_id])
                timer.daemon = True
                self.waiting[page_id] = timer, wanted
                timer.start()

    def read_now(self, page_id: str) -> None:
        """Read the waiting lines of a page now."""
        with self.lock:  # a line to be read is always in `waiting` or in `reading`
            timer, lines = self.waiting.pop(page_id, (None, frozenset[str]()))
            if timer is not None and not self.is_closed:
                timer.cancel()
                self.reading[page_id] = future = self.executor.submit(self.read, page_id, lines)
                future.add_done_callback(print_bug)

    def finish(self, page_id: str, line: str) -> None:
        """Read a waiting line now, and return once no new line of its page is being read."""
        with self.lock:
            _, waiting = self.waiting.get(page_id, (None, frozenset[str]()))
        if line in waiting:
            self.read_now(page_id)
        with self.lock:
            reading = self.reading.get(page_id)
        if reading is not None:
            wait([reading])
