"""From the image of a line to tokens: one file per backbone, its config beside it."""

from drethtr.model.backbones.backbone import Backbone, BackboneConfig, ImageFeatures
from drethtr.model.backbones.efficientnet import EfficientNetBackbone, EfficientNetV2S
from drethtr.model.backbones.given import Given, GivenTokens
from drethtr.model.backbones.light import Light, LightBackbone
from drethtr.model.backbones.patches import PatchBackbone, Patches
from drethtr.model.backbones.ppocr import PPOCR, PPOCRBackbone
from drethtr.model.backbones.resnet import ResNet50, ResNetBackbone
from drethtr.model.backbones.shallow import ShallowBackbone, ShallowCNN

__all__ = [
    "PPOCR",
    "Backbone",
    "BackboneConfig",
    "EfficientNetBackbone",
    "EfficientNetV2S",
    "Given",
    "GivenTokens",
    "ImageFeatures",
    "Light",
    "LightBackbone",
    "PPOCRBackbone",
    "PatchBackbone",
    "Patches",
    "ResNet50",
    "ResNetBackbone",
    "ShallowBackbone",
    "ShallowCNN",
]
