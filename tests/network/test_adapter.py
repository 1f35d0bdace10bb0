from copy import deepcopy

import pytest
import torch
from conftest import TINY

from drethtr.base.errors import CheckpointError
from drethtr.network.adapter import (
    UP,
    apply_changes,
    begin_changes,
    changes_between,
    projections,
    size_of_rank,
    with_changes,
)
from drethtr.network.network import DRetHTR

RANK = 3


@pytest.fixture
def network():
    torch.manual_seed(0)
    return DRetHTR(TINY, 12).eval()


def taught(network):
    """The network with changes that are not zero."""
    learner = deepcopy(network)
    begin_changes(learner, RANK)
    for parameter in learner.parameters():
        if parameter.requires_grad:
            torch.nn.init.normal_(parameter, std=0.3)
    return learner


def images():
    return torch.rand(1, 1, 48, 160), torch.tensor([160]), torch.tensor([[4, 5, 6]])


@torch.inference_mode()
def test_a_change_begins_as_none(network):
    learner = deepcopy(network)
    begin_changes(learner, RANK)
    given = images()
    torch.testing.assert_close(learner(*given)[0], network(*given)[0])


def test_only_changes_learn(network):
    begin_changes(network, RANK)
    learning = [parameter for parameter in network.parameters() if parameter.requires_grad]
    assert len(learning) == 2 * len(projections(network))
    assert sum(parameter.numel() for parameter in learning) == RANK * size_of_rank(network)


def added(learner):
    """A plain network that has learned."""
    whole = DRetHTR(TINY, 12).eval()
    whole.load_state_dict(with_changes(learner.state_dict()))
    return whole


@torch.inference_mode()
def test_changes_added_to_the_weights_read_alike(network):
    learner = taught(network)
    whole = added(learner)
    assert whole.state_dict().keys() == network.state_dict().keys()
    given = images()
    torch.testing.assert_close(whole(*given)[0], learner(*given)[0])
    assert not torch.allclose(whole(*given)[0], network(*given)[0])


def test_changes_are_found_again_from_the_weights(network):
    whole = added(taught(network))
    again = deepcopy(network)
    apply_changes(again, changes_between(network, whole, RANK))
    for name, weight in whole.state_dict().items():
        torch.testing.assert_close(again.state_dict()[name], weight, rtol=1e-4, atol=1e-5)


def test_changed_weights_do_not_depend_on_the_order_of_sums(network):
    """Nor does the hash of the model, which libraries that sum in another order would else change."""
    changes = changes_between(network, added(taught(network)), RANK)
    once, again = deepcopy(network), deepcopy(network)
    apply_changes(once, changes)
    order = torch.randperm(RANK)
    turned = {name: value[:, order] if name.endswith(UP) else value[order] for name, value in changes.items()}
    apply_changes(again, turned)
    weights = again.state_dict()
    assert all(torch.equal(weight, weights[name]) for name, weight in once.state_dict().items())


def test_changes_of_another_network_are_refused(network):
    changes = changes_between(network, added(taught(network)), RANK)
    with pytest.raises(CheckpointError, match=r"change of embed|not the shape|other layers"):
        apply_changes(DRetHTR(TINY, 13), changes)
    changes.popitem()
    with pytest.raises(CheckpointError, match="other layers"):
        apply_changes(network, changes)
