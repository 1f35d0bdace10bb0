"""EfficientNetV2-S, the paper's backbone, for gray lines; parameters are named and shaped as in torchvision.

In training, batch norm includes the padding of shorter lines, another reason to batch lines of similar width; in
evaluation it uses running statistics, and padding has no effect.

Shapes, everywhere in this file: B lines, C channels, N tokens.
Source: paper, Sec. 4.1.1; EfficientNetV2, arXiv 2104.00298, Table 4.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from drethtr.base.errors import DataError
from drethtr.network.backbones.backbone import BACKBONES, Backbone, ImageFeatures, Normed, start_before_relu
from drethtr.network.padded import MaskedConv, Padded, SqueezeExcitation, valid
from drethtr.recognition.model.architecture import EfficientNetV2S


class Stage(NamedTuple):
    """Blocks of equal width. Fused blocks have one 3x3 convolution instead of a 1x1 and a depthwise 3x3."""

    fused: bool
    expansion: int
    channels: int
    blocks: int
    stride: int


STEM_CHANNELS = 24
STAGES = (
    Stage(fused=True, expansion=1, channels=24, blocks=2, stride=1),
    Stage(fused=True, expansion=4, channels=48, blocks=4, stride=2),
    Stage(fused=True, expansion=4, channels=64, blocks=4, stride=2),
    Stage(fused=False, expansion=4, channels=128, blocks=6, stride=2),
    Stage(fused=False, expansion=6, channels=160, blocks=9, stride=1),
    Stage(fused=False, expansion=6, channels=256, blocks=15, stride=2),
)
LAST_CHANNELS = 1280
ROWS = 2


class ConvNorm(nn.Sequential, Normed):
    """A convolution, a batch norm and an activation."""

    norms = (("0", "1"),)

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel: int,
        *then: nn.Module,
        stride: tuple[int, int] = (1, 1),
        groups: int = 1,
    ) -> None:
        conv = MaskedConv(inputs, outputs, (kernel, kernel), stride, groups=groups, bias=False)
        start_before_relu(conv.weight)
        super().__init__(conv, nn.BatchNorm2d(outputs, eps=1e-3), *then)

    def forward(self, x: Padded) -> Padded:
        """(B, inputs, H, W) to (B, outputs, H / stride, W / stride)."""
        conv, *columnwise = self
        x = conv(x)
        for layer in columnwise:
            x = x.map(layer)
        return x


class Block(nn.Module):
    """A residual branch that a line skips with probability `drop` in training (stochastic depth, arXiv 1603.09382)."""

    def __init__(self, branch: nn.Sequential, *, residual: bool, drop: float) -> None:
        super().__init__()
        self.block = branch
        self.residual = residual
        self.drop = drop

    def forward(self, x: Padded) -> Padded:
        """Apply the branch, and add `x` if the shapes allow."""
        y: Padded = self.block(x)
        if not self.residual:
            return y
        if self.training and self.drop:
            kept = torch.empty(len(y.pixels), 1, 1, 1, device=y.pixels.device).bernoulli_(1 - self.drop)
            y = y.map((kept / (1 - self.drop)).to(y.pixels.dtype).mul)
        return y.map(x.pixels.add)


def silu(dropout: float) -> nn.Module:
    """The activation, followed by dropout if there is any (paper, Sec. 4.1.1)."""
    return nn.Sequential(nn.SiLU(), nn.Dropout(dropout)) if dropout else nn.SiLU()


def branch(stage: Stage, inputs: int, stride: int, dropout: float) -> nn.Sequential:
    """The layers of one block of a stage."""
    outputs, hidden = stage.channels, inputs * stage.expansion
    strides = (stride, stride)
    if stage.fused and stage.expansion == 1:
        return nn.Sequential(ConvNorm(inputs, outputs, 3, silu(dropout), stride=strides))
    if stage.fused:
        return nn.Sequential(
            ConvNorm(inputs, hidden, 3, silu(dropout), stride=strides),
            ConvNorm(hidden, outputs, 1),
        )
    return nn.Sequential(
        ConvNorm(inputs, hidden, 1, silu(dropout)),
        ConvNorm(hidden, hidden, 3, silu(dropout), stride=strides, groups=hidden),
        SqueezeExcitation(hidden, inputs // 4, silu(dropout), torch.sigmoid),
        ConvNorm(hidden, outputs, 1),
    )


@BACKBONES.computes(EfficientNetV2S)
class EfficientNetBackbone(Backbone):
    """Tokens of ceil(columns / 16), each the two rows of the last feature map: channel c, row r at 2c + r."""

    height = 64
    columns_per_token = 16
    width = LAST_CHANNELS * ROWS

    def __init__(self, config: EfficientNetV2S) -> None:
        super().__init__()
        self.canvas = config.canvas
        channels, blocks, total = STEM_CHANNELS, 0, sum(stage.blocks for stage in STAGES)
        self.features = nn.Sequential(ConvNorm(1, channels, 3, silu(config.dropout), stride=(2, 1)))
        for stage in STAGES:
            layers = nn.Sequential()
            for stride in (stage.stride,) + (1,) * (stage.blocks - 1):
                layers.append(
                    Block(
                        branch(stage, channels, stride, config.dropout),
                        residual=stride == 1 and channels == stage.channels,
                        drop=config.stochastic_depth * blocks / total,
                    )
                )
                channels, blocks = stage.channels, blocks + 1
            self.features.append(layers)
        self.features.append(ConvNorm(channels, LAST_CHANNELS, 1, silu(config.dropout)))

    @property
    def widest(self) -> int | None:
        """The canvas, if there is one."""
        return self.canvas

    def forward(self, images: Tensor, widths: Tensor) -> ImageFeatures:
        """See `Backbone`: (B, 1, 64, W) to (B, ceil(W / 16), 2560)."""
        x = self.padded(images, widths)
        if self.canvas is not None:
            x = on_canvas(x, self.canvas)
        x = self.features(x).cleared()
        return ImageFeatures(x.pixels.permute(0, 3, 1, 2).flatten(2), x.widths)


def on_canvas(x: Padded, columns: int) -> Padded:
    """Put the lines on canvases of equal width, whose whole width then counts as the line.

    Raises:
        DataError: if a line is wider than the canvas.
    """
    if x.pixels.shape[-1] > columns and (widest := int(x.widths.max())) > columns:
        raise DataError(f"a line of {widest} columns is wider than this backbone's canvas of {columns}; shrink it")
    pixels = F.pad(x.pixels[..., :columns], (0, max(0, columns - x.pixels.shape[-1])))
    pixels = pixels.masked_fill(~valid(x.widths, columns)[:, None, None], -1.0)
    return Padded(pixels, torch.full_like(x.widths, columns), full=True)
