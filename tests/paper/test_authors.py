"""The authors' weights find their places, and become a model; test_parity.py shows that they mean the same."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from drethtr.base.errors import CheckpointError, ConfigError
from drethtr.network.backend import network_of
from drethtr.network.network import DRetHTR
from drethtr.paper.authors import (
    IAM_ALPHABET,
    PRESETS,
    WORDS,
    PublishedSettings,
    convert,
    fill,
    load,
    published_weights,
    their_name,
)
from drethtr.paper.variants import Gated, JointSoftmax
from drethtr.recognition.model.architecture import BASE, EfficientNetV2S, NetworkConfig, Retentive

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
        shapes[f"feature_extractor.features.0.{name}"] = size
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
        ({"retnet.layers.3.0.fn.to_g.weight": (768, 768)}, "does not use the weights retnet.layers.3.0.fn.to_g.weight"),
        ({"encoder.weight": (1,), "module.x": (1,)}, "unknown weights: encoder.weight, module.x"),
        ({f"optimizer.{n}": (1,) for n in range(9)}, "optimizer.0, optimizer.1, optimizer.2 and 6 more"),
        ({"embed_tokens.weight": (90, 768)}, r"embed_tokens.weight is of shape \(90, 768\), in this network \(83, 768"),
        (base_layer(12), "does not use the weights retnet.layers.12.0.fn.to_out.0.bias, "),
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


@pytest.mark.parametrize(
    ("queries", "keys_values"),
    [
        (torch.zeros(()), torch.zeros(())),
        (torch.zeros(2, 2), torch.zeros(4, 3)),
        (torch.zeros(2, 2), torch.zeros(4, 2, dtype=torch.float8_e5m2)),
    ],
    ids=["numbers", "widths", "types"],
)
def test_projections_that_cannot_be_joined_are_named(queries, keys_values):
    layer = "retnet.layers.0.0.fn"
    with pytest.raises(CheckpointError, match=r"blocks\.0\. are no matrices of one width and type"):
        published_weights({f"{layer}.to_q.weight": queries, f"{layer}.to_kv.weight": keys_values})


def test_a_layer_beyond_all_networks_is_unknown():
    with pytest.raises(CheckpointError, match="unknown weights: retnet"):
        published_weights({f"retnet.layers.{'9' * 5000}.0.norm.weight": torch.zeros(1)})


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


FIXTURES = Path(__file__).parents[1] / "network" / "fixtures" / "parity"
WIDTH, HEADS, LAYERS, IMAGE, TEXT, VOCABULARY = 16, 4, 3, 9, 6, 11

RETENTIVE = [
    "_".join(filter(None, words))
    for words in product(
        ("", "Bi_ret", "Bi_ret_no_lwgs"),
        ("RetNet", "RetNet3"),
        ("Sinusoidal", ""),
        ("to_out", "to_out_sigmoid", "group_norm", "group_split_norm", "split_out", ""),
    )
]
SOFTMAX = [
    "_".join(filter(None, words))
    for words in product(
        ("", "Bi_ret", "Bi_ret_no_lwgs"), ("Transformer",), ("", "split_softmax"), ("", "with_gamma"), ("", "sigmoid")
    )
]
TRANSFORMER = PublishedSettings(mode="Transformer")
FLAGS = [
    {},
    {"D_norm": False},
    {"layerwise": False},
    {"layerwise": False, "gamma_subtracter": 0.0},
    {"gamma_subtracter": 0.4},
    {"various": True, "D_norm": False},
    {"various": True, "layerwise": False},
]
FLAGGED = [
    "Bi_ret_RetNet_Sinusoidal_to_out",
    "Bi_ret_no_lwgs_RetNet_Sinusoidal",
    "Bi_ret_RetNet3_Sinusoidal_group_norm",
    "RetNet3_to_out",
    "Bi_ret_Transformer_with_gamma",
    "Transformer_split_softmax_with_gamma_sigmoid",
]


def made_up(mode):
    """A published state dict without an image part, its numbers large enough to matter."""
    shapes = {"embed_tokens.weight": (VOCABULARY, WIDTH), "generator.weight": (VOCABULARY, WIDTH)}
    for layer in range(LAYERS):
        mixing, feed = f"retnet.layers.{layer}.0", f"retnet.layers.{layer}.1"
        shapes |= {f"{part}.norm.{name}": (WIDTH,) for part in (mixing, feed) for name in ("weight", "bias")}
        shapes |= {f"{mixing}.fn.to_q.weight": (WIDTH, WIDTH), f"{mixing}.fn.to_kv.weight": (2 * WIDTH, WIDTH)}
        shapes |= {f"{mixing}.fn.to_out.0.weight": (WIDTH, WIDTH), f"{mixing}.fn.to_out.0.bias": (WIDTH,)}
        shapes |= {f"{feed}.fn.net.0.weight": (24, WIDTH), f"{feed}.fn.net.0.bias": (24,)}
        shapes |= {f"{feed}.fn.net.3.weight": (WIDTH, 24), f"{feed}.fn.net.3.bias": (WIDTH,)}
        if "RetNet3" in mode:
            shapes[f"{mixing}.fn.to_gt.weight"] = (HEADS, WIDTH)
        if "RetNet" in mode and "to_out" not in mode:
            shapes |= {f"{mixing}.fn.group_norm.{name}": (WIDTH,) for name in ("weight", "bias")}
            if "group" not in mode:
                shapes[f"{mixing}.fn.to_g.weight"] = (WIDTH, WIDTH)
    torch.manual_seed(0)
    return {name: torch.randn(shape) * (0.4 if len(shape) > 1 else 1) for name, shape in shapes.items()}


class Reference:
    """The formulas."""

    def __init__(self, state, mode, *, D_norm=True, gamma_subtracter=0.86, layerwise=True, various=False):
        self.state = {name: weight.double() for name, weight in state.items()}
        self.mode, self.normalized = mode, D_norm
        self.subtracter, self.layerwise, self.various = gamma_subtracter, layerwise, various

    def __call__(self, image, ids):
        text = self.state["embed_tokens.weight"][ids]
        if "Transformer" in self.mode or "Sinusoidal" in self.mode:
            half = WIDTH // 2
            frequencies = torch.exp(-np.log(10000) * torch.arange(half).double() / (half - 1))
            angles = torch.arange(TEXT).double()[:, None] * frequencies
            text = text + torch.cat([angles.sin(), angles.cos()], -1)
        x = torch.cat([image.double(), text], dim=1)
        for layer in range(LAYERS):
            x = x + self.mix(layer, self.normed(x, f"retnet.layers.{layer}.0"))
            feed = f"retnet.layers.{layer}.1.fn.net"
            hidden = F.gelu(self.linear(self.normed(x, f"retnet.layers.{layer}.1"), f"{feed}.0"))
            x = x + self.linear(hidden, f"{feed}.3")
        return x[:, IMAGE:] @ self.state["generator.weight"].T

    def normed(self, x, name):
        return F.layer_norm(x, (WIDTH,), self.state[f"{name}.norm.weight"], self.state[f"{name}.norm.bias"])

    def linear(self, x, name):
        return F.linear(x, self.state[f"{name}.weight"], self.state.get(f"{name}.bias"))

    def mix(self, layer, x):
        name = f"retnet.layers.{layer}.0.fn"
        parts = [self.linear(x, f"{name}.to_q"), *self.linear(x, f"{name}.to_kv").chunk(2, -1)]
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in parts)
        found = (self.weights(layer, x, q @ k.mT / (WIDTH / HEADS) ** 0.5) @ v).transpose(1, 2).flatten(2)
        return self.linear(self.output(name, x, found), f"{name}.to_out.0")

    def weights(self, layer, x, scores):
        future = torch.ones(TEXT, TEXT).triu(1).bool()
        if "RetNet" in self.mode:
            to_image = scores[..., :IMAGE].softmax(-1)
            to_text = scores[..., IMAGE:] * F.pad(self.decay(layer, x), (0, 0, IMAGE, 0))
        elif "split_softmax" in self.mode:
            to_image = scores[..., :IMAGE].softmax(-1)
            causal = scores[..., IMAGE:, IMAGE:].masked_fill(future, -torch.inf).softmax(-1)
            to_text = F.pad(causal, (0, 0, IMAGE, 0))
        else:
            hidden = F.pad(future, (IMAGE, 0, IMAGE, 0))
            hidden[:IMAGE, IMAGE:] = True
            to_image, to_text = scores.masked_fill(hidden, -torch.inf).softmax(-1).split([IMAGE, TEXT], -1)
        if "Bi_ret" in self.mode:
            to_image = to_image.clone()
            to_image[..., :IMAGE, :] *= self.prior(layer)
        if "Transformer" in self.mode and "with_gamma" in self.mode:
            to_text = to_text.clone()
            to_text[..., IMAGE:, :] *= self.decay(layer, x)
        return torch.cat([to_image, to_text], -1)

    def decay(self, layer, x):
        """D of the text, (..., H, T, T)."""
        if "RetNet3" in self.mode:
            gate = self.linear(x[:, IMAGE:], f"retnet.layers.{layer}.0.fn.to_gt").mT
            total = F.logsigmoid(gate).cumsum(-1) / 16
            matrix = (total[..., :, None] - total[..., None, :]).exp().tril()
        else:
            distance = torch.arange(TEXT)[:, None] - torch.arange(TEXT)
            matrix = (self.gamma(layer)[:, None, None] ** distance).tril()
        return matrix / matrix.sum(-1, keepdim=True).sqrt() if self.normalized else matrix

    def gamma(self, layer):
        spread = torch.linspace(np.log(1 / 32), np.log(1 / 512), HEADS).double().exp()
        if self.various:
            return torch.linspace(1 - self.subtracter - 1 / 32, 1 - 1 / 32, HEADS).double()
        if self.layerwise:
            return 1 - self.subtracter * (1 - layer / (LAYERS - 1)) - spread
        return 1 - self.subtracter - spread

    def prior(self, layer):
        spread = torch.linspace(np.log(1 / 32), np.log(1 / 512), HEADS).double().exp()
        scaled = self.layerwise and "no_lwgs" not in self.mode
        gamma = 1 - spread - (self.subtracter * (1 - layer / (LAYERS - 1)) if scaled else 0)
        matrix = gamma[:, None, None] ** (torch.arange(IMAGE)[:, None] - torch.arange(IMAGE)).abs()
        return matrix / matrix.sum(-1, keepdim=True).sqrt()

    def output(self, name, x, found):
        if "Transformer" in self.mode or "to_out" in self.mode:
            return found.sigmoid() if "sigmoid" in self.mode else found
        norm = [self.state[f"{name}.group_norm.{part}"] for part in ("weight", "bias")]
        changed = F.group_norm(found.flatten(0, 1), HEADS, *norm).view_as(found)
        if "group" not in self.mode:
            changed = F.silu(self.linear(x, f"{name}.to_g")) * changed
        if "split" in self.mode:
            changed = torch.cat([found[:, :IMAGE], changed[:, IMAGE:]], dim=1)
        return changed


def at_once(network, image, ids):
    """Logits of whole texts: without an image part, tokens that know their place are given for an image."""
    logits, _ = network(image[:, None], torch.full((len(image),), image.shape[1]), ids)
    return logits


def inputs():
    generator = torch.Generator().manual_seed(1)
    image = torch.randn(2, IMAGE, WIDTH, generator=generator, dtype=torch.float64)
    return image, torch.randint(VOCABULARY, (2, TEXT), generator=generator)


@torch.inference_mode()
def assert_equals_its_formulas(mode, flags):
    state, (image, ids) = made_up(mode), inputs()
    network = load(state, heads=HEADS, settings=PublishedSettings(mode=mode, **flags)).double()
    expected = Reference(state, mode, **flags)(image, ids)
    torch.testing.assert_close(at_once(network, image, ids), expected, rtol=1e-5, atol=1e-5)
    memory = network.encode_tokens(image, torch.full((2,), IMAGE))
    state, steps = network.initial_state(memory), []
    for tokens in ids.split(1, dim=1):
        logits, state = network.decode_text(tokens, memory, state)
        steps.append(logits)
    torch.testing.assert_close(torch.cat(steps, dim=1), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("mode", [*RETENTIVE, *SOFTMAX])
def test_a_mode_is_its_formulas_at_once_and_step_by_step(mode):
    assert_equals_its_formulas(mode, {})


@pytest.mark.parametrize("flags", FLAGS, ids=str)
@pytest.mark.parametrize("mode", FLAGGED)
def test_flags_mean_what_they_mean_there(mode, flags):
    assert_equals_its_formulas(mode, flags)


@pytest.mark.parametrize("fixture", ["tiny_bi_ret_published", "tiny_transformer"])
def test_a_fixture_is_loaded_from_arrays_and_from_a_file(fixture, tmp_path):
    with np.load(FIXTURES / f"{fixture}.npz") as arrays:
        state = {key.removeprefix("w/"): torch.tensor(arrays[key]) for key in arrays.files if key.startswith("w/")}
        image, ids, expected = (torch.tensor(arrays[key]) for key in ("in/img_tokens", "in/ids", "out/parallel"))
        meta = json.loads(str(arrays["meta"]))
    path = tmp_path / "weights.pt"
    torch.save({f"module.{name}": weight for name, weight in state.items()}, path)
    for weights in (state, path, str(path)):
        network = load(weights, heads=meta["heads"], settings=PublishedSettings(mode=meta["mode"]))
        assert not network.training
        with torch.inference_mode():
            torch.testing.assert_close(at_once(network, image, ids), expected, rtol=0, atol=1e-4)


def test_the_weights_given_are_left_alone():
    state = made_up("Transformer")
    network = load(state, heads=HEADS, settings=TRANSFORMER)
    kept = state["generator.weight"].clone()
    with torch.no_grad():
        network.to_logits.weight.zero_()
    assert torch.equal(state["generator.weight"], kept)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ret_norm": True}, "^ret_norm is not supported"),
        ({"mode": "RetNet_Sinusoidal_to_in"}, "unknown word 'to_in'; known: Transformer, RetNet, "),
        ({"mode": "Bi_ret_Sinusoidal"}, "contains neither RetNet, RetNet3 nor Transformer"),
        ({"mode": ""}, "contains neither"),
        ({"gamma_subtracter": 0.99}, "γ must stay between 0 and 1; .* at layer 0"),
    ],
    ids=str,
)
def test_settings_without_an_equal_form_are_refused_by_name(settings, message):
    with pytest.raises(ConfigError, match=message):
        load(made_up("Bi_ret_RetNet_Sinusoidal_to_out"), heads=HEADS, settings=PublishedSettings(**settings))


def test_ret_norm_means_nothing_to_a_transformer():
    load(made_up("Transformer"), heads=HEADS, settings=replace(TRANSFORMER, ret_norm=True))


def test_heads_that_do_not_fit_are_refused():
    with pytest.raises(ConfigError, match="must be even and a multiple of heads"):
        load(made_up("Transformer"), heads=3, settings=TRANSFORMER)


@pytest.mark.parametrize(
    ("made", "mode", "message"),
    [
        ("RetNet", "RetNet_to_out", "does not use the weights .*group_norm"),
        ("RetNet_to_out", "RetNet", "lack .*group_norm.* and 6 more, which this network has"),
        ("RetNet_to_out", "RetNet3_to_out", "lack .*to_gt"),
    ],
)
def test_weights_of_another_mode_are_refused_by_name(made, mode, message):
    with pytest.raises(CheckpointError, match=message):
        load(made_up(made), heads=HEADS, settings=PublishedSettings(mode=mode))


def test_something_else_is_no_published_network():
    with pytest.raises(CheckpointError, match=r"unknown weights: x; are they from a DRetHTR\?"):
        load({"x": torch.zeros(1)}, heads=1)
    with pytest.raises(CheckpointError, match=r"lack embed_tokens\.weight; are they from a DRetHTR\?"):
        load({"module.generator.weight": torch.zeros(1)}, heads=1)


def test_every_word_is_tried():
    tried = "_".join([*RETENTIVE, *SOFTMAX])
    assert all(word in tried for word in WORDS)
