"""Decay of the heads of a layer, as data: γ from a schedule (paper, eq. 10); a gated γ is in `paper/variants.py`."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from drethtr.base.arrays import Floats
from drethtr.base.errors import ConfigError

Gamma = Floats


class LayerPosition(NamedTuple):
    """Layer number `layer`, from 0, of `layers`, each with `heads` heads."""

    layer: int
    layers: int
    heads: int

    @property
    def depth(self) -> float:
        """0 at the first layer, 1 at the last; a single layer is the last."""
        return self.layer / (self.layers - 1) if self.layers > 1 else 1.0


Schedule = Callable[[LayerPosition, float], Gamma]
SCHEDULES: dict[str, Schedule] = {}


def schedule(function: Schedule) -> Schedule:
    """Register a schedule under the name of its function."""
    SCHEDULES[function.__name__] = function
    return function


def head_spread(heads: int) -> Gamma:
    """RetNet's mild variation across heads, from 1/32 down to 1/512."""
    return np.exp(np.linspace(math.log(1 / 32), math.log(1 / 512), heads))


@schedule
def original(position: LayerPosition, subtractor: float) -> Gamma:
    """RetNet's own schedule: every layer has a long memory; `subtractor` is unused."""
    return 1 - head_spread(position.heads)


@schedule
def small(position: LayerPosition, subtractor: float) -> Gamma:
    """Every layer forgets fast."""
    return 1 - subtractor - head_spread(position.heads)


@schedule
def headwise(position: LayerPosition, subtractor: float) -> Gamma:
    """Heads range from fast to slow, the same in every layer."""
    return 1 - 1 / 32 - subtractor * np.linspace(1, 0, position.heads)


@schedule
def layerwise(position: LayerPosition, subtractor: float) -> Gamma:
    """Early layers forget fast, late layers have a long memory (paper, eq. 10)."""
    return 1 - subtractor * (1 - position.depth) - head_spread(position.heads)


class DecayConfig:
    """The decay of the layers."""


@dataclass(frozen=True)
class Scheduled(DecayConfig):
    """A named schedule; `subtractor` is γ_subtractor of the paper, tuned there to 0.86 on IAM."""

    schedule: str = "layerwise"
    subtractor: float = 0.86

    def __post_init__(self) -> None:
        if self.schedule not in SCHEDULES:
            raise ConfigError(f"unknown decay schedule {self.schedule!r}; known: {', '.join(SCHEDULES)}")
        if self.schedule == "original":  # equal decays compare equal
            object.__setattr__(self, "subtractor", type(self).subtractor)

    def gamma(self, position: LayerPosition) -> Gamma:
        """γ of each head (H,) in a layer.

        Raises:
            ConfigError: if any γ leaves (0, 1).
        """
        gamma = SCHEDULES[self.schedule](position, self.subtractor)
        if not 0 < gamma.min() <= gamma.max() < 1:
            raise ConfigError(f"γ must stay between 0 and 1; {self} gives {gamma.tolist()} at layer {position.layer}")
        return gamma

    def log_gamma(self, position: LayerPosition) -> NDArray[np.float32]:
        """Log γ of each head (H,) in a layer, as networks compute with it."""
        return np.log(self.gamma(position)).astype(np.float32)
