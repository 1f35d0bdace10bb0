"""Work that takes memory or gets killed, in a separate module that a new process can import."""

import os
import signal
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

ROWS_OF_A_MEGABYTE = 250_000


def fill(megabytes: int, times: int = 1, beside: Tensor | None = None) -> None:
    """Allocate and free memory repeatedly, while `beside` stays allocated."""
    for _ in range(times):
        torch.ones(megabytes, ROWS_OF_A_MEGABYTE).sum()


def filling(megabytes: int, *, times: int = 1, held: int = 0) -> Callable[[], None]:
    """Prepare `fill`, with `held` megabytes allocated all the time."""
    return partial(fill, megabytes, times, torch.ones(held, ROWS_OF_A_MEGABYTE))


def dying() -> Callable[[], None]:
    """Prepare killing the process, as a system does when it lacks memory."""
    return partial(os.kill, os.getpid(), signal.SIGKILL)
