"""How fast a layer forgets: a decay factor γ in (0, 1) for every head.

γ is either scheduled, a pure function of the layer's place in the network,
or gated, read from the text itself. The larger γ, the longer the memory.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from drethtr.base.errors import ConfigError


class Place(NamedTuple):
    """Where a layer stands: number `layer`, from 0, of `layers`, each with `heads` heads."""

    layer: int
    layers: int
    heads: int

    @property
    def depth(self) -> float:
        """0 at the first layer, 1 at the last; a single layer is the last."""
        return self.layer / (self.layers - 1) if self.layers > 1 else 1.0


Schedule = Callable[[Place, float], Tensor]
SCHEDULES: dict[str, Schedule] = {}


def schedule(function: Schedule) -> Schedule:
    """Register a schedule under the name of its function."""
    SCHEDULES[function.__name__] = function
    return function


def head_spread(heads: int) -> Tensor:
    """RetNet's mild variation across heads, from 1/32 down to 1/512."""
    return torch.linspace(math.log(1 / 32), math.log(1 / 512), heads).exp()


@schedule
def original(place: Place, subtractor: float) -> Tensor:
    """RetNet's own choice: every layer remembers far."""
    return 1 - head_spread(place.heads)


@schedule
def small(place: Place, subtractor: float) -> Tensor:
    """Every layer forgets fast."""
    return 1 - subtractor - head_spread(place.heads)


@schedule
def headwise(place: Place, subtractor: float) -> Tensor:
    """Heads range from fast to slow, alike in every layer."""
    return 1 - 1 / 32 - subtractor * torch.linspace(1, 0, place.heads)


@schedule
def layerwise(place: Place, subtractor: float) -> Tensor:
    """Early layers forget fast, late layers remember far (paper, eq. 10)."""
    return 1 - subtractor * (1 - place.depth) - head_spread(place.heads)


class Decay(nn.Module, ABC):
    """log γ for every head and token, at most 0."""

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """Token vectors (B, N, width) to log γ, (B, H, N) or (1, H, N) if the same for all."""


class ScheduledDecay(Decay):
    """The same γ for every token."""

    log_gamma: Tensor

    def __init__(self, gamma: Tensor) -> None:
        super().__init__()
        self.register_buffer("log_gamma", gamma.log(), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.log_gamma[None, :, None].expand(1, -1, x.shape[1])


class GatedDecay(Decay):
    """γ = sigmoid(x W)^(1/τ): each token says how much of the past to keep (paper, eq. 5)."""

    def __init__(self, width: int, heads: int, temperature: float) -> None:
        super().__init__()
        self.gate = nn.Linear(width, heads, bias=False)
        self.temperature = temperature

    def forward(self, x: Tensor) -> Tensor:
        return F.logsigmoid(self.gate(x).to(torch.promote_types(x.dtype, torch.float32))).mT / self.temperature


class DecayConfig(ABC):
    """Which decay a layer gets."""

    @abstractmethod
    def build(self, place: Place, width: int) -> Decay: ...


@dataclass(frozen=True)
class Scheduled(DecayConfig):
    """A named schedule; `subtractor` is γ_subtractor of the paper, tuned there to 0.86 on IAM."""

    schedule: str = "layerwise"
    subtractor: float = 0.86

    def __post_init__(self) -> None:
        if self.schedule not in SCHEDULES:
            raise ConfigError(f"unknown decay schedule {self.schedule!r}; known: {', '.join(SCHEDULES)}")

    def gamma(self, place: Place) -> Tensor:
        """γ of each head (H,) in a layer.

        Raises:
            ConfigError: if any γ leaves (0, 1).
        """
        with torch.device("cpu"):  # the values are wanted now, also of a network that is built on the meta device
            gamma = SCHEDULES[self.schedule](place, self.subtractor)
        if not 0 < float(gamma.min()) <= float(gamma.max()) < 1:
            raise ConfigError(f"{self} leaves (0, 1) at layer {place.layer}: γ = {gamma.tolist()}")
        return gamma

    def build(self, place: Place, width: int) -> Decay:
        return ScheduledDecay(self.gamma(place))


@dataclass(frozen=True)
class Gated(DecayConfig):
    """Data-dependent γ; τ = 16 follows YOCO."""

    temperature: float = 16.0

    def __post_init__(self) -> None:
        if not 0 < self.temperature < math.inf:
            raise ConfigError(f"the temperature of a gate must be above 0 and finite, not {self.temperature}")

    def build(self, place: Place, width: int) -> Decay:
        return GatedDecay(width, place.heads, self.temperature)
