"""How text tokens weigh image and preceding text; test_network.py has the laws that all mixers share."""

from dataclasses import replace

import pytest
import torch
from conftest import TINY
from torch.testing import assert_close

from drethtr.network import mixer
from drethtr.network.attention import KeyValue, attend_image
from drethtr.network.mixer import Query, Retention
from drethtr.network.network import DRetHTR
from drethtr.network.retention import log_gamma
from drethtr.paper.variants import EncoderDecoder, Gated, JointSoftmax, SplitSoftmax
from drethtr.recognition.model.architecture import Retentive
from drethtr.recognition.model.decay import LayerPosition, Scheduled

CONFIGS = {
    "retentive": TINY,
    "gated": replace(TINY, mixer=Retentive(Gated())),
    "joint": replace(TINY, mixer=JointSoftmax()),
    "split": replace(TINY, mixer=SplitSoftmax()),
    "encoder": replace(TINY, architecture=EncoderDecoder(layers=1, hidden=16)),
    "encoder, softmax": replace(TINY, architecture=EncoderDecoder(layers=1, hidden=16), mixer=JointSoftmax()),
}
PLACES = [LayerPosition(layer, TINY.layers, TINY.heads) for layer in range(TINY.layers)]


def test_retention_by_hand():
    """Two tokens, one head 4 wide: queries are divided by 2, and γ is that of the schedule (paper, eq. 2)."""
    position = LayerPosition(0, 2, 1)
    [gamma] = Scheduled().gamma(position).tolist()
    retention = Retention(Retentive(normalize=False), position, 4)
    q, k, v = torch.randn(3, 1, 1, 2, 4, generator=torch.Generator().manual_seed(0)).unbind()
    query = Query(torch.zeros(1, 2, 4), q, KeyValue(k, v))
    mixed, _ = retention(query, retention.initial_state(KeyValue(k, v)), dropout=0.0)
    scores = (q @ k.mT / 2)[0, 0]
    first = scores[0, 0] * v[0, 0, 0]
    second = gamma * scores[1, 0] * v[0, 0, 0] + scores[1, 1] * v[0, 0, 1]
    assert_close(mixed[0, 0], torch.stack([first, second]))


@torch.inference_mode()
def watched(config, columns=200, widths=(160,)):
    torch.manual_seed(0)
    network = DRetHTR(config, 20).eval()
    memory = network.encode_image(torch.randn(1, 1, 48, columns), torch.tensor(widths))
    return memory, network.weigh(torch.tensor([[0, 5, 6, 7]]), memory)


@pytest.mark.parametrize("name", CONFIGS)
def test_every_layer_shows_what_it_weighs(name):
    memory, layers = watched(CONFIGS[name])
    assert len(layers) == 2
    for kept, weights in zip(memory.layers, layers, strict=True):
        assert weights.image.shape == (2, 4, kept.keys.shape[2])
        assert_close(weights.image.sum(-1), torch.ones(2, 4))
        assert (weights.image[..., ~memory.mask[0]] == 0).all(), "padding was looked at"
        assert weights.text.shape == (2, 4, 4) and not weights.text.triu(1).any() and (weights.text >= 0).all()


def test_it_is_what_the_layer_takes_from_the_image(monkeypatch):
    """Values of the image, weighed by the attention that is shown, are what attention returns."""
    taken = []

    def attend(q, image, mask, dropout=0.0):
        taken.append((attend_image(q, image, mask, dropout), image.values))
        return taken[-1][0]

    monkeypatch.setattr(mixer, "attend_image", attend)
    _, layers = watched(TINY)
    for weights, (found, values) in zip(layers, taken, strict=True):
        assert_close(weights.image @ values[0], found[0], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("config", [Retentive(), Retentive(normalize=False), Retentive(Gated())], ids=repr)
@torch.inference_mode()
def test_weights_times_values_are_what_retention_says(config):
    torch.manual_seed(0)
    retention = Retention(config, PLACES[0], 16)
    q, k, v = torch.rand(3, 1, 2, 7, 8)  # positive, so that scores are their own size
    query, empty = Query(torch.randn(1, 7, 16), q, KeyValue(k, v)), KeyValue(k[:, :, :0], v[:, :, :0])
    mixed, _ = retention(query, retention.initial_state(empty), dropout=0.0)
    weights, _ = retention.weigh(query)
    assert_close(weights @ v[0], mixed[0])


def test_memory_reaches_as_far_as_the_decay_lets_it():
    _, layers = watched(TINY)
    for weights, place in zip(layers, PLACES, strict=True):
        assert_close(weights.reach, 1 / (1 - log_gamma(TINY.mixer.decay, place).exp()), rtol=1e-3, atol=0)
    assert [weights.reach.shape for weights in watched(CONFIGS["gated"])[1]] == [(2,), (2,)]
