"""Every published mode against its formulas, written out over all tokens at once."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from drethtr.base.errors import CheckpointError, ConfigError
from drethtr.paper.authors import load
from drethtr.paper.published_mode import WORDS, PublishedSettings

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
        ("RetNet", "RetNet_to_out", "no place for the weights .*group_norm"),
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
