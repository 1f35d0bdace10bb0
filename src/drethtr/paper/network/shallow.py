"""The ShallowCNN of Wick et al.: three convolutions without padding, for comparison (paper, Sec. 5.5.2).

A token never sees beyond its line, so lines of different widths need no masks except for counting tokens.

Shapes, everywhere in this file: B lines, N tokens.
Source: the released code, for sizes that the paper does not give.
"""

from torch import Tensor, nn

from drethtr.network.backbones import BACKBONES, Backbone, ImageFeatures
from drethtr.network.padded import valid
from drethtr.paper.variants import ShallowCNN

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
