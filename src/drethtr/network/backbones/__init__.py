"""Backbones, which turn the image of a line into tokens; one module each."""

from drethtr.network.backbones.backbone import BACKBONES, Backbone, ImageFeatures, Normed, start_before_relu
from drethtr.network.backbones.efficientnet import EfficientNetBackbone
from drethtr.network.backbones.light import LightBackbone
from drethtr.network.backbones.ppocr import PPOCRBackbone

__all__ = [
    "BACKBONES",
    "Backbone",
    "EfficientNetBackbone",
    "ImageFeatures",
    "LightBackbone",
    "Normed",
    "PPOCRBackbone",
    "start_before_relu",
]
