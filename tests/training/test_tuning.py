"""Which weights of a run are trained."""

from dataclasses import replace

import pytest
import torch
from conftest import TINY

from drethtr.base.errors import ConfigError
from drethtr.network.network import DRetHTR
from drethtr.recognition.model.architecture import EfficientNetV2S
from drethtr.training.optimize import OptimizerConfig, make_optimizer
from drethtr.training.tuning import LowRank, Whole, set_train_mode


def learning(network):
    return {name for name, parameter in network.named_parameters() if parameter.requires_grad}


def test_frozen_parts_are_not_optimized():
    network = DRetHTR(TINY, 12)
    Whole(("backbone.", "embed.")).begin(network)
    assert learning(network) and not [name for name in learning(network) if name.startswith(("backbone.", "embed."))]
    optimized = [p for group in make_optimizer(network, OptimizerConfig()).param_groups for p in group["params"]]
    assert {id(p) for p in optimized} == {id(p) for p in network.parameters() if p.requires_grad}


def test_a_run_without_anything_to_learn_is_refused():
    with pytest.raises(ConfigError, match=r"^tuning\.frozen leaves no weight to train"):
        Whole(("",)).begin(DRetHTR(TINY, 12))


@pytest.mark.parametrize("tuning", [Whole(("backbone.",)), LowRank(2)], ids=["frozen", "adapter"])
def test_frozen_batch_norms_keep_their_statistics(tuning):
    torch.manual_seed(0)
    network = DRetHTR(replace(TINY, backbone=EfficientNetV2S()), 12)
    tuning.begin(network)
    set_train_mode(network)
    before = {name: buffer.clone() for name, buffer in network.backbone.named_buffers()}
    network(torch.rand(2, 1, 64, 96), torch.tensor([96, 80]), torch.tensor([[2, 5], [2, 6]]))
    assert network.training and before
    assert all(buffer.equal(before[name]) for name, buffer in network.backbone.named_buffers())


def test_norms_that_learn_are_in_training():
    network = DRetHTR(replace(TINY, backbone=EfficientNetV2S()), 12).eval()
    set_train_mode(network)
    assert all(module.training for module in network.modules())


def test_all_weights_are_trained_by_default():
    network = DRetHTR(TINY, 12)
    Whole().begin(network)
    assert learning(network) == {name for name, _ in network.named_parameters()}
    assert Whole().finish(network) is network


def test_a_part_that_is_not_there_is_named():
    with pytest.raises(ConfigError, match="beginning with 'backbon\\.'"):
        Whole(("backbon.",)).begin(DRetHTR(TINY, 12))


def test_a_network_with_additions_is_saved_as_a_plain_one():
    torch.manual_seed(0)
    plain, network = DRetHTR(TINY, 12), DRetHTR(TINY, 12)
    LowRank(2).begin(network)
    for parameter in network.parameters():
        if parameter.requires_grad:
            torch.nn.init.normal_(parameter, std=0.1)  # additions begin as nothing
    line = torch.rand(1, 1, 48, 96), torch.tensor([96]), torch.tensor([[2, 5, 6]])
    expected, _ = network.eval()(*line)
    plain.load_state_dict(LowRank(2).finish(network).state_dict())
    torch.testing.assert_close(plain.eval()(*line)[0], expected)


def test_a_rank_below_one_is_refused():
    with pytest.raises(ConfigError, match="at least 1"):
        LowRank(0)
