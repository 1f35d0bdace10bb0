"""Work that takes memory, or does not survive; in a module of its own, which a new process can import."""

import os
import signal
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

ROWS_OF_A_MEGABYTE = 250_000


def fill(megabytes: int, times: int = 1, beside: Tensor | None = None) -> None:
    """Take so much memory and give it back, again and again, `beside` something that is there."""
    for _ in range(times):
        torch.ones(megabytes, ROWS_OF_A_MEGABYTE).sum()


def filling(megabytes: int, *, times: int = 1, held: int = 0) -> Callable[[], None]:
    """The same made ready, with so many other megabytes held all the time."""
    return partial(fill, megabytes, times, torch.ones(held, ROWS_OF_A_MEGABYTE))


def dying() -> Callable[[], None]:
    """Ends its process as a system does that lacks memory."""
    return partial(os.kill, os.getpid(), signal.SIGKILL)
