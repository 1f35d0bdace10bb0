"""Image parts that the paper compares with (Sec. 5.5.2), patches as in vision transformers, and given tokens.

Shapes, everywhere in this file: B lines, C channels, N tokens, P pixels of a patch.
Sources: ResNet-50, arXiv 1512.03385; ViT, arXiv 2010.11929; ShallowCNN, the released code, for sizes that the paper
does not give.
"""

from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor, nn

from drethtr.base.errors import DataError
from drethtr.network.backbones import BACKBONES, Backbone, ImageFeatures, Normed, start_before_relu
from drethtr.network.padded import MaskedConv, Padded, valid
from drethtr.paper.variants import Given, Patches, ResNet50, ShallowCNN


@BACKBONES.computes(Patches)
class PatchBackbone(Backbone):
    """Norms, projects and norms every patch; an incomplete column of patches is padded with paper."""

    def __init__(self, config: Patches) -> None:
        super().__init__()
        self.height = config.height
        self.rows, self.columns = config.rows, config.columns
        self.in_column = config.height // config.rows
        self.columns_per_token = config.columns // self.in_column
        self.width = config.width
        pixels = config.rows * config.columns
        self.embed = nn.Sequential(nn.LayerNorm(pixels), nn.Linear(pixels, config.width), nn.LayerNorm(config.width))

    @property
    def narrowest(self) -> int:
        """The width of one patch."""
        return self.columns

    def forward(self, images: Tensor, widths: Tensor) -> ImageFeatures:
        """See `Backbone`: (B, 1, height, W) to (B, ceil(W / columns) x patches in a column, width)."""
        pixels, widths, full = self.padded(images, widths)
        if not full:
            pixels = pixels.masked_fill(~valid(widths, pixels.shape[-1])[:, None, None], -1.0)
        pixels = F.pad(pixels, (0, -pixels.shape[-1] % self.columns), value=-1.0)
        lines, _, height, width = pixels.shape
        patches = pixels.view(lines, height // self.rows, self.rows, width // self.columns, self.columns)
        tokens = self.embed(patches.permute(0, 3, 1, 2, 4).flatten(3).flatten(1, 2))  # (B, N, P) before
        counts = -(-widths // self.columns) * self.in_column
        return ImageFeatures(tokens * valid(counts, tokens.shape[1])[..., None].to(tokens.dtype), counts)


@BACKBONES.computes(Given)
class GivenTokens(Backbone):
    """Takes tokens (B, 1, N, width) instead of images and returns them unchanged."""

    columns_per_token = 1
    height = 0

    def __init__(self, config: Given) -> None:
        super().__init__()
        self.width = config.width

    def forward(self, images: Tensor, widths: Tensor) -> ImageFeatures:
        """See `Backbone`; `widths` counts tokens."""
        if images.ndim != 4 or images.shape[1] != 1 or images.shape[-1] != self.width:
            raise DataError(
                f"this network has no image encoder: it takes tokens (B, 1, N, {self.width}), not {tuple(images.shape)}"
            )
        return ImageFeatures(images[:, 0], widths)


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


CHANNELS = (16, 64, 128)
POOLED = {4: 4, 10: 2}
"""Rows pooled into one after the second convolution, by the number of final rows."""


@BACKBONES.computes(ShallowCNN)
class ShallowBackbone(Backbone):
    """A token per 8 columns, with channel c, row r at rows x c + r; the last few columns of a line may have none."""

    height = 64
    columns_per_token = 8

    def __init__(self, config: ShallowCNN) -> None:
        super().__init__()
        first, second, third = CHANNELS
        self.width = third * config.rows
        self.conv1 = nn.Conv2d(1, first, (6, 4), stride=2)
        self.conv2 = nn.Conv2d(first, second, (6, 4))
        self.pool2 = nn.MaxPool2d((POOLED[config.rows], 2))
        self.conv3 = nn.Conv2d(second, third, (3, 3))
        self.pool3 = nn.MaxPool2d((1, 2))
        self.activation = nn.LeakyReLU(0.01)
        self.dropout = nn.Dropout(config.dropout)

    @property
    def narrowest(self) -> int:
        """The receptive field of one token."""
        return 24

    def forward(self, images: Tensor, widths: Tensor) -> ImageFeatures:
        """See `Backbone`: (B, 1, 64, W) to (B, about W / 8, 128 x rows)."""
        pixels, counts, _ = self.padded(images, widths)
        pixels = self.pool2(self.seen(self.conv2, self.seen(self.conv1, pixels)))
        pixels = self.pool3(self.seen(self.conv3, pixels))
        counts = (((counts - 4) // 2 + 1 - 3) // 2 - 2) // 2  # two convolutions, pooling, a convolution, pooling
        tokens = pixels.permute(0, 3, 1, 2).flatten(2)
        return ImageFeatures(tokens * valid(counts, tokens.shape[1])[..., None].to(tokens.dtype), counts)

    def seen(self, conv: nn.Module, pixels: Tensor) -> Tensor:
        """Apply a convolution, the activation and dropout."""
        out: Tensor = self.dropout(self.activation(conv(pixels)))
        return out
