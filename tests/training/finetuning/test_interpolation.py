from dataclasses import replace

import numpy as np
import pytest
from conftest import written

from drethtr.datasets.sample import Sample
from drethtr.network.rescorer import RescorerNetwork
from drethtr.recognition.decoding.strategies import CTC
from drethtr.recognition.model.architecture import RescorerConfig
from drethtr.recognition.model.file import Rescorer
from drethtr.training.finetuning.interpolation import (
    choose_interpolation,
    interpolate,
    smallest_share,
    weights_at_start,
    with_rescorer,
)
from drethtr.training.start import FromModel

LINES = [Sample(written(text), text) for text in ("back", "cabbage")]


def test_interpolation_leads_from_the_start_to_the_learned_weights(tiny_model):
    start = {name: weight + 1 for name, weight in tiny_model.weights.items()}
    for share in (0.0, 0.5, 1.0):
        mixed = interpolate(start, tiny_model, share).weights
        for name, weight in tiny_model.weights.items():
            assert mixed[name].dtype == weight.dtype
            np.testing.assert_allclose(mixed[name], weight + (1 - share), atol=1e-5)


@pytest.mark.parametrize(
    ("errors", "share"),
    [
        ({0.0: 100, 0.25: 70, 0.5: 52, 0.75: 50, 1.0: 55}, 0.5),
        ({0.0: 100, 0.25: 80, 0.5: 70, 0.75: 60, 1.0: 50}, 1.0),
        ({0.0: 340, 0.25: 200, 0.5: 90, 0.75: 60, 1.0: 50}, 1.0),
        ({0.0: 100, 0.25: 100, 0.5: 110, 0.75: 120, 1.0: 130}, 0.0),
    ],
)
def test_the_smallest_share_costs_little_of_the_gain_and_of_what_is_left(errors, share):
    assert smallest_share(errors) == share


def test_a_training_without_gain_stays_at_its_start(tiny_model, tiny_path):
    start = weights_at_start(FromModel(str(tiny_path)), tiny_model)
    model, share = choose_interpolation(start, tiny_model, LINES, CTC(), "cpu", 1)
    assert share == 0.0
    assert all(np.array_equal(model.weights[name], weight) for name, weight in start.items())


def test_a_rescorer_takes_the_same_share_of_its_change(tiny_model):
    config = RescorerConfig(layers=1, width=32, heads=2, hidden=8)
    start = {n: w.numpy() for n, w in RescorerNetwork(config, tiny_model.tokenizer.size).state_dict().items()}
    model = replace(tiny_model, rescorer=Rescorer(config, start))
    shares = (0.0, 0.5, 1.0)
    unchanged, half, whole = (
        with_rescorer(model, ["cabbage"], share, "cpu", bfloat16=False).rescorer.weights for share in shares
    )
    assert any(np.abs(weight - start[name]).max() > 1e-3 for name, weight in whole.items())
    for name, weight in start.items():
        assert np.array_equal(unchanged[name], weight)
        np.testing.assert_allclose(half[name], (weight + whole[name]) / 2, atol=1e-6)
    assert with_rescorer(tiny_model, ["cabbage"], 1.0, "cpu", bfloat16=False) is tiny_model
