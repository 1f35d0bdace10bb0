"""Lines in groups that fit into memory, and those of like width side by side in one tensor."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from drethtr.base.errors import DataError
from drethtr.images.line import Line
from drethtr.images.prepare import Prepared

Item = TypeVar("Item")
Opened = TypeVar("Opened", bound=Line | DataError)
Result = TypeVar("Result")

WIDTH_STEP = 128
"""Batches have widths that are multiples of it: kernels are made anew for every shape, so there must not be many."""


PIXELS_TOGETHER = 100_000_000
"""A group of lines ends when it has so many pixels, before they are prepared."""

OUT_OF_MEMORY = ("DefaultCPUAllocator", "MPS backend out of memory")
"""What torch says where an allocation fails, on devices for which it has no exception of its own."""


def in_groups(lines: Iterable[tuple[Item, Opened]], most: int) -> Iterator[list[tuple[Item, Opened]]]:
    """The same in groups of at most `most` that fit into memory; an item without a line has the reason in its place."""
    group: list[tuple[Item, Opened]] = []
    pixels = 0
    for item, line in lines:
        group.append((item, line))
        pixels += 0 if isinstance(line, DataError) else line.size
        if len(group) == most or pixels > PIXELS_TOGETHER:
            yield group
            group, pixels = [], 0
    if group:
        yield group


def padded_width(columns: int) -> int:
    """How many columns a line takes in a batch, at least."""
    return -(-columns // WIDTH_STEP) * WIDTH_STEP


def group_by_width(widths: Sequence[int], columns: int, lines: int) -> Iterator[list[int]]:
    """Indices in groups of like width, widest first.

    A group has at most `lines` members and, filled up to its widest one, at most `columns` columns; a line that is
    wider than that is alone.
    """
    by_width = np.argsort(-np.asarray(widths), kind="stable").tolist()
    while by_width:
        size = max(1, min(lines, columns // max(1, padded_width(widths[by_width[0]]))))
        yield by_width[:size]
        del by_width[:size]


def stack(lines: Sequence[Prepared]) -> tuple[Tensor, Tensor]:
    """Prepared lines of one height as (B, 1, H, W) with paper on the right, and their widths (B,)."""
    widths = [line.shape[1] for line in lines]
    images = torch.full((len(lines), 1, lines[0].shape[0], padded_width(max(widths))), -1.0)
    for image, line in zip(images, lines, strict=True):
        image[0, :, : line.shape[1]] = torch.from_numpy(line)
    return images, torch.tensor(widths)


def in_memory(work: Callable[[Sequence[Item]], list[Result]], items: Sequence[Item]) -> list[Result]:
    """A result for each item: of all at once, or of ever smaller halves where memory does not suffice.

    Raises:
        RuntimeError, MemoryError: if it does not even suffice for one.
    """
    try:
        return work(items)
    except (RuntimeError, MemoryError) as error:
        if len(items) == 1 or not is_out_of_memory(error):
            raise
    # Not in the handler: the error would keep alive what the failed attempt has taken.
    middle = len(items) // 2
    return in_memory(work, items[:middle]) + in_memory(work, items[middle:])


def is_out_of_memory(error: RuntimeError | MemoryError) -> bool:
    """Whether an allocation failed."""
    told = isinstance(error, torch.cuda.OutOfMemoryError | MemoryError)
    return told or any(words in str(error) for words in OUT_OF_MEMORY)
