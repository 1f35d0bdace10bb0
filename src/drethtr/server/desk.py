"""Where requests wait until the recognizer is free.

What waits then is read together. The answer for a line does not depend on the lines beside it, so nobody notices but by
the time that is saved.
"""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from drethtr.images.line import Line
from drethtr.reading import Reading
from drethtr.recognizer import Recognizer

Result = TypeVar("Result")

MOST_LINES = 64
"""So many lines are read together."""


class Desk:
    """One recognizer for many who ask; it does one thing at a time, as that takes all processors."""

    def __init__(self, recognizer: Recognizer) -> None:
        self.recognizer = recognizer
        self.waiting: list[tuple[Line, asyncio.Future[Reading]]] = []
        self.busy = asyncio.Lock()
        self.thread = ThreadPoolExecutor(1)  # always the same: torch keeps a team of helpers for every thread

    async def read(self, line: Line) -> Reading:
        """The reading of a line that the recognizer has opened.

        Raises:
            DrethtrError: as `Recognizer.read_lines` does.
        """
        answer: asyncio.Future[Reading] = asyncio.get_running_loop().create_future()
        self.waiting.append((line, answer))
        try:
            async with self.busy:
                if not answer.done():
                    await asyncio.shield(self.read_waiting())  # others wait for it, too
            return await answer
        finally:
            answer.cancel()  # does nothing but to a line that nobody waits for any more

    async def read_waiting(self) -> None:
        """Answer those who have waited longest."""
        waiting = [(line, answer) for line, answer in self.waiting if not answer.done()]
        taken, self.waiting = waiting[:MOST_LINES], waiting[MOST_LINES:]
        try:
            readings = await self.work(partial(self.recognizer.read_lines, [line for line, _ in taken]))
        except Exception as error:
            for _, answer in taken:
                if not answer.done():
                    answer.set_exception(error)
        else:
            for (_, answer), reading in zip(taken, readings, strict=True):
                if not answer.done():
                    answer.set_result(reading)
        finally:
            for _, answer in taken:
                answer.cancel()  # those without an answer, when the server stops: nobody waits for ever

    async def alone(self, work: Callable[[], Result], given_up: Callable[[], Awaitable[bool]]) -> Result | None:
        """What some other work with the recognizer gives; None if nobody waits for it any more when its turn comes."""
        async with self.busy:
            return None if await given_up() else await self.work(work)

    async def work(self, work: Callable[[], Result]) -> Result:
        """The same, beside the loop that answers."""
        return await asyncio.get_running_loop().run_in_executor(self.thread, work)
