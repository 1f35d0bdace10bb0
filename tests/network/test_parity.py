"""The published implementation's numbers, from small random weights, and ours.

The fixtures hold weights, image tokens (positions included) and token ids, and what the published code computed from
them on a CPU in float32. See fixtures/parity/README.md.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

from drethtr.network.attention import PRIORS, KeyValue
from drethtr.network.backbones import BACKBONES, Backbone, ImageFeatures
from drethtr.network.embedding import sinusoid
from drethtr.network.retention import DECAYS, RetentionState, parallel
from drethtr.paper.authors import published_network, published_weights
from drethtr.paper.variants import JointSoftmax
from drethtr.recognition.model.architecture import (
    BackboneConfig,
    Learned,
    Multiplied,
    NetworkConfig,
    NoPrior,
    Retentive,
)
from drethtr.recognition.model.decay import LayerPosition, Scheduled

FIXTURES = Path(__file__).parent / "fixtures" / "parity"
MIXER_OF = {"Bi_ret_RetNet_Sinusoidal_to_out": Retentive(), "Transformer": JointSoftmax()}
PRIOR_OF = {"Bi_ret_RetNet_Sinusoidal_to_out": Multiplied(), "Transformer": NoPrior()}


class TokensAsTheyAre(Backbone):
    """Takes the fixtures' image tokens for an image."""

    width = 32

    def forward(self, images, widths):
        return ImageFeatures(images[:, 0], widths)


@dataclass(frozen=True)
class AsTheyAre(BackboneConfig):
    pass


@BACKBONES.computes(AsTheyAre)
def tokens(config: AsTheyAre) -> Backbone:
    return TokensAsTheyAre()


class Published:
    """A fixture, and our network with its weights."""

    def __init__(self, name):
        with np.load(FIXTURES / f"{name}.npz") as arrays:
            self.arrays = {key: torch.from_numpy(arrays[key]) for key in arrays.files if key != "meta"}
            meta = json.loads(str(arrays["meta"]))
        config = NetworkConfig(
            layers=meta["depth"],
            width=meta["d"],
            heads=meta["heads"],
            hidden=meta["ffn"],
            backbone=AsTheyAre(),
            positions=Learned(meta["n_img"]),
            prior=PRIOR_OF[meta["mode"]],
            mixer=MIXER_OF[meta["mode"]],
        )
        weights = {key.removeprefix("w/"): array for key, array in self.arrays.items() if key.startswith("w/")}
        # The tokens are already projected and know their place, so both steps leave them alone.
        weights |= {
            "feature_extractor.linear.weight": torch.eye(meta["d"]),
            "feature_extractor.linear.bias": torch.zeros(meta["d"]),
            "feature_extractor.img_pos_embedding": torch.zeros(1, meta["n_img"], meta["d"]),
        }
        self.network = published_network(published_weights(weights), config)

    def __getitem__(self, key):
        return self.arrays[key]

    @property
    def counts(self):
        lines, tokens, _ = self["in/img_tokens"].shape
        return torch.full((lines,), tokens)

    def memory(self):
        return self.network.encode_tokens(self["in/img_tokens"], self.counts)


@pytest.fixture(scope="module")
def retentive():
    return Published("tiny_bi_ret_published")


@pytest.fixture(scope="module", params=["tiny_bi_ret_published", "tiny_transformer"])
def published(request):
    return Published(request.param)


def assert_agree(ours, theirs, tolerance=1e-4):
    torch.testing.assert_close(ours, theirs, rtol=0, atol=tolerance)


@torch.inference_mode()
def test_logits_at_once(published):
    memory = published.memory()
    logits, _ = published.network.decode_text(published["in/ids"], memory, published.network.initial_state(memory))
    assert_agree(logits, published["out/parallel"])


@torch.inference_mode()
def test_logits_step_by_step(published):
    network, memory = published.network, published.memory()
    state, steps = network.initial_state(memory), []
    for tokens in published["in/ids"].split(1, dim=1):
        logits, state = network.decode_text(tokens, memory, state)
        steps.append(logits)
    for way in ("kv_cached", "recurrent"):
        if f"out/{way}" in published.arrays:
            assert_agree(torch.cat(steps, dim=1), published[f"out/{way}"])


@torch.inference_mode()
def test_the_output_of_every_layer(published):
    """Image tokens, then text tokens."""
    network, image = published.network, published["in/img_tokens"]
    text = network.embed(published["in/ids"], torch.arange(published["in/ids"].shape[1]))
    for number, block in enumerate(network.blocks):
        image, kept = block.image(image, None)
        text, _ = block.text(text, kept, None, block.initial_state(kept))
        assert_agree(torch.cat([image, text], dim=1), published[f"hidden/{number}"])


@torch.inference_mode()
def test_an_image_takes_the_same_way(published):
    memory = published.network.encode_image(published["in/img_tokens"][:, None], published.counts)
    for ours, expected in zip(memory.layers, published.memory().layers, strict=True):
        assert torch.equal(ours.keys, expected.keys) and torch.equal(ours.values, expected.values)


def test_positions_of_text(published):
    assert_agree(sinusoid(torch.arange(15.0), 32), published["const/text_pos"], 1e-6)


def test_gamma(retentive):
    gammas = torch.tensor(np.array([Scheduled().gamma(LayerPosition(layer, 3, 4)) for layer in range(3)])).float()
    assert_agree(gammas, retentive["const/gammas"], 1e-6)


def test_decay_of_text(retentive):
    """D, its rows divided by the root of their sum: what retention reads where all scores are 1."""
    ones, each = torch.ones(1, 4, 15, 1), torch.eye(15).expand(1, 4, 15, 15)
    for layer, expected in enumerate(retentive["const/D_text"]):
        log_decay = DECAYS.build(Scheduled(), LayerPosition(layer, 3, 4), 32)(ones[:, 0])
        [read], _ = parallel(ones, ones, each, log_decay, RetentionState.empty(ones, each), normalize=True)
        assert_agree(read, expected, 1e-6)


def test_prior_of_the_image(retentive):
    """What every 20th image token sees of each other one where attention is even."""
    zeros, each = torch.zeros(1, 4, 140, 1), torch.eye(140).expand(1, 4, 140, 140)
    for layer, expected in enumerate(retentive["const/D_img"]):
        [seen] = PRIORS.build(Multiplied(), LayerPosition(layer, 3, 4))(zeros, KeyValue(zeros, each), None, 0.0)
        assert_agree(seen[..., ::20, :] * 140, expected, 1e-5)
