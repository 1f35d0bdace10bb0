from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import TINY

from drethtr.base.errors import CheckpointError
from drethtr.network.backend import weights_of
from drethtr.network.lora import (
    LowRankChange,
    add_low_rank_changes,
    changes_between,
    merge_changes,
    projections,
    size_of_rank,
)
from drethtr.network.network import DRetHTR
from drethtr.recognition.model.adapter import UP, adapted

RANK = 3


@pytest.fixture
def network():
    torch.manual_seed(0)
    return DRetHTR(TINY, 12).eval()


def taught(network):
    """The network with changes that are not zero."""
    learner = deepcopy(network)
    add_low_rank_changes(learner, RANK)
    for parameter in learner.parameters():
        if parameter.requires_grad:
            torch.nn.init.normal_(parameter, std=0.3)
    return learner


def images():
    return torch.rand(1, 1, 48, 160), torch.tensor([160]), torch.tensor([[4, 5, 6]])


def test_what_is_learned_lies_where_the_weight_does():
    change = LowRankChange(torch.empty(4, 3, device="meta", dtype=torch.float16), rank=2)
    assert {(part.device.type, part.dtype) for part in change.parameters()} == {("meta", torch.float16)}


@torch.inference_mode()
def test_a_change_begins_as_none(network):
    learner = deepcopy(network)
    add_low_rank_changes(learner, RANK)
    given = images()
    torch.testing.assert_close(learner(*given)[0], network(*given)[0])


def test_only_changes_learn(network):
    add_low_rank_changes(network, RANK)
    learning = [parameter for parameter in network.parameters() if parameter.requires_grad]
    assert len(learning) == 2 * len(projections(network))
    assert sum(parameter.numel() for parameter in learning) == RANK * size_of_rank(network)


def added(learner):
    """A plain network that has learned."""
    whole = DRetHTR(TINY, 12).eval()
    whole.load_state_dict(merge_changes(learner.state_dict()))
    return whole


@torch.inference_mode()
def test_changes_added_to_the_weights_read_alike(network):
    learner = taught(network)
    whole = added(learner)
    assert whole.state_dict().keys() == network.state_dict().keys()
    given = images()
    torch.testing.assert_close(whole(*given)[0], learner(*given)[0])
    assert not torch.allclose(whole(*given)[0], network(*given)[0])


def found_changes(before, after):
    """What was learned, as an adapter's file has it."""
    return {name: factor.numpy() for name, factor in changes_between(before, after, RANK).items()}


def test_changes_are_found_again_from_the_weights(network):
    whole = added(taught(network))
    again = adapted(weights_of(network), found_changes(network, whole))
    for name, weight in weights_of(whole).items():
        np.testing.assert_allclose(again[name], weight, rtol=1e-4, atol=1e-5)


def test_changed_weights_do_not_depend_on_the_order_of_sums(network):
    """Nor does the hash of the model, which libraries that sum in another order would else change."""
    changes = found_changes(network, added(taught(network)))
    order = np.random.default_rng(0).permutation(RANK)
    turned = {name: value[:, order] if name.endswith(UP) else value[order] for name, value in changes.items()}
    once, again = (adapted(weights_of(network), some) for some in (changes, turned))
    assert all(np.array_equal(weight, again[name]) for name, weight in once.items())


def test_changes_of_another_network_are_refused(network):
    changes = found_changes(network, added(taught(network)))
    with pytest.raises(CheckpointError, match=r"update of \S+ does not have the shape of its weight"):
        adapted(weights_of(DRetHTR(TINY, 13)), changes)
    with pytest.raises(CheckpointError, match=r"layers this network does not have, such as ctc\."):
        adapted(weights_of(DRetHTR(replace(TINY, ctc=None), 12)), changes)
    changes.popitem()
    with pytest.raises(CheckpointError, match="one half of a low-rank update is missing"):
        adapted(weights_of(network), changes)
