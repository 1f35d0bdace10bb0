"""What a model says of its decoders."""

from dataclasses import replace

import pytest

from drethtr.recognition.confidence.calibration import Calibration
from drethtr.recognition.confidence.error_rate import ErrorRate
from drethtr.recognition.confidence.trust import Trust
from drethtr.recognition.decoding.strategies import CTC, Greedy, Joint
from drethtr.recognition.logistic import Logistic

WEIGHTS = Logistic(0.0, (0.0,) * 6)
OF_CTC, OF_JOINT = CTC(language_weight=0.3), Joint(ctc_weight=0.6, language_weight=0.2)
TRUST = Trust((Calibration((OF_CTC,), WEIGHTS, WEIGHTS), Calibration((OF_JOINT,), WEIGHTS, WEIGHTS)), strategy=OF_JOINT)


def test_open_weights_are_those_calibrated_for_the_same_kind():
    """Those of `CTC` differ from the ones of the best strategy."""
    assert TRUST.completed(CTC()) == OF_CTC
    assert TRUST.completed(Joint()) == OF_JOINT
    assert TRUST.completed(CTC(language_weight=0.9)) == CTC(language_weight=0.9)


def test_a_kind_that_was_not_calibrated_takes_the_weights_of_the_best():
    assert replace(TRUST, calibrations=()).completed(CTC()).weights.language == OF_JOINT.language_weight
    careful = Joint(stretches=(1.0, 0.8))
    completed = TRUST.completed(careful)
    assert completed == replace(careful, ctc_weight=0.6, language_weight=0.2)


def test_an_error_rate_replaces_that_of_its_kind():
    rates = [ErrorRate(strategy, 1.0, 0.1, 1.0, sets=5) for strategy in (CTC(), Greedy(), CTC(language_weight=0.5))]
    trust = TRUST
    for rate in rates:
        trust = trust.with_error_rate(rate)
    assert trust.error_rates == (rates[1], rates[2])
    assert trust.error_rate(CTC()) == rates[2] and trust.error_rate(Joint()) is None


@pytest.mark.parametrize("strategy", [CTC(), Joint(), Greedy()], ids=repr)
def test_without_calibration_strategies_have_their_defaults(strategy):
    assert Trust().completed(strategy) == strategy.completed_by(None)
