"""Copies of networks in bfloat16, for devices that are faster with it.

The backbone and the projections of every layer compute in bfloat16. Accumulated values stay in float32: tokens between
layers, norms, logits, and retention's memory.
"""

from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_weights

from drethtr.network.attention import KeyValue
from drethtr.network.backbones import Backbone, Normed
from drethtr.network.network import BatchMemory, DRetHTR
from drethtr.recognition.model.architecture import NetworkConfig

WORTHWHILE = 2**20
"""Layer size in weights from which decoding is faster in bfloat16; smaller layers decode text in float32.

The text of SMALL takes 1.4 instead of 2.5 s, but products with matrices as small as COMPACT's take longer (LOG.md,
2026-11-21).
"""


def pays_for_steps(config: NetworkConfig) -> bool:
    """Whether single tokens are decoded faster in bfloat16."""
    return config.width * config.hidden >= WORTHWHILE


def in_float32(memory: BatchMemory) -> BatchMemory:
    """Convert keys and values of a memory to float32, for a decoder in float32."""
    return memory._replace(layers=tuple(KeyValue(kept.keys.float(), kept.values.float()) for kept in memory.layers))


def cast(network: DRetHTR, dtype: torch.dtype) -> DRetHTR:
    """A copy for reading only, whose backbone and projections compute in `dtype`."""
    coarse = deepcopy(network).requires_grad_(False)
    fold_norms(coarse.backbone)
    for module in coarse.backbone.modules():
        # Batch norms stay in float32: they take inputs of any precision, and suffer from rounding.
        if not isinstance(module, nn.BatchNorm2d) and not any(True for _ in module.children()):
            module.to(dtype)
    for part in (*coarse.encoder, *coarse.blocks):
        for module in part.modules():
            if isinstance(module, nn.Linear):
                module.to(dtype)
    for module in coarse.modules():
        if isinstance(module, Backbone | nn.Linear | nn.GroupNorm):
            module.register_forward_pre_hook(as_weights)
    return coarse


def as_weights(module: nn.Module, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Convert the inputs of a module to the precision of its weights."""
    weight = next(module.parameters(), None)
    if weight is None:
        return given
    return tuple(x.to(weight.dtype) if isinstance(x, Tensor) and x.is_floating_point() else x for x in given)


def fold_norms(network: nn.Module) -> None:
    """Fold batch norms into the preceding convolutions, which saves a rounding and a pass over the pixels."""
    for module in network.modules():
        if isinstance(module, Normed):
            for conv_name, norm_name in module.norms:
                conv, norm = getattr(module, conv_name), getattr(module, norm_name)
                statistics = norm.running_mean, norm.running_var, norm.eps
                conv.weight, conv.bias = fuse_conv_bn_weights(
                    conv.weight, conv.bias, *statistics, norm.weight, norm.bias
                )
                setattr(module, norm_name, nn.Identity())
