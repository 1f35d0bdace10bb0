"""What RetNet and the released code do with the output of the heads, before it is projected to the network's width.

RetNet's own block normalizes and gates every head; the paper omits both (Sec. 4.1.2).

Shapes, everywhere in this file: found, x (B, N, width), the heads of a token next to each other.
Source: RetNet, arXiv 2307.08621, Sec. 2.3.
"""

import torch.nn.functional as F
from torch import Tensor, nn

from drethtr.network.block import OUTPUTS, Output
from drethtr.paper.variants import HeadNorm, Sigmoid, SwishGate


@OUTPUTS.computes(Sigmoid)
class SigmoidOutput(Output):
    """A sigmoid."""

    def __init__(self, config: Sigmoid, width: int, heads: int) -> None:
        super().__init__()

    def forward(self, found: Tensor, x: Tensor) -> Tensor:
        return found.sigmoid()


@OUTPUTS.computes(HeadNorm)
class NormedHeads(Output):
    """Norms every head of every token separately."""

    def __init__(self, config: HeadNorm | SwishGate, width: int, heads: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(heads, width)
        self.on_image = config.on_image

    def forward(self, found: Tensor, x: Tensor) -> Tensor:
        normed: Tensor = self.norm(found.flatten(0, 1)).view_as(found)
        return normed


@OUTPUTS.computes(SwishGate)
class SwishGated(NormedHeads):
    """Norms the heads, then gates each channel by the token."""

    def __init__(self, config: SwishGate, width: int, heads: int) -> None:
        super().__init__(config, width, heads)
        self.gate = nn.Linear(width, width, bias=False)

    def forward(self, found: Tensor, x: Tensor) -> Tensor:
        return F.silu(self.gate(x)) * super().forward(found, x)
