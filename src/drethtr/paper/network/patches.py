"""Image parts without convolutions: patches, as in vision transformers, and tokens that the caller provides.

A line is cut into rectangles, each a token, ordered by columns of patches, top to bottom, so that a longer line only
adds tokens at the end. The released code also offers row order and a class token; neither is useful here.

Shapes, everywhere in this file: B lines, N tokens, P pixels of a patch.
Source: ViT, arXiv 2010.11929.
"""

import torch.nn.functional as F
from torch import Tensor, nn

from drethtr.base.errors import DataError
from drethtr.network.backbones import BACKBONES, Backbone, ImageFeatures
from drethtr.network.padded import valid
from drethtr.paper.variants import Given, Patches


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
