"""The results of `drethtr model calibrate` in a model: its best decoder, calibrations, and expected error rates."""

from dataclasses import dataclass, replace

from drethtr.recognition.confidence.calibration import FLOAT, INT8, Calibration
from drethtr.recognition.confidence.checks import (
    Blank,
    Check,
    Disagreement,
    Observation,
    Repetition,
    Truncated,
    Uncovered,
    UnlikeTraining,
    Unwritten,
)
from drethtr.recognition.confidence.error_rate import ErrorRate
from drethtr.recognition.decoding.strategies import Strategy
from drethtr.recognition.precision import Precision
from drethtr.recognition.reading import Flag
from drethtr.recognition.support.fit import SupportFit

BLANK = Blank()
"""Checked first: a blank line gets no other flags."""

ALWAYS: tuple[Check, ...] = (Repetition(), Uncovered(), Disagreement(), Truncated(), Unwritten())
"""The other checks without fitting."""


@dataclass(frozen=True)
class Trust:
    """Calibration and expected error rate of each calibrated strategy, and out-of-distribution detection.

    `strategy` is the one that reads best; None if unknown. `support` turns evidence for a given text into
    probabilities; by default `DEFAULT_FIT` does.
    """

    calibrations: tuple[Calibration, ...] = ()
    unlike_training: UnlikeTraining | None = None
    error_rates: tuple[ErrorRate, ...] = ()
    strategy: Strategy | None = None
    support: SupportFit | None = None

    def completed(self, strategy: Strategy) -> Strategy:
        """A strategy, with open weights taken from the calibrated one of its kind, or else from the best one."""
        known = (one for calibration in self.calibrations for one in calibration.strategies if one.is_like(strategy))
        return strategy.completed_by(next(known, self.strategy))

    def calibration(self, strategy: Strategy, precision: Precision = Precision.FLOAT32) -> Calibration | None:
        """The calibration of a strategy at this precision, if there is one."""
        wanted = INT8 if precision is Precision.INT8 else FLOAT
        known = (one for one in self.calibrations if one.precision == wanted)
        return next((one for one in known if any(alike.is_like(strategy) for alike in one.strategies)), None)

    def error_rate(self, strategy: Strategy) -> ErrorRate | None:
        """The predictor of error rates for this strategy, if it was learned."""
        return next((known for known in self.error_rates if known.strategy.is_like(strategy)), None)

    def with_error_rate(self, learned: ErrorRate) -> "Trust":
        """The trust with the error rate of one more strategy."""
        others = (known for known in self.error_rates if not known.strategy.is_like(learned.strategy))
        return replace(self, error_rates=(*others, learned))

    def flags(self, seen: Observation) -> tuple[Flag, ...]:
        """The flags of a line."""
        if (blank := BLANK(seen)) is not None:
            return (blank,)
        checks = ALWAYS if self.unlike_training is None else (*ALWAYS, self.unlike_training)
        return tuple(flag for check in checks if (flag := check(seen)) is not None)
