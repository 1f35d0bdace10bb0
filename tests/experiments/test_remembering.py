"""The weights that are drawn are those that the mixers mix by."""

import pytest
import torch
from conftest import TINY

from drethtr.experiments.remembering import reach, text_weights, weights_of
from drethtr.model.architecture import EncoderDecoder
from drethtr.model.attention import KeyValue
from drethtr.model.decay import Gated, Place, Scheduled
from drethtr.model.mixer import Fade, JointSoftmax, Retentive, SplitSoftmax
from drethtr.model.network import DRetHTR

PLACE, WIDTH, TOKENS = Place(0, 2, 2), 16, 7
PASTS = {
    "retention": Retentive(),
    "retention, not normalized": Retentive(normalize=False),
    "gated retention": Retentive(Gated()),
    "softmax": SplitSoftmax(),
    "fading softmax": SplitSoftmax(Fade()),
}


def some_text():
    torch.manual_seed(0)
    x = torch.randn(1, TOKENS, WIDTH)
    q, k, v = torch.rand(3, 1, 2, TOKENS, 8)  # positive, so that retention's scores are their own size
    return x, q, KeyValue(k, v)


@pytest.mark.parametrize("config", PASTS.values(), ids=PASTS.keys())
@torch.inference_mode()
def test_weights_times_values_are_what_the_mixer_says(config):
    mixer = config.build_past(PLACE, WIDTH)
    x, q, text = some_text()
    mixed, _ = mixer(x, q, text, mixer.initial_state(KeyValue(*(part[:, :, :0] for part in text))), dropout=0.0)
    torch.testing.assert_close(weights_of(mixer, x, q, text) @ text.values, mixed)


@pytest.mark.parametrize("fade", [None, Fade()])
@torch.inference_mode()
def test_one_softmax_leaves_the_image_its_share(fade):
    mixer = JointSoftmax(fade).build(PLACE, WIDTH)
    x, q, text = some_text()
    image = KeyValue(torch.randn(1, 2, 5, 8), torch.zeros(1, 2, 5, 8))
    mask = torch.tensor([[True, True, True, False, False]])
    state = mixer.initial_state(KeyValue(*(part[:, :, :0] for part in text)))
    mixed, _ = mixer(x, q, text, image, mask, state, dropout=0.0)
    torch.testing.assert_close(weights_of(mixer, x, q, text, image, mask) @ text.values, mixed)


@pytest.mark.parametrize("architecture", [TINY.architecture, EncoderDecoder(layers=1, hidden=16)])
@pytest.mark.parametrize("mixer", [Retentive(), JointSoftmax()], ids=["retention", "softmax"])
def test_every_layer_of_every_system_is_seen(architecture, mixer):
    from dataclasses import replace

    network = DRetHTR(replace(TINY, mixer=mixer, architecture=architecture), 12).eval()
    memory = network.encode_image(torch.randn(1, 1, 48, 160), torch.tensor([130]))
    weights = text_weights(network, memory, torch.tensor([[0, 5, 6, 7]]))
    assert weights.shape == (2, 2, 4, 4) and not weights.triu(1).any() and (weights >= 0).all()


def test_longer_memories_reach_farther():
    x, q, text = some_text()
    far, near = (
        reach(weights_of(Retentive(Scheduled(name)).build_past(PLACE, WIDTH), x, q, text)).mean()
        for name in ("original", "layerwise")
    )
    assert 0 < near < 0.5 < far < TOKENS
