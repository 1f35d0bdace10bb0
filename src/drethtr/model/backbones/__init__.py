"""From the image of a line to tokens: one file per backbone, its config beside it."""

from drethtr.model.backbones.backbone import Backbone, BackboneConfig, ImageFeatures
from drethtr.model.backbones.efficientnet import EfficientNetBackbone, EfficientNetV2S
from drethtr.model.backbones.light import Light, LightBackbone
from drethtr.model.backbones.ppocr import PPOCR, PPOCRBackbone

__all__ = [
    "PPOCR",
    "Backbone",
    "BackboneConfig",
    "EfficientNetBackbone",
    "EfficientNetV2S",
    "ImageFeatures",
    "Light",
    "LightBackbone",
    "PPOCRBackbone",
]
