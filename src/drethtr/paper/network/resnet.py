"""ResNet-50 for gray lines; parameters are named and shaped as in torchvision, except for the stem's single channel.

The paper compares with it (Sec. 5.5.2) but does not state its horizontal resolution, and the released code for it does
not run. Both variants here have a token per 16 columns; one keeps 4 rows, the other 2.

Shapes, everywhere in this file: B lines, C channels, N tokens.
Source: arXiv 1512.03385.
"""

from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor, nn

from drethtr.network.backbones import BACKBONES, Backbone, ImageFeatures, Normed, start_before_relu
from drethtr.network.padded import MaskedConv, Padded
from drethtr.paper.variants import ResNet50

Strides = tuple[int, int]


class Stage(NamedTuple):
    """Blocks of equal width, of which the first downsamples."""

    channels: int
    blocks: int


STEM_CHANNELS = 64
STAGES = (Stage(64, 3), Stage(128, 4), Stage(256, 6), Stage(512, 3))
EXPANSION = 4
STRIDES: dict[int, tuple[Strides, ...]] = {
    4: ((1, 1), (1, 1), (2, 2), (2, 2)),
    2: ((1, 1), (2, 2), (2, 2), (2, 1)),
}
"""Strides of the first block of each stage, by the number of final rows; the stem has downsampled by 4."""


def conv(inputs: int, outputs: int, kernel: int, stride: Strides = (1, 1)) -> MaskedConv:
    """A convolution before a batch norm."""
    layer = MaskedConv(inputs, outputs, (kernel, kernel), stride, bias=False)
    start_before_relu(layer.weight)
    return layer


class Shortcut(nn.Sequential, Normed):
    """The residual of a block that changes shape: a 1x1 convolution and its norm."""

    norms = (("0", "1"),)

    def __init__(self, inputs: int, outputs: int, stride: Strides) -> None:
        super().__init__(conv(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))

    def forward(self, x: Padded) -> Padded:
        """(B, inputs, H, W) to (B, outputs, H / stride, W / stride)."""
        reduce, norm = self
        return reduce(x).map(norm)  # type: ignore[no-any-return]


class Bottleneck(Normed):
    """1x1, 3x3 and 1x1 convolutions, narrow inside, with a residual around them."""

    norms = (("conv1", "bn1"), ("conv2", "bn2"), ("conv3", "bn3"))

    def __init__(self, inputs: int, channels: int, stride: Strides, dropout: float) -> None:
        super().__init__()
        outputs = channels * EXPANSION
        self.conv1, self.bn1 = conv(inputs, channels, 1), nn.BatchNorm2d(channels)
        self.conv2, self.bn2 = conv(channels, channels, 3, stride), nn.BatchNorm2d(channels)
        self.conv3, self.bn3 = conv(channels, outputs, 1), nn.BatchNorm2d(outputs)
        self.downsample = Shortcut(inputs, outputs, stride) if inputs != outputs or stride != (1, 1) else None
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Padded) -> Padded:
        """(B, inputs, H, W) to (B, 4 x channels, H / stride, W / stride)."""
        around = x if self.downsample is None else self.downsample(x)
        y = self.conv1(x).map(self.bn1).map(F.relu).map(self.dropout)
        y = self.conv2(y).map(self.bn2).map(F.relu).map(self.dropout)
        y = self.conv3(y).map(self.bn3)
        return y.map(around.pixels.add).map(F.relu).map(self.dropout)  # type: ignore[no-any-return]


@BACKBONES.computes(ResNet50)
class ResNetBackbone(Backbone, Normed):
    """Tokens of ceil(columns / 16), each the rows of the last feature map: channel c, row r at rows x c + r."""

    norms = (("conv1", "bn1"),)
    height = 64
    columns_per_token = 16

    def __init__(self, config: ResNet50) -> None:
        super().__init__()
        self.width = STAGES[-1].channels * EXPANSION * config.rows
        self.conv1, self.bn1 = conv(1, STEM_CHANNELS, 7, (2, 2)), nn.BatchNorm2d(STEM_CHANNELS)
        self.dropout = nn.Dropout(config.dropout)
        inputs = STEM_CHANNELS
        for number, (stage, stride) in enumerate(zip(STAGES, STRIDES[config.rows], strict=True), start=1):
            blocks = nn.Sequential()
            for block_stride in (stride,) + ((1, 1),) * (stage.blocks - 1):
                blocks.append(Bottleneck(inputs, stage.channels, block_stride, config.dropout))
                inputs = stage.channels * EXPANSION
            setattr(self, f"layer{number}", blocks)

    def forward(self, images: Tensor, widths: Tensor) -> ImageFeatures:
        """See `Backbone`: (B, 1, 64, W) to (B, ceil(W / 16), 2048 x rows)."""
        x = self.conv1(self.padded(images, widths)).map(self.bn1).map(F.relu).map(self.dropout).cleared()
        # After a ReLU, zeros right of a line are equivalent to the minus infinity of max pooling.
        x = Padded(F.max_pool2d(x.pixels, 3, stride=2, padding=1), (x.widths + 1) // 2, x.full)
        for number in range(1, len(STAGES) + 1):
            x = getattr(self, f"layer{number}")(x)
        x = x.cleared()
        return ImageFeatures(x.pixels.permute(0, 3, 1, 2).flatten(2), x.widths)
