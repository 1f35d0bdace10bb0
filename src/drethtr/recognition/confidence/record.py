"""The calibration record of a model: what `drethtr model calibrate` learned about its readings, stored in its file."""

from dataclasses import dataclass, replace
from typing import ClassVar

from drethtr.recognition.confidence.calibration import Calibration
from drethtr.recognition.confidence.checks import (
    Blank,
    Check,
    Disagreement,
    Observation,
    OutOfAlphabet,
    OutOfDistribution,
    Repetition,
    Truncated,
    Uncovered,
)
from drethtr.recognition.confidence.error_rate import ErrorRate
from drethtr.recognition.confidence.logistic import Logistic
from drethtr.recognition.decoding.strategies import Strategy
from drethtr.recognition.protocol import Precision
from drethtr.recognition.reading import Flag

ALWAYS: tuple[Check, ...] = (Repetition(), Uncovered(), Disagreement(), Truncated(), OutOfAlphabet())
"""The other checks that need no fitting."""


@dataclass(frozen=True)
class SupportWeights:
    """The logistic models by which `drethtr check` weighs the evidence for words, gaps and lines of a given text.

    Recognition only stores them; `proofreading/fit.py` knows their features.
    """

    stored_as: ClassVar[str] = "SupportFit"

    words: Logistic
    gaps: Logistic
    lines: Logistic


@dataclass(frozen=True)
class CalibrationRecord:
    """Everything measured on transcribed lines: how reliable readings are, and when to warn.

    calibrations     of confidences, for each decoder and precision
    unlike_training  out-of-distribution detection, if it was fitted
    error_rates      predictors of the error rate, for each decoder
    strategy         the decoder that reads best; None if unknown
    support          the weights of `drethtr check`; None for the default ones
    """

    stored_as: ClassVar[str] = "Trust"

    calibrations: tuple[Calibration, ...] = ()
    unlike_training: OutOfDistribution | None = None
    error_rates: tuple[ErrorRate, ...] = ()
    strategy: Strategy | None = None
    support: SupportWeights | None = None

    def completed(self, strategy: Strategy) -> Strategy:
        """A strategy whose unset weights are taken from the calibrated one of its kind, else from the best one."""
        known = (one for calibration in self.calibrations for one in calibration.strategies if one.is_like(strategy))
        return strategy.completed_by(next(known, self.strategy))

    def calibration(self, strategy: Strategy, precision: Precision = Precision.FLOAT32) -> Calibration | None:
        """The calibration of a strategy at this precision, if there is one."""
        known = (one for one in self.calibrations if one.precision == precision.calibrated_as.value)
        return next((one for one in known if any(alike.is_like(strategy) for alike in one.strategies)), None)

    def error_rate(self, strategy: Strategy) -> ErrorRate | None:
        """The predictor of error rates for this strategy, if it was learned."""
        return next((known for known in self.error_rates if known.strategy.is_like(strategy)), None)

    def with_error_rate(self, learned: ErrorRate) -> "CalibrationRecord":
        """The record with the error rate of one more strategy."""
        others = (known for known in self.error_rates if not known.strategy.is_like(learned.strategy))
        return replace(self, error_rates=(*others, learned))

    def flags(self, seen: Observation) -> tuple[Flag, ...]:
        """The flags of a line."""
        if (blank := Blank()(seen)) is not None:
            return (blank,)  # and no other flags
        checks = ALWAYS if self.unlike_training is None else (*ALWAYS, self.unlike_training)
        return tuple(flag for check in checks if (flag := check(seen)) is not None)
