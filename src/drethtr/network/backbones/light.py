"""A small backbone of depthwise convolutions, to train from scratch.

Shapes, everywhere in this file: B lines, C channels.
"""

import torch.nn.functional as F
from torch import Tensor, nn

from drethtr.network.backbones.backbone import BACKBONES, Backbone, ImageFeatures
from drethtr.network.padded import MaskedConv, Padded
from drethtr.recognition.model.architecture import DESCENT, LIGHT_STAGES, LIGHT_TOKEN_BLOCKS, Light


class ChannelNorm(nn.LayerNorm):
    """Layer norm over the channels of (B, C, H, W)."""

    def forward(self, x: Tensor) -> Tensor:
        """Same shape."""
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class Descent(nn.Module):
    """Downsampling: fewer rows and columns, more channels."""

    def __init__(self, inputs: int, outputs: int, stride: tuple[int, int]) -> None:
        super().__init__()
        self.conv = MaskedConv(inputs, outputs, (3, 3), stride)
        self.norm = ChannelNorm(outputs)

    def forward(self, x: Padded) -> Padded:
        """(B, inputs, H, W) to (B, outputs, H / stride, W / stride)."""
        return self.conv(x).map(self.norm).map(F.gelu)  # type: ignore[no-any-return]


class Block(nn.Module):
    """A depthwise convolution and an MLP, with a residual around both."""

    def __init__(self, channels: int, kernel: tuple[int, int]) -> None:
        super().__init__()
        self.depthwise = MaskedConv(channels, channels, kernel, groups=channels)
        self.norm = ChannelNorm(channels)
        self.expand = nn.Conv2d(channels, 2 * channels, 1)
        self.project = nn.Conv2d(2 * channels, channels, 1)

    def forward(self, x: Padded) -> Padded:
        """Same shape."""
        seen = self.norm(self.depthwise(x).pixels)
        return x.map(self.project(F.gelu(self.expand(seen))).add)


@BACKBONES.computes(Light)
class LightBackbone(Backbone):
    """Tokens of ceil(columns / 8)."""

    columns_per_token = 8
    width = LIGHT_STAGES[-1][0]

    def __init__(self, config: Light) -> None:
        super().__init__()
        self.height = config.height
        self.blocks = nn.Sequential()
        channels = 1
        for width, stride, blocks in LIGHT_STAGES:
            self.blocks.append(Descent(channels, width, stride))
            channels = width
            self.blocks.extend(Block(channels, (3, 3)) for _ in range(blocks))
        self.collapse = nn.Conv2d(channels, channels, (config.height // DESCENT, 1))
        self.token_blocks = nn.Sequential(*(Block(channels, (1, 7)) for _ in range(LIGHT_TOKEN_BLOCKS)))
        self.norm = ChannelNorm(channels)

    def forward(self, images: Tensor, widths: Tensor) -> ImageFeatures:
        """See `Backbone`: (B, 1, height, W) to (B, ceil(W / 8), 256)."""
        x = self.blocks(self.padded(images, widths)).map(self.collapse)
        x = self.token_blocks(x).map(self.norm).cleared()
        return ImageFeatures(x.pixels.flatten(2).transpose(1, 2), x.widths)
