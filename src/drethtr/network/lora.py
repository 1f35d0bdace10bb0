"""LoRA: low-rank changes to the projections of a trained network (arXiv 2106.09685).

In training, a projection uses W + up · down with W frozen. For reading, the product is merged into the weights, so that
an adapter costs no time.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from drethtr.recognition.model.adapter import DOWN, UP


class LowRankChange(nn.Module):
    """A weight plus up (outputs, rank) · down (rank, inputs), initially zero."""

    def __init__(self, weight: Tensor, rank: int) -> None:
        super().__init__()
        inputs = weight[0].numel()
        self.up = nn.Parameter(weight.new_zeros(len(weight), rank))
        # Drawn on the CPU, to be the same on every device.
        self.down = nn.Parameter((torch.randn(rank, inputs) * inputs**-0.5).to(weight))

    def forward(self, weight: Tensor) -> Tensor:
        return weight + (self.up @ self.down).view_as(weight)


def projections(network: nn.Module) -> dict[str, nn.Linear | nn.Conv2d]:
    """Layers that only mix channels, by name: linear layers and 1x1 convolutions."""
    return {
        name: module
        for name, module in network.named_modules()
        if isinstance(module, nn.Linear)
        or (isinstance(module, nn.Conv2d) and module.kernel_size == (1, 1) and module.groups == 1)
    }


def size_of_rank(network: nn.Module) -> int:
    """The number of parameters that a change of rank 1 adds."""
    return sum(len(layer.weight) + layer.weight[0].numel() for layer in projections(network).values())


def add_low_rank_changes(network: nn.Module, rank: int) -> None:
    """Freeze a network in place, and add a trainable change of this rank to every projection."""
    network.requires_grad_(False)
    for layer in projections(network).values():
        parametrize.register_parametrization(layer, "weight", LowRankChange(layer.weight, rank))


def merge_changes(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Merge learned changes into the weights of the plain network."""
    plain = {}
    for name, weight in weights.items():
        layer, learning, rest = name.partition(".parametrizations.weight.")
        if not learning:
            plain[name] = weight
        elif rest == "original":
            up, down = (weights[layer + learning + part] for part in ("0.up", "0.down"))
            plain[f"{layer}.weight"] = weight + (up @ down).view_as(weight)
    return plain


def changes_between(before: nn.Module, after: nn.Module, rank: int) -> dict[str, Tensor]:
    """The best low-rank changes from one network to another; exact if the true changes have no higher rank."""
    changed = projections(after)
    changes = {}
    for name, layer in projections(before).items():
        change = (changed[name].weight - layer.weight).detach().flatten(1)
        left, strengths, right = torch.linalg.svd(change, full_matrices=False)
        half = strengths[:rank].sqrt()
        changes[name + UP] = (left[:, :rank] * half).contiguous()
        changes[name + DOWN] = (half[:, None] * right[:rank]).contiguous()
    return changes
