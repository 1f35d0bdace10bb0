"""How far the two forms of the network are apart."""

from dataclasses import replace

import noise
import numpy as np
import pytest
import torch

from drethtr.bench.quality.drift import drift, measure, text_drift
from drethtr.network.backend import stack
from drethtr.network.rescorer import RescorerNetwork
from drethtr.recognition.decoding.strategies import Joint
from drethtr.recognition.model.architecture import RescorerConfig
from drethtr.recognition.model.file import Rescorer
from drethtr.recognition.protocol import Precision


@pytest.fixture(autouse=True)
def _no_gradients():
    with torch.inference_mode():
        yield


def network(dtype=torch.float64):
    return noise.noisy_weights().to(dtype)


def memory_of(made):
    rng = np.random.default_rng(0)
    images, widths = stack([rng.uniform(-1, 1, (48, columns)).astype(np.float32) for columns in (190, 70)])
    return made.encode_image(images.to(made.to_logits.weight.dtype), widths)


def text(tokens, rows=2):
    return torch.randint(4, noise.VOCABULARY, (rows, tokens), generator=torch.Generator().manual_seed(1))


def test_exact_numbers_do_not_drift():
    made = network()
    found = drift(made, text(600), memory_of(made))
    assert found.shape == (2, 600) and float(found.max()) < 1e-10


def test_coarser_numbers_drift_more():
    found = []
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        made = network(dtype)
        found.append(float(drift(made, text(100), memory_of(made)).max()))
    exact, half, coarse = found
    assert 10 * exact < half < coarse


def test_drift_is_reported_per_line():
    """What stands behind the end of the shorter text does not count."""
    made = network(torch.bfloat16)
    memory, texts = memory_of(made), [[5, 6], list(range(4, noise.VOCABULARY)) * 8]
    together = text_drift(made, texts, memory)
    tokens = torch.tensor([[0, *texts[1]]])
    assert len(together) == 2 and together[0] < together[1]
    alone = drift(made, tokens.expand(2, -1), memory)[1]
    assert together[1] == pytest.approx(float(alone.max()), rel=0.2)


def test_the_texts_are_those_that_users_get(tiny_model, monkeypatch):
    """Of the models that are shipped, a rescorer chooses among candidates."""
    asked, forward = [], RescorerNetwork.forward

    def counted(self, *given):
        asked.append(given)
        return forward(self, *given)

    monkeypatch.setattr(RescorerNetwork, "forward", counted)
    config = RescorerConfig(layers=1, width=16, heads=2, hidden=32)
    weights = RescorerNetwork(config, tiny_model.tokenizer.size).state_dict()
    rescorer = Rescorer(config, {name: weight.numpy() for name, weight in weights.items()})
    model = replace(tiny_model, rescorer=rescorer)
    line = np.random.default_rng(0).integers(0, 255, (48, 300)).astype(np.uint8)
    [found] = measure(model, Joint(language_weight=0.3), [line], torch.device("cpu"), Precision.FLOAT32)
    assert asked and found < 1e-3
