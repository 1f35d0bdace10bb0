"""The line reader of PP-OCRv6 (small): a PP-LCNet of convolutions and a neck of two attention blocks.

It was trained on printed and handwritten text of many languages; `drethtr.network.pretrained` loads its weights. The
modules are defined in the order in which the published graph runs them, on which loading relies.

Shapes, everywhere in this file: B lines, N tokens, C channels.
Source: PP-OCR (Apache-2.0), as packed in rapidocr 3.10: PP-OCRv6_rec_small.onnx.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from drethtr.network.attention import softmax_attention
from drethtr.network.backbones.backbone import BACKBONES, Backbone, ImageFeatures
from drethtr.network.padded import MaskedConv, Padded, SqueezeExcitation, valid
from drethtr.recognition.model.architecture import (
    DESCENT,
    NECK,
    NECK_BLOCKS,
    NECK_HEADS,
    PPOCR,
    PPOCR_STAGES,
    PPOCR_STEM,
)


class Stem(nn.Module):
    """Reduces height and width to a quarter, with a max-pooling path and a convolutional one."""

    def __init__(self, inputs: int, width: int, outputs: int) -> None:
        super().__init__()
        self.enter = MaskedConv(inputs, width, (3, 3), (2, 2))
        self.narrow = MaskedConv(width, width // 2, (2, 2))
        self.widen = MaskedConv(width // 2, width, (2, 2))
        self.merge = MaskedConv(2 * width, width, (3, 3), (2, 2))
        self.expand = MaskedConv(width, outputs, (1, 1))

    def forward(self, images: Padded) -> Padded:
        """(B, inputs, H, W) to (B, outputs, H/4, W/4)."""
        # Max pooling also sees the right neighbor, which would be padding at the end of a line.
        x = self.enter(images, F.relu).zero_margin(1)
        mixed = self.widen(self.narrow(x, F.relu), F.relu)
        x = x._replace(pixels=torch.cat((strongest_of_four(x.pixels), mixed.pixels), dim=1))
        return self.expand(self.merge(x, F.relu), F.relu)  # type: ignore[no-any-return]


def strongest_of_four(pixels: Tensor) -> Tensor:
    """The maximum of each pixel and its right, lower and lower right neighbors, with zero padding; same shape.

    Equivalent to `F.max_pool2d(F.pad(pixels, (0, 1, 0, 1)), 2, stride=1)`, in less than half the time.
    """
    return LargerNeighbor.apply(LargerNeighbor.apply(F.pad(pixels, (0, 1, 0, 1)), 2), 3)  # type: ignore[no-any-return, no-untyped-call]


class LargerNeighbor(torch.autograd.Function):
    """max(x_i, x_{i+1}) along a dimension; ties pass the gradient to x_i. `torch.maximum` takes three times as long."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int) -> Tensor:
        first, second = x.narrow(dim, 0, x.shape[dim] - 1), x.narrow(dim, 1, x.shape[dim] - 1)
        ctx.dim = dim
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(second > first)
        return torch.maximum(first, second)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (chosen,) = ctx.saved_tensors
        to_second = gradient * chosen
        of_x = F.pad(gradient - to_second, (0, 1) if ctx.dim == 3 else (0, 0, 0, 1))
        of_x.narrow(ctx.dim, 1, gradient.shape[ctx.dim]).add_(to_second)
        return of_x, None


