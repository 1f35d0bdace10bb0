"""The interface of backbones: images of lines in, tokens from left to right out."""

from abc import ABC, abstractmethod
from functools import singledispatch
from typing import NamedTuple

from torch import Tensor, nn

from drethtr.base.errors import DataError
from drethtr.network.padded import Padded
from drethtr.recognition.backbones import BackboneConfig


class ImageFeatures(NamedTuple):
    """Tokens of some lines, (B, N, width), and the number of tokens of each line, int64 (B,); the rest is padding."""

    tokens: Tensor
    counts: Tensor


class Backbone(nn.Module, ABC):
    """Turns images of lines into tokens; the tokens of a line do not depend on the other lines of the batch."""

    width: int
    """Channels of a token."""
    height: int
    """Rows of the images it takes."""
    columns_per_token: int
    """Image columns between one token and the next."""

    @property
    def narrowest(self) -> int:
        """Columns of the narrowest line it can see; narrower ones get paper on the right."""
        return self.columns_per_token

    @property
    def widest(self) -> int | None:
        """Columns of the widest line it can take, if there is a limit."""
        return None

    @property
    def draft_width(self) -> int:
        """How many of a token's last channels the CTC draft reads from."""
        return self.width

    @abstractmethod
    def forward(self, images: Tensor, widths: Tensor) -> ImageFeatures:
        """Tokens of images (B, 1, height, W) in [-1, 1], ink +1, of which the first `widths` (B,) columns are the line.

        A line has at least one token, however narrow it is.

        Raises:
            DataError: if the images have another height or are not gray.
        """

    def padded(self, images: Tensor, widths: Tensor) -> Padded:
        """The images for the layers, wide enough for one token."""
        if images.shape[1:3] != (1, self.height):
            channels, height = images.shape[1:3]
            raise DataError(
                f"images of {channels} channels and height {height}; this backbone takes 1 and {self.height}: "
                f"prepare the lines with height {self.height}"
            )
        return Padded.of(images, widths, at_least=self.narrowest)


def start_before_relu(weight: Tensor) -> None:
    """Draw the weights of a convolution so that gradients keep their size (He initialization, arXiv 1502.01852)."""
    if not weight.is_meta:  # there is nothing to set, and trying loads a compiler
        nn.init.kaiming_normal_(weight, mode="fan_out", nonlinearity="relu")


@singledispatch
def build_backbone(config: BackboneConfig) -> Backbone:
    """The backbone of a config, with fresh weights."""
    raise TypeError(f"no backbone is registered for {config!r}")
