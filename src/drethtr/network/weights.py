"""Weights by name: check that they fit a network, and carry them over to another vocabulary."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from drethtr.base.errors import CheckpointError
from drethtr.recognition.model.weights import listed, refuse_not_finite


def fit(
    weights: Mapping[str, Tensor],
    wanted: Mapping[str, Tensor],
    *,
    named: Callable[[str], str] = str,
    remedy: str = "are they from such a network?",
) -> dict[str, Tensor]:
    """Check weights against those of a network, `wanted`, and convert them to its data types.

    `named` returns the name to show for a weight.

    Raises:
        CheckpointError: naming weights that are missing, unexpected, of another shape or kind, or not finite.
    """
    if trouble := misfit(weights, wanted, named):
        raise CheckpointError(f"{trouble}; {remedy}")
    fitted = {name: weight.detach().to(wanted[name].dtype) for name, weight in weights.items()}
    # The meta device has no values.
    refuse_not_finite([named(name) for name, weight in fitted.items() if not (weight.is_meta or is_finite(weight))])
    return fitted


def misfit(weights: Mapping[str, Tensor], wanted: Mapping[str, Tensor], named: Callable[[str], str]) -> str:
    """Explain why weights do not fit a network; "" if they do."""
    if missing := [named(name) for name in wanted.keys() - weights.keys()]:
        return f"the weights lack {listed(missing)}, which this network has"
    if extra := [named(name) for name in weights.keys() - wanted.keys()]:
        return f"this network has no place for the weights {listed(extra)}"
    others = []
    for name, weight in weights.items():
        own = wanted[name]
        if weight.shape != own.shape:
            others.append(f"{named(name)} is of shape {tuple(weight.shape)}, in this network {tuple(own.shape)}")
        elif weight.is_complex() or (own.is_floating_point() and not weight.is_floating_point()):
            others.append(f"{named(name)} is of {weight.dtype}, in this network {own.dtype}")
    return f"the weights do not fit: {listed(others, separator='; ')}" if others else ""


def is_finite(weight: Tensor) -> bool:
    """Whether all values are real, and finite in float32."""
    return not weight.is_complex() and bool(weight.float().isfinite().all())


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
    """Convert weights from V old tokens to N new ones; `shares` (N, V), whose rows sum to 1, blend the old tokens.

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