class ConvBlock(nn.Module):
    """A depthwise convolution, then an MLP with a residual around it."""

    def __init__(self, channels: int, *, squeezed: bool) -> None:
        super().__init__()
        self.depthwise = MaskedConv(channels, channels, (3, 3), groups=channels)
        self.squeeze = SqueezeExcitation(channels, channels // 4, F.relu, F.hardsigmoid) if squeezed else nn.Identity()
        self.expand = MaskedConv(channels, 2 * channels, (1, 1))
        self.project = MaskedConv(2 * channels, channels, (1, 1))

    def forward(self, x: Padded) -> Padded:
        """Same shape."""
        x = self.squeeze(self.depthwise(x))
        return self.project(self.expand(x, F.gelu), residual=x.pixels)  # type: ignore[no-any-return]


class Descent(nn.Module):
    """The block between two stages: fewer rows or columns, more channels, no residual."""

    def __init__(self, inputs: int, outputs: int, stride: tuple[int, int]) -> None:
        super().__init__()
        self.depthwise = MaskedConv(inputs, inputs, (3, 3), stride, groups=inputs)
        self.expand = MaskedConv(inputs, 2 * inputs, (1, 1))
        self.project = MaskedConv(2 * inputs, outputs, (1, 1))

    def forward(self, x: Padded) -> Padded:
        """(B, inputs, H, W) to (B, outputs, H / stride, W / stride)."""
        return self.project(self.expand(self.depthwise(x), F.gelu))  # type: ignore[no-any-return]


class AttentionBlock(nn.Module):
    """A pre-norm transformer block over the tokens of a line."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(width)
        self.to_qkv = nn.Linear(width, 3 * width)
        self.to_out = nn.Linear(width, width)
        self.mlp_norm = nn.LayerNorm(width)
        self.expand = nn.Linear(width, 2 * width)
        self.project = nn.Linear(2 * width, width)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Same shape (B, N, width); the boolean mask (B, 1, 1, N) is true for tokens to attend to."""
        q, k, v = self.to_qkv(self.attention_norm(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        mixed = softmax_attention(q, k, v, mask)
        x = x + self.to_out(mixed.transpose(1, 2).flatten(2))
        return x + self.project(F.silu(self.expand(self.mlp_norm(x))))  # type: ignore[no-any-return]


class Neck(nn.Module):
    """Attention of tokens to the whole line (SVTR); batch norms are folded into the convolutions."""

    def __init__(self, inputs: int, width: int, heads: int) -> None:
        super().__init__()
        self.shortcut = MaskedConv(inputs, width, (1, 1))
        self.reduce = MaskedConv(inputs, width, (1, 1))
        self.sideways = MaskedConv(width, width, (1, 7), groups=width)
        self.blocks = nn.ModuleList(AttentionBlock(width, heads) for _ in range(NECK_BLOCKS))
        self.norm = nn.LayerNorm(width, eps=1e-6)

    def forward(self, x: Padded) -> Tensor:
        """(B, inputs, 1, N) to (B, N, width)."""
        shortcut = self.shortcut(x, F.silu).pixels
        x = self.reduce(x, F.silu)
        x = x.map(self.sideways(x, F.silu).pixels.add)
        mask = None if x.full else valid(x.widths, x.pixels.shape[-1])[:, None, None]
        tokens = x.pixels.flatten(2).transpose(1, 2)
        for block in self.blocks:
            tokens = block(tokens, mask)
        return self.norm(tokens) + shortcut.flatten(2).transpose(1, 2)  # type: ignore[no-any-return]


@BACKBONES.computes(PPOCR)
class PPOCRBackbone(Backbone):
    """Tokens of pooled convolutional features, followed by the `draft_width` features that PP-OCR reads from."""

    columns_per_token = 8
    draft_width = NECK
    width = PPOCR_STAGES[-1][0] + NECK
    early = ("stem.", *(f"blocks.{number}." for number in range(len(PPOCR_STAGES[0][1]))))

    def __init__(self, config: PPOCR) -> None:
        super().__init__()
        self.height = config.height
        channels = PPOCR_STAGES[0][0]
        self.stem = Stem(1, PPOCR_STEM, channels)
        self.blocks = nn.Sequential()
        for width, blocks in PPOCR_STAGES:
            if width != channels:
                self.blocks.append(Descent(channels, width, (2, 1)))
            channels = width
            self.blocks.extend(ConvBlock(channels, squeezed=squeezed) for squeezed in blocks)
        self.neck = Neck(channels, NECK, NECK_HEADS)

    def forward(self, images: Tensor, widths: Tensor) -> ImageFeatures:
        """See `Backbone`: (B, 1, height, W) to (B, ceil(W / 4) // 2, 504), with at least one token."""
        x = self.blocks(self.stem(self.padded(images, widths)))
        pooled = Padded(F.avg_pool2d(x.pixels, (self.height // DESCENT, 2)), x.widths // 2, x.full)
        convolved = pooled.pixels.flatten(2).transpose(1, 2)
        tokens = torch.cat((convolved, self.neck(pooled)), dim=-1)
        if not pooled.full:
            # The neck leaves values in the padding; the decoder must see none.
            tokens = tokens * valid(pooled.widths, tokens.shape[1])[..., None].to(tokens.dtype)
        return ImageFeatures(tokens, pooled.widths)
