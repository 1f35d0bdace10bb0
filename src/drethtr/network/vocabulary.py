"""Convert a trained network to another vocabulary: every new token starts as a blend of old ones.

Shapes, everywhere in this file: V old tokens, N new ones.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

ROW_PER_TOKEN = (
    "embed.tokens.weight",
    "to_logits.weight",
    "ctc.draft.weight",
    "ctc.draft.bias",
    "ctc.refine.weight",
    "ctc.refine.bias",
)
"""Weights with a row per token; those of the refined reading have one per step and token."""

COLUMN_PER_TOKEN = ("ctc.inform.weight",)


def with_vocabulary(weights: Mapping[str, Tensor], shares: Tensor) -> dict[str, Tensor]:
    """Convert weights from V to N tokens; `shares` (N, V), whose rows sum to 1, blend the old tokens.

    Weights that do not depend on the vocabulary are kept.
    """
    carried = dict(weights)
    for name in ROW_PER_TOKEN:
        if name in weights:
            steps = weights[name].reshape(-1, shares.shape[1], *weights[name].shape[1:])
            carried[name] = torch.einsum("nv,sv...->sn...", shares, steps).flatten(0, 1)
    for name in COLUMN_PER_TOKEN:
        if name in weights:
            carried[name] = weights[name] @ shares.mT
    return carried
