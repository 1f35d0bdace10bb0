"""The decay of a layer: a factor γ in (0, 1) per head.

γ is either scheduled, as a function of the layer's position in the network, or gated, computed from the text. The
larger γ, the longer the memory.
"""

from abc import ABC, abstractmethod
from functools import singledispatch

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from drethtr.recognition.model.decay import DecayConfig, Gated, LayerPosition, Scheduled


class Decay(nn.Module, ABC):
    """log γ for every head and token, at most 0."""

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """Token vectors (B, N, width) to log γ, (B, H, N), or (1, H, N) if the same for all lines."""


class ScheduledDecay(Decay):
    """One γ per head, for every token."""

    log_gamma: Tensor

    def __init__(self, log_gamma: Tensor) -> None:
        super().__init__()
        self.register_buffer("log_gamma", log_gamma, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.log_gamma[None, :, None].expand(1, -1, x.shape[1])


class GatedDecay(Decay):
    """γ = sigmoid(x W)^(1/τ): each token decides how much of the past to keep (paper, eq. 5)."""

    def __init__(self, width: int, heads: int, temperature: float) -> None:
        super().__init__()
        self.gate = nn.Linear(width, heads, bias=False)
        self.temperature = temperature

    def forward(self, x: Tensor) -> Tensor:
        return F.logsigmoid(self.gate(x).to(torch.promote_types(x.dtype, torch.float32))).mT / self.temperature


def log_gamma(decay: Scheduled, position: LayerPosition) -> Tensor:
    """Log γ of each head, (H,); on the CPU even while a network is built on the meta device."""
    return torch.from_numpy(decay.log_gamma(position))


@singledispatch
def build_decay(config: DecayConfig, position: LayerPosition, width: int) -> Decay:
    """Build the decay of a layer."""
    raise TypeError(f"no decay is registered for {config!r}")


@build_decay.register
def scheduled(config: Scheduled, position: LayerPosition, width: int) -> Decay:
    """Build a scheduled decay."""
    return ScheduledDecay(log_gamma(config, position))


@build_decay.register
def gated(config: Gated, position: LayerPosition, width: int) -> Decay:
    """Build a gated decay with fresh weights."""
    return GatedDecay(width, position.heads, config.temperature)
