import numpy as np
import pytest
from conftest import written

from drethtr.datasets.sample import Sample
from drethtr.recognition.decoding.strategies import CTC
from drethtr.training.finetuning.interpolation import (
    choose_interpolation,
    interpolate,
    smallest_share,
    weights_at_start,
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
