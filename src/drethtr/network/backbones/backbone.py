"""The base class of backbones: images of lines in, tokens from left to right out."""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import torch.nn.functional as F
from torch import Tensor, nn

from drethtr.base.errors import DataError
from drethtr.network.padded import MaskedConv, Padded
from drethtr.network.variants import Variants
from drethtr.recognition.model.architecture import DESCENT, LIGHT_STAGES, LIGHT_TOKEN_BLOCKS, Light


class ImageFeatures(NamedTuple):
    """Tokens of lines, (B, N, width), and the number of tokens per line without padding, int64 (B,)."""

    tokens: Tensor
    counts: Tensor


class Backbone(nn.Module, ABC):
    """Turns images of lines into tokens, which do not depend on the other lines of the batch."""

    width: int
    """Channels of a token."""
    height: int
    """Height of input images."""
    columns_per_token: int
    """Image columns from one token to the next."""
    early: tuple[str, ...] = ()
    """Prefixes of the names of the first layers' weights: they see strokes, which other hands share."""

    @property
    def narrowest(self) -> int:
        """Minimum width of a line; narrower ones get paper on the right."""
        return self.columns_per_token

    @property
    def widest(self) -> int | None:
        """Maximum width of a line, if there is a limit."""
        return None

    @property
    def draft_width(self) -> int:
        """Number of a token's last channels that the CTC draft reads from."""
        return self.width

    @abstractmethod
    def forward(self, images: Tensor, widths: Tensor) -> ImageFeatures:
        """Tokens of images (B, 1, height, W) in [-1, 1], ink +1, whose first `widths` (B,) columns are the line.

        Even the narrowest line has at least one token.

        Raises:
            DataError: if the images have another height or are not gray.
        """

    def padded(self, images: Tensor, widths: Tensor) -> Padded:
        """Wrap images for the layers, padded to the width of one token."""
        if images.shape[1:3] != (1, self.height):
            channels, height = images.shape[1:3]
            raise DataError(
                f"images with {channels} channels and height {height}, but this backbone takes 1 and {self.height}: "
                f"prepare the lines with height {self.height} (preparation.height)"
            )
        return Padded.of(images, widths, at_least=self.narrowest)


BACKBONES = Variants[Backbone]("backbone")
"""Made from the config alone."""


def start_before_relu(weight: Tensor) -> None:
    """Initialize the weights of a convolution so that gradients keep their scale (He, arXiv 1502.01852)."""
    if not weight.is_meta:  # unnecessary on the meta device, where it would load a compiler
        nn.init.kaiming_normal_(weight, mode="fan_out", nonlinearity="relu")


class Normed(nn.Module):
    """A module in which batch norms directly follow convolutions; `norms` pairs the names of both.

    `precision.fold_norms` folds each norm into its convolution, for reading.
    """

    norms: ClassVar[tuple[tuple[str, str], ...]]


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
