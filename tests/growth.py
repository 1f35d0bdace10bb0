"""How the time of a work grows, where its steps cannot be counted: in compiled loops, such as those of `re`."""

from collections.abc import Callable
from time import process_time

SMALL, LARGE = 4_000, 64_000
MOST = 4 * LARGE / SMALL
"""Quadratic work exceeds the ratio `LARGE / SMALL` 16 times; a busy machine may exceed it several times."""

BLINK = 0.01
"""Seconds below which `LARGE` cannot be quadratic, since that takes about 10^9 steps."""


def grows_evenly(work: Callable[[int], object]) -> bool:
    """Whether the time of `work` grows no faster than its input; tried up to five times: the machine may be busy."""

    def seconds(size: int) -> float:
        begun = process_time()
        work(size)
        return process_time() - begun

    return any((large := seconds(LARGE)) < BLINK or large < MOST * seconds(SMALL) for _ in range(5))
