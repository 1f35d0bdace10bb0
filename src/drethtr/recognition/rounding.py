"""Weights in few bits, for a file: matrices in 8 with a scale for every 32 columns of a row, all else in float16.

What was rounded once is not changed by rounding it again: the largest of 32 numbers is 127 times their scale.
"""

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn import functional as F

from drethtr.base.errors import CheckpointError

COLUMNS, LARGEST = 32, 127

SCALES = ".scales"
"""How the name of the scales of a matrix ends, after its own."""


def rounded(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What a file holds of them: for a matrix (M, N) int8 (M, N) and bfloat16 (M, ⌈N / 32⌉)."""
    stored = {}
    for name, weight in weights.items():
        if weight.ndim == 2 and weight.is_floating_point():
            scales = scales_of(weight)
            spread = spread_over(scales, weight.shape[1])
            stored[name] = torch.where(spread > 0, weight / spread, 0).round().to(torch.int8)
            stored[name + SCALES] = scales
        else:
            stored[name] = weight.half() if weight.is_floating_point() else weight
    return stored


def restored(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights that a file holds, rounded or not.

    Raises:
        CheckpointError: naming scales that are not of the shape of their matrix.
    """
    weights = {name: tensor for name, tensor in stored.items() if not name.endswith(SCALES)}
    for name in stored.keys() - weights.keys():
        scales, matrix = stored[name], weights.get(name.removesuffix(SCALES), torch.empty(0))
        if matrix.ndim != 2 or scales.shape != (matrix.shape[0], -(-matrix.shape[1] // COLUMNS)):
            raise CheckpointError(f"{name} are not of a matrix of shape {tuple(matrix.shape)}")
        weights[name.removesuffix(SCALES)] = matrix * spread_over(scales, matrix.shape[1])
    return weights


def scales_of(matrix: Tensor) -> Tensor:
    """What 1 stands for in every 32 columns of a row."""
    whole = F.pad(matrix.detach().float(), (0, -matrix.shape[1] % COLUMNS))
    groups = whole.abs().view(len(whole), whole.shape[1] // COLUMNS, COLUMNS)
    return (groups.amax(2) / LARGEST).bfloat16()


def spread_over(scales: Tensor, columns: int) -> Tensor:
    """The scale of each number."""
    return scales.float().repeat_interleave(COLUMNS, 1)[:, :columns]
