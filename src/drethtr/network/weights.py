"""Check that weights from elsewhere fit a network."""

from collections.abc import Callable, Mapping

from torch import Tensor

from drethtr.base.errors import CheckpointError
from drethtr.base.wording import first_of
from drethtr.recognition.model.weights import refuse_not_finite


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
    known = {name: weight for name, weight in fitted.items() if not weight.is_meta}
    refuse_not_finite([named(name) for name, weight in known.items() if not weight.isfinite().all()])
    return fitted


def misfit(weights: Mapping[str, Tensor], wanted: Mapping[str, Tensor], named: Callable[[str], str]) -> str:
    """Explain why weights do not fit a network; "" if they do."""
    if missing := [named(name) for name in wanted.keys() - weights.keys()]:
        return f"the weights lack {first_of(sorted(missing))}, which this network has"
    if extra := [named(name) for name in weights.keys() - wanted.keys()]:
        return f"this network does not use the weights {first_of(sorted(extra))}"
    others = []
    for name, weight in weights.items():
        own = wanted[name]
        if weight.shape != own.shape:
            others.append(f"{named(name)} is of shape {tuple(weight.shape)}, in this network {tuple(own.shape)}")
        elif weight.is_complex() or (own.is_floating_point() and not weight.is_floating_point()):
            others.append(f"{named(name)} is of {weight.dtype}, in this network {own.dtype}")
    return f"the weights do not fit: {first_of(sorted(others), separator='; ')}" if others else ""
