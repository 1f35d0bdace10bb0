"""The authors' weights find their places, and become a model; test_parity.py shows that they mean the same."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from drethtr.base.errors import CheckpointError, ConfigError
from drethtr.network.backend import network_of
from drethtr.network.network import DRetHTR
from drethtr.paper.authors import IAM_ALPHABET, PRESETS, convert, fill, load, published_weights, their_name
from drethtr.paper.variants import Gated, JointSoftmax
from drethtr.recognition.model.architecture import BASE, NetworkConfig, Retentive
from drethtr.recognition.model.backbones import EfficientNetV2S

BACKBONE = Path(__file__).parents[1] / "network" / "fixtures" / "efficientnet_v2_s.tsv"


def base_layer(number):
    """Names and shapes of one layer of the published BASE weights."""
    layer = f"retnet.layers.{number}"
    return {
        f"{layer}.0.norm.weight": (768,),
        f"{layer}.0.norm.bias": (768,),
        f"{layer}.0.fn.to_q.weight": (768, 768),
        f"{layer}.0.fn.to_kv.weight": (1536, 768),
        f"{layer}.0.fn.to_out.0.weight": (768, 768),
        f"{layer}.0.fn.to_out.0.bias": (768,),
        f"{layer}.1.norm.weight": (768,),
        f"{layer}.1.norm.bias": (768,),
        f"{layer}.1.fn.net.0.weight": (3072, 768),
        f"{layer}.1.fn.net.0.bias": (3072,),
        f"{layer}.1.fn.net.3.weight": (768, 3072),
        f"{layer}.1.fn.net.3.bias": (768,),
    }


@pytest.fixture
def published():
    """The published BASE weights, without numbers."""
    shapes = {
        "feature_extractor.img_pos_embedding": (1, 140, 768),
        "feature_extractor.linear.weight": (768, 2560),
        "feature_extractor.linear.bias": (768,),
        "embed_tokens.weight": (83, 768),
        "generator.weight": (83, 768),
    }
    for number in range(12):
        shapes |= base_layer(number)
    for line in BACKBONE.read_text().splitlines():
        name, shape = line.split("\t")
        size = () if shape == "scalar" else tuple(map(int, shape.split("x")))
        shapes["feature_extractor.features.0." + name.removeprefix("features.")] = size
    assert len(shapes) == 929
    return {name: torch.empty(shape, device="meta") for name, shape in shapes.items()}


@pytest.fixture(scope="module")
def base():
    with torch.device("meta"):
        return DRetHTR(BASE, 83)


@pytest.mark.parametrize("prefix", ["", "module."])
def test_every_weight_of_base_has_its_place(published, base, prefix):
    ours = published_weights({prefix + name: weight for name, weight in published.items()})
    assert {name: weight.shape for name, weight in ours.items()} == {
        name: weight.shape for name, weight in base.state_dict().items()
    }
    fill(base, ours)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"retnet.layers.3.0.fn.to_g.weight": (768, 768)}, "no place for the weights retnet.layers.3.0.fn.to_g.weight"),
        ({"encoder.weight": (1,), "module.x": (1,)}, "unknown weights: encoder.weight, module.x"),
        ({f"optimizer.{n}": (1,) for n in range(9)}, "optimizer.0, optimizer.1, optimizer.2 and 6 more"),
        ({"embed_tokens.weight": (90, 768)}, r"embed_tokens.weight is of shape \(90, 768\), in this network \(83, 768"),
        (base_layer(12), "no place for the weights retnet.layers.12.0.fn.to_out.0.bias, "),
    ],
    ids=["swish gate", "foreign", "many", "alphabet", "layers"],
)
def test_weights_that_do_not_fit_are_named(published, base, change, message):
    more = {name: torch.empty(shape, device="meta") for name, shape in change.items()}
    with pytest.raises(CheckpointError, match=message):
        fill(base, published_weights(published | more))


@pytest.mark.parametrize(
    ("lost", "message"),
    [
        ("generator.weight", "the weights lack generator.weight, which this network has"),
        (
            "feature_extractor.features.0.0.0.weight",
            "the weights lack feature_extractor.features.0.0.0.weight, which this network has",
        ),
        ("retnet.layers.7.0.fn.to_kv.weight", "queries but no keys and values for blocks.7"),
        ("retnet.layers.7.0.fn.to_q.weight", "lack retnet.layers.7.0.fn.to_q.weight, which"),
    ],
)
def test_what_is_missing_is_named(published, base, lost, message):
    del published[lost]
    with pytest.raises(CheckpointError, match=message):
        fill(base, published_weights(published))


def test_queries_come_before_keys_and_values():
    layer = "retnet.layers.0.0.fn"
    weights = {f"{layer}.to_kv.weight": torch.ones(4, 2), f"{layer}.to_q.weight": torch.zeros(2, 2)}
    [(name, joined)] = published_weights(weights).items()
    assert name == "blocks.0.fusion.to_qkv.weight"
    assert joined.tolist() == [[0, 0]] * 2 + [[1, 1]] * 4


def test_the_softmax_baseline_has_the_same_weights_and_the_gated_network_its_gates(published):
    with torch.device("meta"):
        fill(DRetHTR(replace(BASE, mixer=JointSoftmax()), 83), published_weights(published))
        gated = DRetHTR(replace(BASE, mixer=Retentive(Gated())), 83)
    with pytest.raises(CheckpointError, match=r"lack retnet.layers.0.0.fn.to_gt.weight, .* and 9 more"):
        fill(gated, published_weights(published))
    gates = {f"retnet.layers.{n}.0.fn.to_gt.weight": torch.empty(12, 768, device="meta") for n in range(12)}
    fill(gated, published_weights(published | gates))


def test_the_dropout_of_the_backbone_changes_no_names(published):
    config = NetworkConfig(layers=12, width=768, heads=12, hidden=3072, backbone=EfficientNetV2S(dropout=0.3))
    with torch.device("meta"):
        fill(DRetHTR(config, 83), published_weights(published))


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
