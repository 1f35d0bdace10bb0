"""Probabilities from evidence, and which texts can be accepted unseen."""

from dataclasses import replace

import numpy as np
import pytest

from drethtr.base.errors import CheckpointError
from drethtr.proofreading.fit import DEFAULT_FIT, acceptable, fit_of
from drethtr.recognition.confidence.logistic import Logistic
from drethtr.recognition.confidence.record import CalibrationRecord
from drethtr.recognition.model.file import load_model, save_record


def test_a_model_keeps_its_own_fit(tiny_model, tiny_path):
    assert fit_of(tiny_model) is DEFAULT_FIT
    own = replace(DEFAULT_FIT.weights, lines=Logistic(0.5, (1.0, 2.0)))
    save_record(tiny_path, CalibrationRecord(support=own), tiny_path)
    assert fit_of(load_model(tiny_path)).weights == own


def test_a_fit_for_other_evidence_is_refused_with_a_cure(tiny_model):
    other = replace(DEFAULT_FIT.weights, lines=Logistic(0.5, (1.0,)))
    model = replace(tiny_model, record=CalibrationRecord(support=other))
    with pytest.raises(CheckpointError, match=r"\[28, 16, 1\]; fit them again with drethtr bench fit-check"):
        fit_of(model)


@pytest.mark.parametrize(
    ("precision", "accepted"), [(0.99, [2]), (0.95, [0, 2]), (0.9, [0, 2, 3]), (0, [0, 1, 2, 3]), (1, [])]
)
def test_as_many_as_keep_the_precision(precision, accepted):
    assert np.flatnonzero(acceptable(np.array([0.92, 0.2, 0.99, 0.8]), precision)).tolist() == accepted


def test_nothing_of_nothing():
    assert acceptable(np.array([]), 0.5).tolist() == []
