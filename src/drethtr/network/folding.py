"""Folding batch norms into convolutions, once training is over."""

from typing import ClassVar

from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_weights


class Normed(nn.Module):
    """A module in which batch norms directly follow convolutions: `norms` has the names of the one and the other."""

    norms: ClassVar[tuple[tuple[str, str], ...]]


def fold_norms(network: nn.Module) -> None:
    """Fold batch norms into the convolutions before them: one rounding less, and one pass over the pixels."""
    for module in network.modules():
        if isinstance(module, Normed):
            for conv, norm in module.norms:
                fold(getattr(module, conv), getattr(module, norm))
                setattr(module, norm, nn.Identity())


def fold(conv: nn.Conv2d, norm: nn.BatchNorm2d) -> None:
    """Fold a batch norm into the convolution before it."""
    assert norm.running_mean is not None and norm.running_var is not None
    conv.weight, conv.bias = fuse_conv_bn_weights(
        conv.weight, conv.bias, norm.running_mean, norm.running_var, norm.eps, norm.weight, norm.bias
    )
