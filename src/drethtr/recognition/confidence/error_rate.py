"""Predict the character error rate of untranscribed lines, from the confidences of their characters.

A character read with confidence p is wrong with probability 1 - p. The sum of these doubts covers substitutions and
insertions, but not deletions, which become more frequent the more doubtful a text is. So the error rate is modeled as a
factor times a power of the doubt per character, both fitted on transcribed sets. On unseen collections, a factor alone
is off by 3.0 points, factor and power by 1.3 (LOG.md, 2026-11-24, night).

The interval has two parts: the variation of the factor between sets, and the randomness of the edits in a limited
amount of text.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, log, sqrt
from typing import NamedTuple

from drethtr.base.errors import ConfigError
from drethtr.recognition.decoding.strategies import Strategy
from drethtr.recognition.reading import Reading

NORMAL = 1.959964
"""Quantile 0.975 of the normal distribution."""

EXACT_QUANTILES = {1: 12.7062, 2: 4.30265}
"""Quantile 0.975 of Student's t for degrees of freedom where the expansion is too low."""

MAX_PARAMETER = 1e6
"""Largest accepted parameter: learned ones are about 1, or some hundreds if the texts are wrong."""

MAX_POWER = 10.0
"""Largest accepted power of the doubt; `evaluation.predict` learns none above 2."""

UNKNOWN_HAND = 0.2
"""Expected error rate from which the hand or its language counts as unknown: more than half of the words are wrong, so
that correcting takes as long as typing. Ten lines of a set read with 33 % errors reach it in all draws, of one with
18 % in 32 % of them, of 27 others with less in none (recipes/unknown_hands.py). The share of lines that are
flagged as unlike the training data separates such sets less well, and PAGE does not store it."""

MIN_LINES = 10
"""Minimum number of lines to say so: five lines of a set read with 8 % errors reach that rate in 2 % of draws, ten in
none."""


class TotalDoubt(NamedTuple):
    """The expected number of wrong characters in some readings; their characters, lines, and empty lines."""

    doubt: float = 0.0
    characters: int = 0
    lines: int = 0
    empty: int = 0

    @property
    def rate(self) -> float:
        """Doubt per character, 0 where nothing was read."""
        return self.doubt / max(self.characters, 1)


class Expected(NamedTuple):
    """An expected character error rate and the ends of its 95 % interval."""

    cer: float
    low: float
    high: float

    def with_cost(self, cost: float, most: float) -> "Expected":
        """The rate plus a cost per character, such as that of layout errors; `most` is its upper limit."""
        cer = self.cer + cost
        return Expected(cer, self.low, max(self.high, cer, min(self.high + most, 1.0)))


@dataclass(frozen=True)
class ErrorRate:
    """The fitted prediction of error rates for one strategy.

    factor     error rate of a text whose doubt per character is 1
    power      of the doubt per character; 1 if the error rate is in proportion to it
    spread     standard deviation of the factor's logarithm from set to set
    noise      variance of the number of edits in lines of a set, per expected edit
    sets       how many sets these were learned from
    inherited  whether it was learned from other confidences than this model's: those of the model it was fine-tuned
               from, or of an earlier calibration
    """

    strategy: Strategy
    factor: float
    spread: float
    noise: float
    sets: int
    power: float = 1.0
    inherited: bool = False

    def __post_init__(self) -> None:
        if self.sets < 2:
            raise ConfigError(f"sets must be at least 2, not {self.sets}")
        learned = self.factor, self.spread, self.noise
        if not all(0 <= value <= MAX_PARAMETER for value in learned) or self.factor == 0:
            raise ConfigError(
                f"factor must be positive, spread and noise non-negative, all at most {MAX_PARAMETER:g}, not {learned}"
            )
        if not 0.1 <= self.power <= MAX_POWER:
            raise ConfigError(f"power must be between 0.1 and {MAX_POWER:g}, not {self.power}")

    def __call__(self, read: TotalDoubt) -> Expected:
        """The expected error rate of some lines; 0 to 1 if nothing was read.

        The interval ends at 1 or, if it is higher, at the rate; it begins at 0 if its lower end is less than one edit.
        """
        cer = self.factor * read.rate**self.power
        if cer == 0:
            return Expected(0.0, 0.0, 0.0 if read.characters else 1.0)
        # (1 + 1/sets): the next set differs from the mean of sets, and that mean is itself uncertain.
        deviation = sqrt(self.spread**2 * (1 + 1 / self.sets) + self.noise / (cer * read.characters))
        reach = student_quantile(self.sets - 1) * deviation
        low = cer * exp(-reach)
        # Fewer than one edit cannot be told from none.
        if low * read.characters < 1:
            low = 0.0
        return Expected(cer, low, max(cer, exp(min(log(cer) + reach, 0.0))))

    def unknown_hand(self, read: TotalDoubt) -> bool:
        """Whether the hand of some lines, or their language, is not known to the model, so that it should learn."""
        return read.lines - read.empty >= MIN_LINES and self(read).cer >= UNKNOWN_HAND


def doubt_of(readings: Iterable[Reading]) -> TotalDoubt:
    """The doubt in some readings."""
    found = TotalDoubt()
    for reading in readings:
        found = TotalDoubt(
            found.doubt + sum(1 - character.confidence for character in reading.characters),
            found.characters + len(reading.characters),
            found.lines + 1,
            found.empty + (not reading.characters),
        )
    return found


def student_quantile(freedom: int) -> float:
    """Quantile 0.975 of Student's t, exact for 1 and 2 degrees of freedom, else within 1 %.

    Source: Cornish-Fisher expansion; Abramowitz and Stegun 26.7.5.
    """
    if freedom in EXACT_QUANTILES:
        return EXACT_QUANTILES[freedom]
    z = NORMAL
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )
