"""How steps, time and memory of a work grow with its input."""

import sys
from collections.abc import Callable
from pathlib import Path
from time import thread_time

import pytest

SMALL, LARGE = 4_000, 64_000
MOST = 4 * LARGE / SMALL
"""Quadratic work exceeds the ratio `LARGE / SMALL` 16 times; a busy machine may exceed it several times."""

BLINK = 0.01
"""Seconds below which `LARGE` cannot be quadratic, since that takes about 10^9 steps."""


def steps(work: Callable[[], object]) -> int:
    """The lines of Python that are executed, each round of a loop counted; unlike times, they are always the same."""
    count, before = 0, sys.gettrace()

    def trace(frame: object, event: str, value: object) -> object:
        nonlocal count
        count += 1
        return trace

    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def grows_evenly(work: Callable[[int], object]) -> bool:
    """Whether the time of `work` grows no faster than its input; tried up to five times: the machine may be busy.

    For compiled loops, such as those of `re`, whose steps cannot be counted.
    """

    def seconds(size: int) -> float:
        begun = thread_time()
        work(size)
        return thread_time() - begun

    return any((large := seconds(LARGE)) < BLINK or large < MOST * seconds(SMALL) for _ in range(5))


STATUS = Path("/proc/self/status")

needs_status = pytest.mark.skipif(not STATUS.exists(), reason="no measure of memory")


def megabytes_of(work: Callable[[], object]) -> int:
    """The most memory that this process takes for a work, beside what it has before."""

    def most() -> int:
        return int(STATUS.read_text().split("VmHWM:")[1].split()[0]) >> 10

    STATUS.with_name("clear_refs").write_text("5")
    before = most()
    work()
    return most() - before
