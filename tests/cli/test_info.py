"""Figures of training on a card, as `drethtr info` tells them."""

from dataclasses import replace

import pytest
from sharing_examples import CARD, complete

from drethtr.checkpoint import save_model

TRAINED = {"samples": 16009, "hours": 0.519, "validation_cer": {"all": 0.1407, "letters": 0.0933}}


@pytest.fixture
def told(drethtr, tiny_model, tmp_path):
    """What is told of a model with some card."""

    def tell(card):
        save_model(replace(complete(tiny_model), card=card), tmp_path / "model.safetensors")
        return drethtr("info", tmp_path / "model.safetensors").out

    return tell


def test_validation_is_in_percent_and_said_to_be_one(told):
    out = told({"name": "tiny", **TRAINED})
    assert "validation, to choose weights by: CER 14.1 %" in out and "  letters: 9.3 %" in out


def test_measured_rates_stand_alone(told):
    out = told({**CARD, **TRAINED})
    assert "validation, to choose weights by: CER 14.1 %" in out and "letters: 9.3 %" not in out
    assert "10.00 [5.00, 20.00]" in out


def test_lines_and_hours_are_those_of_the_last_run(told):
    out = told({**CARD, **TRAINED})
    assert "last run, lines seen: 16009" in out and "last run, hours: 0.519" in out


@pytest.mark.parametrize("odd", [0.1, {"all": "low"}, {"all": None}, {}])
def test_odd_validation_is_told_as_it_is(told, odd):
    assert "validation cer:" in told({**CARD, "validation_cer": odd})
