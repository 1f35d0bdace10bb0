from dataclasses import replace

import pytest
import torch
from conftest import TINY

from drethtr.network import mixer
from drethtr.network.attention import KeyValue, attend_image
from drethtr.network.decay import log_gamma
from drethtr.network.inspection import record_weights, text_weights
from drethtr.network.mixer import build_mixer, build_past
from drethtr.network.network import DRetHTR
from drethtr.recognition.model.architecture import EncoderDecoder, Fade, JointSoftmax, Retentive, SplitSoftmax
from drethtr.recognition.model.decay import Gated, LayerPosition

CONFIGS = {
    "retentive": TINY,
    "gated": replace(TINY, mixer=Retentive(Gated())),
    "joint": replace(TINY, mixer=JointSoftmax()),
    "split": replace(TINY, mixer=SplitSoftmax()),
    "encoder": replace(TINY, architecture=EncoderDecoder(layers=1, hidden=16)),
    "encoder, softmax": replace(TINY, architecture=EncoderDecoder(layers=1, hidden=16), mixer=JointSoftmax()),
}
PASTS = {
    "retention": Retentive(),
    "retention, not normalized": Retentive(normalize=False),
    "gated retention": Retentive(Gated()),
    "softmax": SplitSoftmax(),
    "fading softmax": SplitSoftmax(Fade()),
}

PLACES = [LayerPosition(layer, TINY.layers, TINY.heads) for layer in range(TINY.layers)]


@torch.inference_mode()
def watched(config, columns=200, widths=(160,)):
    torch.manual_seed(0)
    network = DRetHTR(config, 20).eval()
    memory = network.encode_image(torch.randn(1, 1, 48, columns), torch.tensor(widths))
    return network, memory, record_weights(network, memory, torch.tensor([[0, 5, 6, 7]]))


@pytest.mark.parametrize("name", CONFIGS)
def test_every_layer_is_watched(name):
    _, memory, looks = watched(CONFIGS[name])
    assert looks.attention.shape == (2, 2, 4, memory.layers[0].keys.shape[2])
    assert torch.allclose(looks.attention.sum(-1), torch.ones(2, 2, 4))
    assert (looks.attention[..., ~memory.mask[0]] == 0).all(), "padding was looked at"
    assert looks.text.shape == (2, 2, 4, 4) and not looks.text.triu(1).any() and (looks.text >= 0).all()


def test_it_is_what_the_layer_takes_from_the_image(monkeypatch):
    """Values of the image, weighed by the attention that was watched, are what attention returns."""
    taken = []

    def attend(q, image, mask, dropout=0.0):
        taken.append((attend_image(q, image, mask, dropout), image.values))
        return taken[-1][0]

    monkeypatch.setattr(mixer, "attend_image", attend)
    _, _, looks = watched(TINY)
    for weights, (found, values) in zip(looks.attention, taken, strict=True):
        assert torch.allclose(weights @ values[0], found[0], atol=1e-5)


def some_text():
    torch.manual_seed(0)
    x = torch.randn(1, 7, 16)
    q, k, v = torch.rand(3, 1, 2, 7, 8)  # positive, so that retention's scores are their own size
    return x, q, KeyValue(k, v)


@pytest.mark.parametrize("config", PASTS.values(), ids=PASTS.keys())
@torch.inference_mode()
def test_weights_times_values_are_what_the_mixer_says(config):
    mixer = build_past(config, PLACES[0], 16)
    x, q, text = some_text()
    mixed, _ = mixer(x, q, text, mixer.initial_state(KeyValue(*(part[:, :, :0] for part in text))), dropout=0.0)
    torch.testing.assert_close(text_weights(mixer, x, q, text) @ text.values, mixed)


@pytest.mark.parametrize("fade", [None, Fade()])
@torch.inference_mode()
def test_one_softmax_leaves_the_image_its_share(fade):
    mixer = build_mixer(JointSoftmax(fade), PLACES[0], 16)
    x, q, text = some_text()
    image = KeyValue(torch.randn(1, 2, 5, 8), torch.zeros(1, 2, 5, 8))
    mask = torch.tensor([[True, True, True, False, False]])
    state = mixer.initial_state(KeyValue(*(part[:, :, :0] for part in text)))
    mixed, _ = mixer(x, q, text, image, mask, state, dropout=0.0)
    torch.testing.assert_close(text_weights(mixer, x, q, text, image, mask) @ text.values, mixed)


def test_memory_reaches_as_far_as_the_decay_lets_it():
    _, _, looks = watched(TINY)
    gamma = torch.stack([log_gamma(TINY.mixer.decay, place).exp() for place in PLACES])
    torch.testing.assert_close(looks.reach, 1 / (1 - gamma), rtol=1e-3, atol=0)
    assert watched(CONFIGS["gated"])[2].reach.shape == (2, 2)


@pytest.mark.parametrize("kind", [SplitSoftmax, JointSoftmax])
def test_softmax_that_fades_reaches_as_far_as_it_fades(kind):
    _, _, looks = watched(replace(TINY, mixer=kind(Fade())))
    gamma = torch.stack([log_gamma(Fade().decay, place).exp() for place in PLACES])
    torch.testing.assert_close(looks.reach, 1 / (1 - gamma), rtol=1e-3, atol=0)
    assert watched(replace(TINY, mixer=kind()))[2].reach is None
    assert watched(CONFIGS["joint"])[2].reach is None


def test_watching_leaves_no_trace():
    network, memory, looks = watched(TINY)
    again = record_weights(network, memory, torch.tensor([[0, 5, 6, 7]]))
    assert torch.equal(again.attention, looks.attention)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in network.modules())
