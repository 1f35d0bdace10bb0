"""Figures of training on a card, as `drethtr model info` tells them."""

from dataclasses import replace

import pytest
from sharing_examples import CARD, complete

from drethtr.layout.network import SHIPPED as SHIPPED_LINES
from drethtr.layout.network import LineModel, load_lines, save_lines
from drethtr.recognition.confidence.checks import OutOfDistribution
from drethtr.recognition.confidence.logistic import Logistic
from drethtr.recognition.confidence.record import CalibrationRecord
from drethtr.recognition.model.architecture import Multiplied, NoPrior
from drethtr.recognition.model.decay import Scheduled
from drethtr.recognition.model.file import save_model

TRAINED = {"samples": 16009, "hours": 0.519, "validation_cer": {"all": 0.1407, "letters": 0.0933}}


@pytest.fixture
def told(drethtr, tiny_model, tmp_path):
    """What is told of a model with some card."""

    def tell(card, *options):
        save_model(replace(complete(tiny_model), card=card), tmp_path / "model.safetensors")
        return drethtr("info", tmp_path / "model.safetensors", *options).out

    return tell


def test_validation_is_in_percent_and_said_to_be_one(told):
    out = told({"name": "tiny", **TRAINED})
    assert "validation, for model selection: CER 14.1 %" in out and "  letters: 9.3 %" in out


def test_nothing_on_a_card_is_obeyed_by_a_terminal(told):
    out = told({"name": "tiny\x1b[31m\x07", "license": "CC\n\x9b2J BY"})
    assert r"name: tiny\x1b[31m\x07" in out and r"\x9b2J BY" in out
    assert not set(out) & set("\x1b\x07\x9b")


def test_measured_rates_stand_alone(told):
    out = told({**CARD, **TRAINED})
    assert "validation, for model selection: CER 14.1 %" in out and "letters: 9.3 %" not in out
    assert "10.00 [5.00, 20.00]" in out


def test_figures_of_another_model_are_said_to_be(told):
    """As after `drethtr model language`, which keeps the card."""
    figures = CARD["evaluation"] | {"made_by": {"model": "older 0123456789ab"}, "decoder": "Joint(candidates=4)"}
    out = told({**CARD, "evaluation": figures})
    assert " lines with another model, older 0123456789ab:\n" in out and "Joint(" not in out


def test_lines_and_hours_are_those_of_the_last_run(told):
    out = told({**CARD, **TRAINED})
    assert "lines seen: 16009" in out and "hours of training: 0.519" in out


def test_settings_of_the_run_are_told_as_they_are_set(told):
    run = {
        "samples": 8,
        "train": [{"kind": "Real", "paths": ["ü"]}],
        "optimizer": {"learning_rate": 2e-4},
        "prose": None,
    }
    assert "run: 5 settings other than the defaults; --settings prints them\n" in told({**CARD, "run": run})
    out = told({**CARD, "run": run}, "--settings")
    assert out.startswith('samples = 8\ntrain.0.kind = "Real"\ntrain.0.paths = ["ü"]\n')
    assert out.endswith("optimizer.learning_rate = 0.0002\nprose = false\n")


def test_networks_that_differ_are_told_apart(drethtr, tiny_model, tmp_path):
    described = set()
    for prior in (NoPrior(), Multiplied(), Multiplied(Scheduled("small"))):
        save_model(
            replace(tiny_model, network=replace(tiny_model.network, prior=prior)), tmp_path / "model.safetensors"
        )
        [told] = [line for line in drethtr("info", tmp_path / "model.safetensors").out.splitlines() if "prior" in line]
        described.add(told)
    assert (
        "  prior: Multiplied(decay=Scheduled(schedule='small', subtractor=0.86))" in described and len(described) == 3
    )


def test_what_fine_tuning_says_is_told_in_words(told):
    rates = {"lines": 5, "drawn": 5, "characters": 116, "cer": 0.00862, "cer_low": None, "cer_high": None}
    sure = rates | {"lines": 1, "cer_low": 0.0, "cer_high": 0.02}
    facts = {"old_data": [], "characters_added": "", "characters_dropped": "xy", "seed": 0, "validation_by_page": False}
    change = {"cer": -0.01, "cer_low": -0.02, "cer_high": 0.0, "wer": -0.1, "wer_low": None, "wer_high": None}
    measured = {"validation_before": sure, "validation_after": rates, "change": change}
    out = told({**CARD, "fine_tuned": facts | measured})
    assert "  change: CER -1.00 [-2.00, +0.00], WER -10.00 points\n" in out
    assert "  validation before: CER 0.86 % [0.00, 2.00] on 1 line\n" in out
    assert "  validation after: CER 0.86 % on 5 lines\n" in out
    assert "old data" not in out and "characters added" not in out and "{" not in out
    assert "  characters dropped: xy\n" in out and "  seed: 0\n" in out and "  validation by page: no\n" in out


@pytest.mark.parametrize("odd", [0.1, {"all": "low"}, {"all": None}, {}])
def test_odd_validation_is_told_as_it_is(told, odd):
    assert "validation cer:" in told({**CARD, "validation_cer": odd})


def test_a_model_that_must_be_calibrated_again_is_described(drethtr, tiny_model, tmp_path):
    """It may come from a version that looked at lines otherwise; reading refuses it, and sends people here."""
    record = CalibrationRecord(unlike_training=OutOfDistribution(Logistic(0.0, (1.0,)), 0.0))
    save_model(replace(tiny_model, record=record), tmp_path / "model.safetensors")
    assert f"hash: {replace(tiny_model, record=record).hash}" in drethtr("info", tmp_path / "model.safetensors").out


def test_a_network_that_finds_lines_is_described(drethtr, tmp_path):
    model = LineModel(load_lines(SHIPPED_LINES).weights, {"samples": 4000, "validation": {"f": 0.912, "found": 0.9}})
    save_lines(model, tmp_path / "lines.safetensors")
    told = drethtr("model", "info", tmp_path / "lines.safetensors")
    assert told.code == 0 and "finds lines" in told.out and model.hash in told.out
    assert "crops seen: 4000" in told.out and "f: 91.2 %" in told.out
    refused = drethtr("model", "info", tmp_path / "lines.safetensors", "--check")
    assert refused.code == 2 and "are for recognition models" in refused.err
