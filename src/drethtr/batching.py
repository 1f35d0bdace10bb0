"""Lines of like width side by side in one tensor."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from drethtr.images.prepare import Prepared

WIDTH_STEP = 128
"""Batches have widths that are multiples of it: kernels are made anew for every shape, so there must not be many."""


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
