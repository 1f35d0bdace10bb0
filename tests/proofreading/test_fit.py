"""The fit of a model that turns evidence into probabilities."""

from dataclasses import replace

import pytest

from drethtr.base.errors import CheckpointError
from drethtr.proofreading.fit import DEFAULT_FIT, fit_of
from drethtr.recognition.confidence.logistic import Logistic
from drethtr.recognition.confidence.record import CalibrationRecord
from drethtr.recognition.model.file import load_model, save_record


def test_a_model_keeps_its_own_fit(tiny_model, tiny_path):
    assert fit_of(tiny_model) is DEFAULT_FIT
    own = replace(DEFAULT_FIT.weights, lines=Logistic(0.5, (1.0, 2.0)))
    save_record(tiny_path, CalibrationRecord(support=own), tiny_path, of=tiny_model)
    assert fit_of(load_model(tiny_path)).weights == own


def test_a_fit_for_other_evidence_is_refused_with_a_cure(tiny_model):
    other = replace(DEFAULT_FIT.weights, lines=Logistic(0.5, (1.0,)))
    model = replace(tiny_model, record=CalibrationRecord(support=other))
    with pytest.raises(CheckpointError, match=r"\[28, 16, 1\]; fit the support weights again"):
        fit_of(model)
