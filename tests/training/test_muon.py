"""Matrices move along the nearest orthogonal one to their momentum."""

import pytest
import torch
from conftest import TINY
from torch import nn

from drethtr.network.network import DRetHTR
from drethtr.training import optimize
from drethtr.training.muon import STEP, MuonOptimizer, orthogonalize
from drethtr.training.optimize import AdamW, OptimizerConfig, make_optimizer


@pytest.mark.parametrize("shape", [(1, 8, 8), (2, 6, 24), (3, 24, 6)])
def test_all_directions_become_about_equally_strong(shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    matrices = torch.randn(shape, dtype=torch.float64)
    left, _, right = torch.linalg.svd(matrices, full_matrices=False)
    strengths = left.mT @ orthogonalize(matrices) @ right.mT
    assert strengths.diagonal(dim1=-2, dim2=-1).sub(1).abs().max() < 0.35
    assert (strengths - strengths.diagonal(dim1=-2, dim2=-1).diag_embed()).abs().max() < 1e-6


def test_in_autocast_it_takes_half_the_numbers_for_nearly_the_same() -> None:
    torch.manual_seed(0)
    matrices = torch.randn(2, 16, 48)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = orthogonalize(matrices)
    assert rounded.dtype == torch.bfloat16
    torch.testing.assert_close(rounded.float(), orthogonalize(matrices), atol=0.03, rtol=0)


def test_a_step_is_as_long_as_one_of_adamw_whatever_the_gradient() -> None:
    torch.manual_seed(0)
    for scale in (1e-4, 1e4):
        kernel = nn.Parameter(torch.zeros(32, 16, 1, 3).contiguous(memory_format=torch.channels_last))
        kernel.grad = scale * torch.randn_like(kernel)
        MuonOptimizer([{"params": [kernel], "momentum": 0.9}], lr=0.01, weight_decay=0.0).step()
        assert kernel.detach().square().mean().sqrt().item() == pytest.approx(0.01 * STEP, rel=0.2)


def test_only_inner_matrices_move_as_a_whole() -> None:
    network = DRetHTR(TINY, 12)
    optimizer = make_optimizer(network, OptimizerConfig(method=optimize.Muon()))
    matrices = {id(p) for group in optimizer.param_groups if "momentum" in group for p in group["params"]}
    moved = {name for name, parameter in network.named_parameters() if id(parameter) in matrices}
    assert {"blocks.0.fusion.to_qkv.weight", "backbone.token_blocks.0.expand.weight"} <= moved
    assert "backbone.token_blocks.0.depthwise.weight" not in moved
    assert not [name for name in moved if name.startswith(("embed.", "to_logits.", "ctc.")) or name.endswith("bias")]
    assert all(
        "momentum" not in group for group in make_optimizer(network, OptimizerConfig(method=AdamW())).param_groups
    )


def test_a_closure_is_called_before_the_update() -> None:
    torch.manual_seed(0)
    networks = [nn.Linear(4, 3), nn.Linear(4, 3)]
    networks[1].load_state_dict(networks[0].state_dict())
    inputs = torch.randn(5, 4)

    def loss(network: nn.Linear) -> float:
        total = network(inputs).square().sum()
        total.backward()
        return float(total.detach())

    asking, told = (
        MuonOptimizer([{"params": [network.weight], "momentum": 0.9}, {"params": [network.bias]}], lr=0.1)
        for network in networks
    )
    expected = loss(networks[1])
    told.step()
    assert asking.step(lambda: loss(networks[0])) == expected
    for one, other in zip(networks[0].parameters(), networks[1].parameters(), strict=True):
        assert torch.equal(one, other)


def test_other_weights_move_as_with_adamw() -> None:
    torch.manual_seed(0)
    networks = [nn.Linear(4, 3), nn.Linear(4, 3)]
    networks[1].load_state_dict(networks[0].state_dict())
    optimizers = [
        MuonOptimizer([{"params": [networks[0].weight], "momentum": 0.9}, {"params": [networks[0].bias]}], lr=0.1),
        torch.optim.AdamW(networks[1].parameters(), lr=0.1),
    ]
    for _ in range(3):
        inputs = torch.randn(5, 4)
        for network, optimizer in zip(networks, optimizers, strict=True):
            optimizer.zero_grad(set_to_none=True)
            network.weight.grad, network.bias.grad = torch.ones(3, 4), inputs.sum() * torch.ones(3)
            optimizer.step()
    torch.testing.assert_close(networks[0].bias, networks[1].bias)
    assert not networks[0].weight.equal(networks[1].weight)
