"""The decay of a layer: a factor γ in (0, 1) per head; the larger γ, the longer the memory (paper, eq. 10).

`recognition/model/decay.py` has the schedules of γ, which both backends compute with.
"""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from drethtr.network.variants import Variants
from drethtr.recognition.model.decay import LayerPosition, Scheduled


class Decay(nn.Module, ABC):
    """log γ for every head and token, at most 0."""

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """Token vectors (B, N, width) to log γ, (B, H, N), or (1, H, N) if the same for all lines."""


DECAYS = Variants[Decay]("decay")
"""Made from config, position of the layer, and width of the network."""


@DECAYS.computes(Scheduled)
class ScheduledDecay(Decay):
    """One γ per head, the same for every token."""

    log_gamma: Tensor

    def __init__(self, config: Scheduled, position: LayerPosition, width: int) -> None:
        super().__init__()
        self.register_buffer("log_gamma", log_gamma(config, position), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.log_gamma[None, :, None].expand(1, -1, x.shape[1])


def log_gamma(decay: Scheduled, position: LayerPosition) -> Tensor:
    """Log γ of each head, (H,); on the CPU even while a network is built on the meta device."""
    return torch.from_numpy(decay.log_gamma(position))
