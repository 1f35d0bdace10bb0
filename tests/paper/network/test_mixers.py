"""The softmax mixers of the paper's baselines; tests/network/test_network.py has the laws that all mixers share."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import TINY
from torch.testing import assert_close

from drethtr.network.attention import KeyValue
from drethtr.network.cache import distances
from drethtr.network.mixer import MIXERS, Query
from drethtr.network.network import DRetHTR
from drethtr.network.retention import log_gamma
from drethtr.paper.network.mixers import FadedWeights, SoftmaxMixer
from drethtr.paper.variants import Fade, JointSoftmax, SplitSoftmax
from drethtr.recognition.model.decay import LayerPosition, Scheduled

PLACES = [LayerPosition(layer, TINY.layers, TINY.heads) for layer in range(TINY.layers)]


def test_faded_weights_by_hand():
    """γ = 1/2; normalized, the decays of a row are divided by the root of their sum over the past alone."""
    half, alone = Scheduled("small", 1 / 2 - 1 / 32), LayerPosition(0, 1, 1)
    decays = torch.tensor([[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.25, 0.5, 1.0]])
    causal, far = torch.ones(3, 3).tril(), distances(3, 3, torch.device("cpu"))
    plain, normalized = (
        FadedWeights(Fade(half, normalize), alone)(causal[None, None], far) for normalize in (False, True)
    )
    assert_close(plain[0, 0], decays)
    assert_close(normalized[0, 0], decays / torch.tensor([1.0, 1.5, 1.75]).sqrt()[:, None])
    last = FadedWeights(Fade(half), alone)(torch.ones(1, 1, 1, 3), far[2:])
    assert_close(last[0, 0], decays[2:] / np.sqrt(1.75))
    assert FadedWeights(None, alone)(causal, far) is causal


def some_text():
    torch.manual_seed(0)
    q, k, v = torch.rand(3, 1, 2, 7, 8)
    return Query(torch.randn(1, 7, 16), q, KeyValue(k, v)), KeyValue(k[:, :, :0], v[:, :, :0])


@pytest.mark.parametrize("fade", [None, Fade()])
@torch.inference_mode()
def test_weights_times_values_are_what_the_mixer_says(fade):
    mixer = SoftmaxMixer(fade, PLACES[0])
    query, empty = some_text()
    mixed, _ = mixer(query, mixer.initial_state(empty), dropout=0.0)
    assert_close(mixer.weigh(query)[0] @ query.text.values[0], mixed[0])


@pytest.mark.parametrize("fade", [None, Fade()])
@torch.inference_mode()
def test_one_softmax_leaves_the_image_its_share(fade):
    mixer = MIXERS.build(JointSoftmax(fade), PLACES[0], 16)
    query, empty = some_text()
    image = KeyValue(torch.randn(1, 2, 5, 8), torch.zeros(1, 2, 5, 8))
    mask = torch.tensor([[True, True, True, False, False]])
    mixed, _ = mixer(query, image, mask, mixer.initial_state(empty), dropout=0.0)
    assert_close(mixer.weigh(query, image, mask).text @ query.text.values[0], mixed[0])


@pytest.mark.parametrize("kind", [SplitSoftmax, JointSoftmax])
@torch.inference_mode()
def test_softmax_that_fades_reaches_as_far_as_it_fades(kind):
    def reach(fade):
        network = DRetHTR(replace(TINY, mixer=kind(fade)), 20).eval()
        memory = network.encode_image(torch.randn(1, 1, 48, 100), torch.tensor([100]))
        return [weights.reach for weights in network.weigh(torch.tensor([[0, 5, 6]]), memory)]

    for found, place in zip(reach(Fade()), PLACES, strict=True):
        assert_close(found, 1 / (1 - log_gamma(Fade().decay, place).exp()), rtol=1e-3, atol=0)
    assert reach(None) == [None, None]
