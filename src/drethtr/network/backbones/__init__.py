"""From the image of a line to tokens: one file per backbone, its config beside it."""

from drethtr.network.backbones.backbone import Backbone, BackboneConfig, ImageFeatures
from drethtr.network.backbones.efficientnet import EfficientNetBackbone, EfficientNetV2S
from drethtr.network.backbones.given import Given, GivenTokens
from drethtr.network.backbones.light import Light, LightBackbone
from drethtr.network.backbones.patches import PatchBackbone, Patches
from drethtr.network.backbones.ppocr import PPOCR, PPOCRBackbone
from drethtr.network.backbones.resnet import ResNet50, ResNetBackbone
from drethtr.network.backbones.shallow import ShallowBackbone, ShallowCNN

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
