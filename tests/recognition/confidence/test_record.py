"""What a model says of its decoders."""

from dataclasses import replace

import pytest

from drethtr.recognition.confidence.calibration import Calibration
from drethtr.recognition.confidence.error_rate import ErrorRate
from drethtr.recognition.confidence.logistic import Logistic
from drethtr.recognition.confidence.record import CalibrationRecord
from drethtr.recognition.decoding.strategies import CTC, Greedy, Joint

WEIGHTS = Logistic(0.0, (0.0,) * 6)
OF_CTC, OF_JOINT = CTC(language_weight=0.3), Joint(ctc_weight=0.6, language_weight=0.2)
CALIBRATIONS = tuple(Calibration((strategy,), WEIGHTS, WEIGHTS) for strategy in (OF_CTC, OF_JOINT))
RECORD = CalibrationRecord(CALIBRATIONS, strategy=OF_JOINT)


def test_open_weights_are_those_calibrated_for_the_same_kind():
    """Those of `CTC` differ from the ones of the best strategy."""
    assert RECORD.completed(CTC()) == OF_CTC
    assert RECORD.completed(Joint()) == OF_JOINT
    assert RECORD.completed(CTC(language_weight=0.9)) == CTC(language_weight=0.9)


def test_a_kind_that_was_not_calibrated_takes_the_weights_of_the_best():
    assert replace(RECORD, calibrations=()).completed(CTC()).weights.language == OF_JOINT.language_weight
    careful = Joint(stretches=(1.0, 0.8))
    completed = RECORD.completed(careful)
    assert completed == replace(careful, ctc_weight=0.6, language_weight=0.2)


def test_an_error_rate_replaces_that_of_its_kind():
    rates = [ErrorRate(strategy, 1.0, 0.1, 1.0, sets=5) for strategy in (CTC(), Greedy(), CTC(language_weight=0.5))]
    record = RECORD
    for rate in rates:
        record = record.with_error_rate(rate)
    assert record.error_rates == (rates[1], rates[2])
    assert record.error_rate(CTC()) == rates[2] and record.error_rate(Joint()) is None


@pytest.mark.parametrize("strategy", [CTC(), Joint(), Greedy()], ids=repr)
def test_without_calibration_strategies_have_their_defaults(strategy):
    assert CalibrationRecord().completed(strategy) == strategy.completed_by(None)
