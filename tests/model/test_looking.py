from dataclasses import replace

import pytest
import torch
from conftest import TINY

from drethtr.model import mixer
from drethtr.model.architecture import EncoderDecoder
from drethtr.model.attention import attend_image
from drethtr.model.decay import Gated, Place
from drethtr.model.looking import watch
from drethtr.model.mixer import Fade, JointSoftmax, Retentive, SplitSoftmax
from drethtr.model.network import DRetHTR

CONFIGS = {
    "retentive": TINY,
    "gated": replace(TINY, mixer=Retentive(Gated())),
    "joint": replace(TINY, mixer=JointSoftmax()),
    "split": replace(TINY, mixer=SplitSoftmax()),
    "encoder": replace(TINY, architecture=EncoderDecoder(layers=1, hidden=16)),
}

PLACES = [Place(layer, TINY.layers, TINY.heads) for layer in range(TINY.layers)]


@torch.inference_mode()
def watched(config, columns=200, widths=(160,)):
    torch.manual_seed(0)
    network = DRetHTR(config, 20).eval()
    memory = network.encode_image(torch.randn(1, 1, 48, columns), torch.tensor(widths))
    return network, memory, watch(network, memory, torch.tensor([[0, 5, 6, 7]]))


@pytest.mark.parametrize("name", CONFIGS)
def test_every_layer_is_watched(name):
    _, memory, looks = watched(CONFIGS[name])
    assert looks.attention.shape == (2, 2, 4, memory.layers[0].keys.shape[2])
    assert torch.allclose(looks.attention.sum(-1), torch.ones(2, 2, 4))
    assert (looks.attention[..., ~memory.mask[0]] == 0).all(), "padding was looked at"


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


def test_memory_reaches_as_far_as_the_decay_lets_it():
    _, _, looks = watched(TINY)
    gamma = torch.stack([TINY.mixer.decay.gamma(place) for place in PLACES])
    assert torch.allclose(looks.reach, 1 / (1 - gamma), rtol=1e-3)
    assert watched(CONFIGS["gated"])[2].reach.shape == (2, 2)


@pytest.mark.parametrize("kind", [SplitSoftmax, JointSoftmax])
def test_softmax_that_fades_reaches_as_far_as_it_fades(kind):
    _, _, looks = watched(replace(TINY, mixer=kind(Fade())))
    gamma = torch.stack([Fade().decay.gamma(place) for place in PLACES])
    assert torch.allclose(looks.reach, 1 / (1 - gamma), rtol=1e-3)
    assert watched(replace(TINY, mixer=kind()))[2].reach is None
    assert watched(CONFIGS["joint"])[2].reach is None


def test_watching_leaves_no_trace():
    network, memory, looks = watched(TINY)
    again = watch(network, memory, torch.tensor([[0, 5, 6, 7]]))
    assert torch.equal(again.attention, looks.attention)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in network.modules())
