"""Fold batch norms into convolutions after training."""

from typing import ClassVar

from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_weights


class Normed(nn.Module):
    """A module in which batch norms directly follow convolutions; `norms` pairs the names of both."""

    norms: ClassVar[tuple[tuple[str, str], ...]]


def fold_norms(network: nn.Module) -> None:
    """Fold batch norms into the preceding convolutions, which saves a rounding and a pass over the pixels."""
    for module in network.modules():
        if isinstance(module, Normed):
            for conv, norm in module.norms:
                fold(getattr(module, conv), getattr(module, norm))
                setattr(module, norm, nn.Identity())


def fold(conv: nn.Conv2d, norm: nn.BatchNorm2d) -> None:
    """Fold a batch norm into the preceding convolution."""
    assert norm.running_mean is not None and norm.running_var is not None
    conv.weight, conv.bias = fuse_conv_bn_weights(
        conv.weight, conv.bias, norm.running_mean, norm.running_var, norm.eps, norm.weight, norm.bias
    )
