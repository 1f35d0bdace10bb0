"""Backbones, which turn the image of a line into tokens; one module each."""

from drethtr.network.backbones.backbone import Backbone, ImageFeatures, build_backbone
from drethtr.network.backbones.efficientnet import EfficientNetBackbone
from drethtr.network.backbones.given import GivenTokens
from drethtr.network.backbones.light import LightBackbone
from drethtr.network.backbones.patches import PatchBackbone
from drethtr.network.backbones.ppocr import PPOCRBackbone
from drethtr.network.backbones.resnet import ResNetBackbone
from drethtr.network.backbones.shallow import ShallowBackbone

__all__ = [
    "Backbone",
    "EfficientNetBackbone",
    "GivenTokens",
    "ImageFeatures",
    "LightBackbone",
    "PPOCRBackbone",
    "PatchBackbone",
    "ResNetBackbone",
    "ShallowBackbone",
    "build_backbone",
]
