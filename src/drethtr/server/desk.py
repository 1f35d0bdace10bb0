"""Where requests wait until the recognizer is free.

What waits then is read together. The answer for a line does not depend on the lines beside it, so nobody notices but by
the time that is saved.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from drethtr.images.line import Line
from drethtr.recognition.batching import in_groups
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer

Result = TypeVar("Result")

MOST_LINES = 64
"""So many lines are read together, if memory has room for them."""


class Desk:
    """One recognizer for many who ask; it does one thing at a time, as that takes all processors."""

    def __init__(self, recognizer: Recognizer) -> None:
        self.recognizer = recognizer
        self.waiting: list[tuple[asyncio.Future[Reading], Line]] = []
        self.busy = asyncio.Lock()
        self.thread = ThreadPoolExecutor(1)  # always the same: torch keeps a team of helpers for every thread

    async def read(self, line: Line) -> Reading:
        """The reading of a line that the recognizer has opened.

        Raises:
            DrethtrError: as `Recognizer.read_lines` does.
        """
        answer: asyncio.Future[Reading] = asyncio.get_running_loop().create_future()
        self.waiting.append((answer, line))
        try:
            async with self.busy:
                if not answer.done():
                    await asyncio.shield(self.read_waiting())  # others wait for it, too
            return await answer
        finally:
            answer.cancel()  # does nothing but to a line that nobody waits for any more

    async def read_waiting(self) -> None:
        """Answer those who have waited longest."""
        waiting = [(answer, line) for answer, line in self.waiting if not answer.done()]
        taken = next(in_groups(waiting, MOST_LINES), [])
        self.waiting = waiting[len(taken) :]
        try:
            if not await self.answer(taken):
                for one in taken:
                    await self.answer([one])
        finally:
            for answer, _ in taken:
                answer.cancel()  # those without an answer, when the server stops: nobody waits for ever

    async def answer(self, taken: Sequence[tuple[asyncio.Future[Reading], Line]]) -> bool:
        """Read lines together. Who brought the only one is told why it fails; of several, it may be the fault of one.

        Returns:
            Whether all have been answered.
        """
        wanted = [(answer, line) for answer, line in taken if not answer.done()]
        try:
            readings = await self.work(partial(self.recognizer.read_lines, [line for _, line in wanted]))
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

    async def alone(self, work: Callable[[], Result], given_up: Callable[[], Awaitable[bool]]) -> Result | None:
        """What some other work with the recognizer gives; None if nobody waits for it any more when its turn comes."""
        async with self.busy:
            return None if await given_up() else await self.work(work)

    async def work(self, work: Callable[[], Result]) -> Result:
        """The same, beside the loop that answers."""
        return await asyncio.get_running_loop().run_in_executor(self.thread, work)
