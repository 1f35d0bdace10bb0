"""In which numbers a network computes: a property of its weights, given to it once, before it reads."""

from copy import deepcopy
from enum import Enum
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from drethtr.network.attention import KeyValue
from drethtr.network.backbones.backbone import Backbone
from drethtr.network.folding import fold_norms
from drethtr.network.network import DRetHTR, ImageMemory
from drethtr.recognition.architecture import NetworkConfig

WORTHWHILE = 2**20
"""Weights of a layer from which on a step is faster in bfloat16: those of a smaller one are read in no time."""


class Networks(NamedTuple):
    """One network, ready to read: `image` encodes lines, `text` decodes what the first made of them."""

    image: DRetHTR
    text: DRetHTR

    def encode_image(self, images: Tensor, widths: Tensor) -> ImageMemory:
        """See `DRetHTR.encode_image`; the memory is in the numbers that `text` takes."""
        memory = self.image.encode_image(images, widths)
        return memory if self.image is self.text else in_float32(memory)


class Precision(Enum):
    """The numbers of weights and of what passes between layers.

    In bfloat16, the backbone and the projections of every layer compute. What is summed up stays in float32: tokens
    from layer to layer, norms, logits, and what retention remembers.
    """

    FLOAT32 = torch.float32
    BFLOAT16 = torch.bfloat16

    @property
    def label(self) -> str:
        """What people call it, on the command line and in figures."""
        return self.name.lower()

    def prepare(self, network: DRetHTR, *, stepwise: bool = True) -> Networks:
        """The network itself, or a copy in bfloat16; a narrow network writes `stepwise`, token by token, in float32."""
        if self is Precision.FLOAT32:
            return Networks(network, network)
        coarse = rounded(network, self.value)
        return Networks(coarse, network if stepwise and not pays_for_steps(network.config) else coarse)


def pays_for_steps(config: NetworkConfig) -> bool:
    """Whether single tokens are decoded faster in bfloat16."""
    return config.width * config.hidden >= WORTHWHILE


def in_float32(memory: ImageMemory) -> ImageMemory:
    """The same memory in numbers for a decoder in float32."""
    return memory._replace(layers=tuple(KeyValue(kept.keys.float(), kept.values.float()) for kept in memory.layers))


def rounded(network: DRetHTR, dtype: torch.dtype) -> DRetHTR:
    """A copy, only for reading, whose backbone and projections compute in `dtype`."""
    coarse = deepcopy(network).requires_grad_(False)
    fold_norms(coarse.backbone)
    round_backbone(coarse.backbone, dtype)
    for part in (*coarse.encoder, *coarse.blocks):
        for module in part.modules():
            if isinstance(module, nn.Linear):
                module.to(dtype)
    for module in coarse.modules():
        if isinstance(module, Backbone | nn.Linear | nn.GroupNorm):
            module.register_forward_pre_hook(as_weights)
    return coarse


def as_weights(module: nn.Module, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a module is given, in the precision of its weights."""
    weight = next(module.parameters(), None)
    if weight is None:
        return given
    return tuple(x.to(weight.dtype) if isinstance(x, Tensor) and x.is_floating_point() else x for x in given)


def round_backbone(backbone: Backbone, dtype: torch.dtype) -> None:
    """Round all weights but those of batch norms, which take any numbers and lose much by rounding."""
    for module in backbone.modules():
        if not isinstance(module, nn.BatchNorm2d) and not any(True for _ in module.children()):
            module.to(dtype)
