"""How weights move."""

import pytest
import torch
from conftest import TINY
from torch import nn

from drethtr.base.errors import ConfigError
from drethtr.network.network import DRetHTR
from drethtr.training import optimize
from drethtr.training.optimize import (
    STEP,
    AdamW,
    Constant,
    Cosine,
    MovingAverage,
    MuonOptimizer,
    OptimizerConfig,
    learning_rate,
    make_optimizer,
    orthogonalize,
    set_learning_rate,
)

CONFIG = OptimizerConfig(learning_rate=1.0, schedule=Cosine(0.1), warm_up=10)


def test_rate_rises_then_falls_to_its_final_share() -> None:
    rates = [learning_rate(CONFIG, seen, 110) for seen in range(111)]
    assert rates.index(max(rates)) == 10
    assert rates[:11] == sorted(rates[:11])
    assert rates[10:] == sorted(rates[10:], reverse=True)
    assert rates[10] == pytest.approx(1.0) and rates[110] == pytest.approx(0.1) and rates[60] == pytest.approx(0.55)


def test_a_constant_rate_stays() -> None:
    config = OptimizerConfig(learning_rate=0.5, schedule=Constant(), warm_up=0)
    assert {learning_rate(config, seen, 100) for seen in range(101)} == {0.5}


def test_a_cosine_restarts_after_each_cycle() -> None:
    twice = Cosine(final_share=0.2, cycles=2)
    assert [twice.share(n / 8) for n in (0, 2, 4)] == pytest.approx([1.0, 0.6, 0.2])
    assert [twice.share(n / 8) for n in (6, 8)] == pytest.approx([0.6, 0.2])
    assert twice.share(0.5001) == pytest.approx(1.0, abs=1e-4)


def test_half_a_cosine_stops_on_its_way() -> None:
    assert Cosine(final_share=0.0, cycles=0.5).share(1.0) == pytest.approx(0.5)


def test_weight_decay_may_fall_on_everything() -> None:
    optimizer = make_optimizer(DRetHTR(TINY, 12), OptimizerConfig(decay_all=True, weight_decay=0.1, betas=(0.5, 0.6)))
    assert {(group["weight_decay"], group["betas"]) for group in optimizer.param_groups} == {(0.1, (0.5, 0.6))}


def test_every_weight_is_in_one_group_and_the_backbone_is_slow() -> None:
    network = DRetHTR(TINY, 12)
    optimizer = make_optimizer(network, OptimizerConfig(backbone_scale=0.25, weight_decay=0.1))
    set_learning_rate(optimizer, 1.0)
    settings = {
        id(p): (group["lr"], group["weight_decay"]) for group in optimizer.param_groups for p in group["params"]
    }
    assert len(settings) == len(list(network.parameters()))
    for name, parameter in network.named_parameters():
        decayed = parameter.ndim > 1 and not name.startswith("embed.")
        assert settings[id(parameter)] == (0.25 if name.startswith("backbone.") else 1.0, 0.1 if decayed else 0.0), name


def test_average_follows() -> None:
    network = nn.Linear(1, 1, bias=False)
    average = MovingAverage(network, 0.5)
    start = network.weight.item()
    with torch.no_grad():
        network.weight.fill_(start + 1)
    average.update(network, step=1000)
    assert average.network.weight.item() == pytest.approx(start + 0.5, abs=1e-6)
    keeping_nothing = MovingAverage(network, 0.0)
    with torch.no_grad():
        network.weight.fill_(3.0)
    keeping_nothing.update(network, step=7)
    assert keeping_nothing.network.weight.item() == 3.0
    with torch.no_grad():
        network.weight.fill_(start + 1)
    average.update(network, step=1)  # a young average changes faster: 1/10 is kept
    assert average.network.weight.item() == pytest.approx(start + 0.95, abs=1e-6)


def test_batch_norm_statistics_are_averaged_with_the_weights() -> None:
    norm = nn.BatchNorm1d(1)
    average = MovingAverage(norm, 0.5)
    norm.running_mean = torch.tensor([1.0])
    norm.num_batches_tracked = torch.tensor(7)
    average.update(norm, step=1000)
    assert average.network.running_mean == torch.tensor([0.5]) and average.network.num_batches_tracked == 7


@pytest.mark.parametrize(
    "setting",
    [{"learning_rate": 0.0}, {"average": 1.0}, {"clip": -1.0}, {"betas": (0.9, 1.0)}, {"weight_decay": -0.1}],
    ids=str,
)
def test_senseless_settings_are_refused(setting) -> None:
    with pytest.raises(ConfigError):
        OptimizerConfig(**setting)


@pytest.mark.parametrize("setting", [{"final_share": 1.1}, {"cycles": 0.0}])
def test_senseless_schedules_are_refused(setting) -> None:
    with pytest.raises(ConfigError):
        Cosine(**setting)


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
