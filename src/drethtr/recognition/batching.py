"""Group lines: groups that fit into memory, and batches of similar width."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from drethtr.base.errors import DataError
from drethtr.images.line import Line

Item = TypeVar("Item")
Opened = TypeVar("Opened", bound=Line | DataError)
Result = TypeVar("Result")

WIDTH_STEP = 128
"""Widths of batches are multiples of this: GPU kernels are tuned for every new shape, so there must be few shapes.

On a CPU, steps of 32 would be 1 to 6 % faster for widths that were read before (LOG.md, 2026-11-23, later at night)."""

PIXELS_TOGETHER = 100_000_000
"""A group of lines ends when it has this many pixels, before preparation: 100 MB, and four times as much in floats."""


def in_groups(lines: Iterable[tuple[Item, Opened]], most: int) -> Iterator[list[tuple[Item, Opened]]]:
    """Items in groups of at most `most` that fit into memory; an item without a line comes with an error instead."""
    group: list[tuple[Item, Opened]] = []
    pixels = 0
    for item, line in lines:
        group.append((item, line))
        pixels += 0 if isinstance(line, DataError) else line.size
        if len(group) >= most or pixels > PIXELS_TOGETHER:
            yield group
            group, pixels = [], 0
    if group:
        yield group


def padded_width(columns: int) -> int:
    """The columns that a line takes in a batch: its own, rounded up to a multiple of `WIDTH_STEP`."""
    return -(-columns // WIDTH_STEP) * WIDTH_STEP


def padded_lines(lines: int) -> int:
    """The lines of a padded batch: a power of two, so that there are few shapes."""
    return 1 << (lines - 1).bit_length()


def group_by_width(widths: Sequence[int], columns: int, lines: int) -> Iterator[list[int]]:
    """Indices in groups of similar width, widest first.

    A group has at most `lines` members and, padded to its widest, at most `columns` columns; a wider line is alone.
    """
    # Widest first: a group that does not fit into memory fails at the beginning, not after minutes.
    by_width = np.argsort(-np.asarray(widths), kind="stable").tolist()
    while by_width:
        size = max(1, min(lines, columns // max(1, padded_width(widths[by_width[0]]))))
        yield by_width[:size]
        del by_width[:size]


def in_parts_that_fit(work: Callable[[Sequence[Item]], list[Result]], items: Sequence[Item]) -> list[Result]:
    """The results of `work` for all items, which are split into halves as often as needed to fit into memory.

    Raises:
        MemoryError: if a single item does not fit.
    """
    try:
        return work(items)
    except MemoryError:
        if len(items) == 1:
            raise
    # Not in the handler: the error would keep the memory of the failed attempt alive.
    middle = len(items) // 2
    return in_parts_that_fit(work, items[:middle]) + in_parts_that_fit(work, items[middle:])
