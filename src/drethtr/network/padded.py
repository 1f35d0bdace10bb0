"""Convolutions over lines of different widths in one batch, each computed as if it were alone.

A batch is as wide as its widest line. A layer that sees neighboring columns would see the padding of a shorter line, so
it clears those columns first: each line then sees at its right edge the zeros with which a convolution pads. Layers
that treat every column separately need no clearing; their output in the padding has no meaning.

Shapes, everywhere in this file: B lines, C channels, H rows, W columns.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Activation = Callable[[Tensor], Tensor]


def valid(lengths: Tensor, size: int) -> Tensor:
    """A mask (B, size), true for positions within each line's length (B,)."""
    return torch.arange(size, device=lengths.device) < lengths[:, None]


def mask_of(lengths: Tensor, size: int) -> Tensor | None:
    """`valid`, or None on a CPU if no line has padding; finding out would stall an accelerator, which gets a mask."""
    mask = valid(lengths, size)
    return None if mask.device.type == "cpu" and bool(mask.all()) else mask


class Padded(NamedTuple):
    """Feature maps (B, C, H, W), and the width of each line in columns, int64 (B,).

    `full`: no line has padding, so nothing needs to be cleared. This is determined once, in `of`, as checking the
    tensor in every layer would stall the accelerator.
    """

    pixels: Tensor
    widths: Tensor
    full: bool

    @classmethod
    def of(cls, images: Tensor, widths: Tensor, *, at_least: int) -> "Padded":
        """Wrap images (B, 1, H, W) in [-1, 1]; lines narrower than `at_least` columns get paper, −1, on the right.

        Widths should be in the host's memory, since reading them from an accelerator would stall it.
        """
        narrowest = int(widths.min())
        widths = widths.to(images.device, non_blocking=True)
        if narrowest < at_least:
            images = F.pad(images, (0, max(0, at_least - images.shape[-1])))
            images = images.masked_fill(~valid(widths, images.shape[-1])[:, None, None], -1.0)
            widths = widths.clamp(min=at_least)
        full = max(narrowest, at_least) == images.shape[-1]
        return cls(images if full else images.clone(), widths, full)  # a copy, because `zero_margin` writes into it

    def map(self, layer: Callable[[Tensor], Tensor]) -> "Padded":
        """Apply a layer that treats every column separately."""
        return self._replace(pixels=layer(self.pixels))

    def cleared(self) -> "Padded":
        """Set all padding to zero."""
        if self.full:
            return self
        kept = valid(self.widths, self.pixels.shape[-1])[:, None, None].to(self.pixels.dtype)
        return self._replace(pixels=self.pixels * kept)

    def zero_margin(self, columns: int) -> "Padded":
        """Set this many columns right of each line to zero: all that a narrow kernel sees.

        On a CPU without gradients this is done in place: copying all pixels would take a tenth of a network's time.
        """
        if self.full:
            return self
        if torch.is_grad_enabled() or self.pixels.device.type != "cpu":
            return self.cleared()
        for pixels, width in zip(self.pixels, self.widths.tolist(), strict=True):
            pixels[..., width : width + columns] = 0
        return self

    def mean(self) -> Tensor:
        """Mean over all rows and the columns of each line, (B, C, 1, 1)."""
        rows, columns = self.pixels.shape[2:]
        share = valid(self.widths, columns) / (rows * self.widths[:, None])
        # As a product, since the gradient of a sum has a different memory layout than the pixels, and takes five times
        # as long.
        shares = share.to(self.pixels.dtype)[:, None].expand(-1, rows, -1).flatten(1)
        return (shares[:, None] @ self.pixels.flatten(2).mT).mT[..., None]


class MaskedConv(nn.Conv2d):
    """A convolution of `Padded` to ceil(width / stride) columns; an even kernel extends to the lower right."""

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel: tuple[int, int],
        stride: tuple[int, int] = (1, 1),
        *,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        around = ((kernel[0] - 1) // 2, (kernel[1] - 1) // 2)
        super().__init__(inputs, outputs, kernel, stride, around, groups=groups, bias=bias)

    def forward(  # type: ignore[override]  # a layer of Padded, not of Tensor
        self, x: Padded, activation: Activation | None = None, residual: Tensor | None = None
    ) -> Padded:
        """Convolve, then apply an activation or add a residual; only a kernel wider than one column needs clearing."""
        (rows, columns), stride = self.kernel_size, self.stride[1]
        pixels = x.zero_margin(columns // 2).pixels if columns > 1 else x.pixels
        if rows % 2 == 0 or columns % 2 == 0:
            pixels = F.pad(pixels, (0, 1 - columns % 2, 0, 1 - rows % 2))
        # A linear layer in place of a 1 x 1 convolution takes a quarter longer (LOG.md, 2026-11-22, later).
        found = F.conv2d(pixels, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)
        if activation is not None:
            found = activated(activation, found)
        if residual is not None:
            found = found + residual
        return Padded(found, (x.widths + stride - 1) // stride, x.full)


def activated(activation: Activation, pixels: Tensor) -> Tensor:
    """Apply an activation to each pixel.

    PyTorch uses its fast kernels only if the last dimension is contiguous, so channels-last pixels are permuted: GELU
    then takes half the time (LOG.md, 2026-11-22).
    """
    if pixels.is_contiguous(memory_format=torch.channels_last):
        return activation(pixels.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
    return activation(pixels)


class SqueezeExcitation(nn.Module):
    """Scales each channel by a gate computed from the whole line (arXiv 1709.01507)."""

    def __init__(self, channels: int, squeezed: int, activation: Activation, gate: Activation) -> None:
        super().__init__()
        self.fc1 = nn.Conv2d(channels, squeezed, 1)
        self.fc2 = nn.Conv2d(squeezed, channels, 1)
        self.activation = activation
        self.gate = gate

    def forward(self, x: Padded) -> Padded:
        """Gate the channels by their means over each line."""
        scale = self.gate(self.fc2(self.activation(self.fc1(x.mean()))))
        return x.map(lambda pixels: pixels * scale)
