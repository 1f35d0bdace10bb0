"""The queue of requests for the recognizer; waiting lines are read together.

The reading of a line does not depend on the lines read with it, so this only saves time.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial

from starlette.requests import ClientDisconnect

from drethtr.images.line import Line
from drethtr.recognition.batching import in_groups
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer

MAX_LINES = 64
"""Maximum number of lines that are read together, if memory has room for them."""

LINES_AT_A_TIME = 16
"""Lines of a page that wait at a time, so that other lines are read between them."""


class RequestQueue:
    """One recognizer for many clients; it reads one group of lines at a time, which uses all processors.

    `executor` has one thread, and may be shared.
    """

    def __init__(self, recognizer: Recognizer, executor: Executor | None = None) -> None:
        self.recognizer = recognizer
        self.waiting: list[tuple[asyncio.Future[Reading], Line]] = []
        self.busy = asyncio.Lock()
        self.thread = executor or ThreadPoolExecutor(1)  # torch keeps worker threads for each thread that computes

    async def read(self, line: Line) -> Reading:
        """Read a line that was opened with the recognizer.

        Raises:
            DrethtrError: as `Recognizer.read_lines` does.
        """
        answer: asyncio.Future[Reading] = asyncio.get_running_loop().create_future()
        self.waiting.append((answer, line))
        try:
            # Whoever gets the lock reads the lines of all that wait by then; the others then find their results.
            async with self.busy:
                if not answer.done():
                    await asyncio.shield(self.read_waiting())  # other requests wait for it, too
            return await answer
        finally:
            answer.cancel()  # has an effect only if the client has left

    async def read_waiting(self) -> None:
        """Read the lines that have waited longest."""
        waiting = [(answer, line) for answer, line in self.waiting if not answer.done()]
        taken = next(in_groups(waiting, MAX_LINES), [])
        self.waiting = waiting[len(taken) :]
        try:
            if not await self.read_together(taken):
                for one in taken:
                    await self.read_together([one])
        finally:
            for answer, _ in taken:
                answer.cancel()  # if the server stops, the rest is cancelled, so that nobody waits forever

    async def read_together(self, taken: Sequence[tuple[asyncio.Future[Reading], Line]]) -> bool:
        """Read lines together. The error of a single line is its result; of several lines, any may be the cause.

        Returns:
            Whether all lines have a result.
        """
        wanted = [(answer, line) for answer, line in taken if not answer.done()]
        try:
            work = partial(self.recognizer.read_lines, [line for _, line in wanted])
            readings = await asyncio.get_running_loop().run_in_executor(self.thread, work)
        except Exception as error:
            if len(wanted) > 1:
                return False
            for answer, _ in wanted:
                if not answer.done():
                    answer.set_exception(error)
        else:
            for (answer, _), reading in zip(wanted, readings, strict=True):
                if not answer.done():
                    answer.set_result(reading)
        return True


class PageTurns:
    """Reads the lines of one page, called in its thread: they wait in the queue like those of other requests.

    Args:
        given_up: Tells whether the client has left.
    """

    def __init__(self, queue: RequestQueue, given_up: Callable[[], Awaitable[bool]]) -> None:
        self.queue = queue
        self.given_up = given_up
        self.loop = asyncio.get_running_loop()
        self.ended = False

    def __call__(self, lines: Sequence[Line]) -> list[Reading]:
        """Read lines, some at a time.

        Raises:
            ClientDisconnect: if the client has left, or the request has `ended`.
            DrethtrError: as `Recognizer.read_lines` does.
        """
        readings: list[Reading] = []
        for start in range(0, len(lines), LINES_AT_A_TIME):
            if self.ended:  # there may be no event loop any more
                raise ClientDisconnect
            few = self.read_few(lines[start : start + LINES_AT_A_TIME])
            readings += asyncio.run_coroutine_threadsafe(few, self.loop).result()
        return readings

    async def read_few(self, lines: Sequence[Line]) -> list[Reading]:
        """Read lines together, in the event loop."""
        if self.ended or await self.given_up():
            raise ClientDisconnect
        return await asyncio.gather(*map(self.queue.read, lines))
