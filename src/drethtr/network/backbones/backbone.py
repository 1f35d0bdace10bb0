"""The base class of backbones: images of lines in, tokens from left to right out."""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from torch import Tensor, nn

from drethtr.base.errors import DataError
from drethtr.network.padded import Padded
from drethtr.network.variants import Variants


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
