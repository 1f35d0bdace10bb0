"""Ready-made image tokens in place of images, for networks without an image encoder."""

from torch import Tensor

from drethtr.base.errors import DataError
from drethtr.network.backbones.backbone import Backbone, ImageFeatures, build_backbone
from drethtr.recognition.model.backbones import Given


class GivenTokens(Backbone):
    """Takes tokens (B, 1, N, width) instead of images and returns them unchanged."""

    columns_per_token = 1
    height = 0

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, images: Tensor, widths: Tensor) -> ImageFeatures:
        """See `Backbone`; `widths` counts tokens."""
        if images.ndim != 4 or images.shape[1] != 1 or images.shape[-1] != self.width:
            raise DataError(
                f"this network has no image encoder: it takes tokens (B, 1, N, {self.width}), not {tuple(images.shape)}"
            )
        return ImageFeatures(images[:, 0], widths)


@build_backbone.register
def given(config: Given) -> Backbone:
    """Build this backbone, which has no weights."""
    return GivenTokens(config.width)
