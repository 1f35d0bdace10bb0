"""Published weights become a model that reads."""

from dataclasses import replace

import pytest
import torch

from drethtr.base.errors import CheckpointError, ConfigError
from drethtr.network.backend import network_of
from drethtr.network.network import DRetHTR
from drethtr.paper.authors import load, their_name
from drethtr.paper.conversion import IAM_ALPHABET, PRESETS, convert

TINY = replace(
    PRESETS["small"],
    network=replace(PRESETS["small"].network, layers=2, width=16, heads=2, hidden=24),
)


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    return DRetHTR(TINY.network, 83).eval()


@pytest.fixture(scope="module")
def weights(network):
    """The network's weights under published names."""
    state = {}
    for name, weight in network.state_dict().items():
        theirs = their_name(name)
        if theirs.endswith("to_q.weight"):
            q, k, v = weight.chunk(3)
            state |= {theirs: q, theirs.replace("to_q", "to_kv"): torch.cat([k, v])}
        else:
            state[theirs] = weight
    return state


def test_the_alphabet_of_iam():
    assert len(IAM_ALPHABET) == 79 and IAM_ALPHABET.isascii()


def test_the_model_is_the_network_that_python_loads(network, weights):
    model = convert({f"module.{name}": weight for name, weight in weights.items()}, TINY, {"name": "x"})
    assert model.card == {"name": "x"} and model.tokenizer.decode([4, 57, 82]) == " az"
    assert model.preparation.height == 64 and model.preparation.deslant
    loaded = load(weights, heads=2)
    assert loaded.config == model.network == network.config
    for found in (network_of(model).state_dict(), loaded.state_dict()):
        assert all(torch.equal(weight, found[name]) for name, weight in network.state_dict().items())


def test_presets_are_the_published_networks():
    assert (PRESETS["base"].network.layers, PRESETS["base"].network.width) == (12, 768)
    assert all(preset.network.backbone.canvas == 2227 for preset in PRESETS.values())


def test_an_alphabet_of_another_size_is_refused(weights):
    with pytest.raises(
        CheckpointError, match=r"for 83 tokens, but an alphabet of 2 characters has 6 .* give the 79 ch"
    ):
        convert(weights, replace(TINY, alphabet="ab"), {})
    with pytest.raises(ConfigError, match="sorted and unique"):
        convert(weights, replace(TINY, alphabet="ba"), {})


def test_settings_that_do_not_fit_are_named(weights):
    with pytest.raises(CheckpointError, match=r"lack retnet\.layers\.2\."):
        convert(weights, replace(TINY, network=replace(TINY.network, layers=3)), {})
