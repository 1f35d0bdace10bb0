"""Embeddings: text tokens, and the positions of text and image tokens."""

import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from drethtr.network.variants import Variants
from drethtr.recognition.model.architecture import Learned, Sinusoidal, Unplaced


def sinusoid(positions: Tensor, width: int) -> Tensor:
    """Sines, then cosines, of positions (...), which may be fractional, at width/2 wavelengths: (..., width)."""
    half = width // 2
    exact = "cpu" if positions.device.type == "mps" else positions.device  # Apple's GPUs have no float64
    steps = torch.arange(half, device=exact, dtype=torch.float64)
    # half - 1, not half: as in the released code, so that the slowest wavelength is exactly 10,000 x 2π.
    frequencies = torch.exp(-math.log(10_000) * steps / (half - 1)).to(positions)
    angles = positions[..., None] * frequencies
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


class TextEmbedding(nn.Module):
    """Tokens (R, N) to vectors (R, N, width); dropout precedes the position, as published."""

    def __init__(self, vocabulary: int, width: int, dropout: float, *, placed: bool = True) -> None:
        super().__init__()
        # torch would draw numbers, which loads a compiler on the meta device; `initialize` draws the weights.
        self.tokens = nn.Embedding(vocabulary, width, _weight=torch.zeros(vocabulary, width))
        self.dropout = nn.Dropout(dropout)
        self.placed = placed

    def forward(self, tokens: Tensor, places: Tensor) -> Tensor:
        """Embed N tokens at positions (N) or (R, N) in their texts, where BOS has position 0."""
        x: Tensor = self.dropout(self.tokens(tokens))
        if not self.placed:
            return x
        exact = torch.promote_types(x.dtype, torch.float32)  # half precision cannot count beyond 256
        return x + sinusoid(places.to(exact), x.shape[-1]).to(x.dtype)


class ImagePositions(nn.Module, ABC):
    """Adds positions to image tokens (B, I, width), of which `counts` (B,) are not padding."""

    @abstractmethod
    def forward(self, x: Tensor, counts: Tensor) -> Tensor: ...


POSITIONS = Variants[ImagePositions]("positions")
"""Made from config and width."""


@POSITIONS.computes(Learned)
class LearnedImagePositions(ImagePositions):
    """One vector per position; over a longer line, the table is stretched."""

    def __init__(self, config: Learned, width: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(1, config.places, width))

    def forward(self, x: Tensor, counts: Tensor) -> Tensor:
        tokens, last = x.shape[1], self.table.shape[1] - 1
        if tokens <= last + 1:
            return x + self.table[:, :tokens]
        # Each line by its own length, so that it does not depend on other lines of the batch.
        stretch = last / (counts - 1).clamp(min=max(last, 1))
        at = (torch.arange(tokens, device=x.device) * stretch[:, None]).clamp(max=last)
        before, table = at.long(), self.table[0]
        after = (before + 1).clamp(max=last)
        return x + table[before].lerp(table[after], (at - before)[..., None].to(table.dtype))


@POSITIONS.computes(Sinusoidal)
class SinusoidalImagePositions(ImagePositions):
    """Sinusoids of the token's number, as for text."""

    def __init__(self, config: Sinusoidal, width: int) -> None:
        super().__init__()

    def forward(self, x: Tensor, counts: Tensor) -> Tensor:
        return x + sinusoid(torch.arange(x.shape[1], device=x.device, dtype=torch.float32), x.shape[-1]).to(x.dtype)


@POSITIONS.computes(Unplaced)
class NoImagePositions(ImagePositions):
    """Adds nothing."""

    def __init__(self, config: Unplaced, width: int) -> None:
        super().__init__()

    def forward(self, x: Tensor, counts: Tensor) -> Tensor:
        return x
