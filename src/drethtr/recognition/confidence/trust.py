"""What a model knows about how to read with it and when to believe it: in its file, fitted by `drethtr calibrate`."""

from dataclasses import dataclass, replace

from drethtr.recognition.confidence.calibration import Calibration
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
from drethtr.recognition.reading import Flag, Reading
from drethtr.recognition.search.decoders import Decoder

BLANK = Blank()
"""A blank line has nothing else that could be odd about it."""

ALWAYS: tuple[Check, ...] = (Repetition(), Uncovered(), Disagreement(), Truncated(), Unwritten())
"""The other checks that need no fitting."""


@dataclass(frozen=True)
class Trust:
    """For each kind of decoder that was calibrated, its calibration and error rate; and how to tell known lines.

    `decoder` is the one that reads best; none until that is known.
    """

    calibrations: tuple[Calibration, ...] = ()
    unlike_training: UnlikeTraining | None = None
    error_rates: tuple[ErrorRate, ...] = ()
    decoder: Decoder | None = None

    def fitted(self, decoder: Decoder) -> Decoder:
        """The same, what it leaves open as in the calibrated one of its kind, or else in the one that reads best."""
        known = (one for calibration in self.calibrations for one in calibration.decoders if one.akin(decoder))
        return decoder.fitted(next(known, self.decoder))

    def calibrated(self, reading: Reading, decoder: Decoder) -> Reading:
        """The reading with confidences that are probabilities, or as it is if this decoder was not calibrated."""
        calibration = self.calibration(decoder)
        return reading if calibration is None else calibration(reading)

    def calibration(self, decoder: Decoder) -> Calibration | None:
        """What makes probabilities of the confidences of this decoder, if it was calibrated."""
        return next((one for one in self.calibrations if any(known.akin(decoder) for known in one.decoders)), None)

    def error_rate(self, decoder: Decoder) -> ErrorRate | None:
        """How to expect the error rate of lines read by this decoder, if it was learned."""
        return next((known for known in self.error_rates if known.decoder.akin(decoder)), None)

    def with_error_rate(self, learned: ErrorRate) -> "Trust":
        """The same, with what was learned of one more decoder."""
        others = (known for known in self.error_rates if not known.decoder.akin(learned.decoder))
        return replace(self, error_rates=(*others, learned))

    def flags(self, seen: Observation) -> tuple[Flag, ...]:
        """The doubts about a line."""
        if (blank := BLANK(seen)) is not None:
            return (blank,)
        checks = ALWAYS if self.unlike_training is None else (*ALWAYS, self.unlike_training)
        return tuple(flag for check in checks if (flag := check(seen)) is not None)
