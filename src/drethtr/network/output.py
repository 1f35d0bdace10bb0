"""The step between the output of the heads and the projection back to the network's width.

DRetHTR has none. RetNet's own block normalizes and gates every head; the paper omits both (Sec. 4.1.2).

Shapes, everywhere in this file: found, x (B, N, width), the heads of a token next to each other.
Source: RetNet, arXiv 2307.08621, Sec. 2.3.
"""

from abc import ABC, abstractmethod
from functools import singledispatch

import torch.nn.functional as F
from torch import Tensor, nn

from drethtr.recognition.model.architecture import HeadNorm, OutputConfig, Plain, Sigmoid, SwishGate


class Output(nn.Module, ABC):
    """Changes the output of a layer's heads; with `on_image`, also that of image tokens."""

    on_image: bool = True

    @abstractmethod
    def forward(self, found: Tensor, x: Tensor) -> Tensor:
        """Change the output `found` of the heads; `x` are the layer's input tokens after its norm."""

    def of_image(self, found: Tensor, x: Tensor) -> Tensor:
        """Change the output for image tokens, if `on_image` is set."""
        changed: Tensor = self(found, x) if self.on_image else found
        return changed


class PlainOutput(Output):
    """No change."""

    def forward(self, found: Tensor, x: Tensor) -> Tensor:
        return found


class SigmoidOutput(Output):
    """A sigmoid."""

    def forward(self, found: Tensor, x: Tensor) -> Tensor:
        return found.sigmoid()


class NormedHeads(Output):
    """Norms every head of every token separately."""

    def __init__(self, width: int, heads: int, *, on_image: bool) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(heads, width)
        self.on_image = on_image

    def forward(self, found: Tensor, x: Tensor) -> Tensor:
        normed: Tensor = self.norm(found.flatten(0, 1)).view_as(found)
        return normed


class SwishGated(NormedHeads):
    """Norms the heads, then gates each channel by the token."""

    def __init__(self, width: int, heads: int, *, on_image: bool) -> None:
        super().__init__(width, heads, on_image=on_image)
        self.gate = nn.Linear(width, width, bias=False)

    def forward(self, found: Tensor, x: Tensor) -> Tensor:
        return F.silu(self.gate(x)) * super().forward(found, x)


@singledispatch
def build_output(config: OutputConfig, width: int, heads: int) -> Output:
    """Build the output step of a layer."""
    raise TypeError(f"no output is registered for {config!r}")


@build_output.register
def plain(config: Plain, width: int, heads: int) -> Output:
    """Build the identity."""
    return PlainOutput()


@build_output.register
def sigmoid(config: Sigmoid, width: int, heads: int) -> Output:
    """Build a sigmoid."""
    return SigmoidOutput()


@build_output.register
def head_norm(config: HeadNorm, width: int, heads: int) -> Output:
    """Build a norm per head."""
    return NormedHeads(width, heads, on_image=config.on_image)


@build_output.register
def swish_gate(config: SwishGate, width: int, heads: int) -> Output:
    """Build a norm per head, followed by a gate."""
    return SwishGated(width, heads, on_image=config.on_image)
