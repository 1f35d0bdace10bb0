"""Calibrate searches: turn the sum over all readings into the probability that a pattern is on a line.

The CTC head is overconfident about short words and illegible lines, and ignores the number of lines searched: among
20,000 lines, some resemble a word that is on none of them. So a logistic model combines the log-odds of a line with the
length of the pattern and of the line, the confidence in its text and in all others, and the results on other lines: a
word that occurs is read clearly on some of its lines, a word that only resembles others on none. `drethtr bench
retrieval DATA --save-fit FILE` learns the weights.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from drethtr.base.arrays import Floats
from drethtr.base.errors import DataError
from drethtr.recognition.confidence.logistic import Logistic, log_odds, sigmoid
from drethtr.search.forward import MIN_PROBABILITY
from drethtr.search.records import CERTAIN, Verdict

SHIPPED = Path(__file__).parent / "calibration.json"
"""The weights inside the package."""

SUREST = 1 - 1e-4
"""Probabilities are clipped here: log-odds stay finite, and one certain line among thousands stays one line."""

CONFIDENCES = (0.05, 0.995)
"""Confidences are clipped to this range, so that the log-odds of one line do not outweigh all other features."""

RIVALS = 1e-3
"""Minimum sum of the other lines when a line is compared with them; a sum of 0 would give an infinite logarithm."""

PRIOR = 2.0
"""Prior standard deviation of the log-odds between collections, before verdicts.

It counts as much as one verdict on a hit of 50 %, so that a few verdicts have an effect."""

ROUNDS = 60
"""Halvings of the interval in which the shift is searched for, to a negligible width."""


class CandidateLines(NamedTuple):
    """The C lines that may contain a pattern, among all lines searched.

    confidences  (C,) in the text of each, as stored in an index
    steps        (C,) of each; longer lines have more
    searched     (256,) number of lines searched with each confidence
    """

    confidences: NDArray[np.uint8]
    steps: NDArray[np.uint16]
    searched: NDArray[np.int64]

    @classmethod
    def of_all(cls, confidences: NDArray[np.uint8], steps: NDArray[np.uint16]) -> Self:
        """All lines searched."""
        return cls(confidences, steps, np.bincount(confidences, minlength=CERTAIN + 1))

    def where(self, kept: NDArray[np.int64]) -> Self:
        """Some of the lines, among the same number searched."""
        return self._replace(confidences=self.confidences[kept], steps=self.steps[kept])

    def among(self, lines: int) -> Self:
        """The lines among another number searched, assuming that the rest resembles those searched."""
        searched = np.rint(self.searched * (lines / max(self.lines, 1))).astype(np.int64)
        return self._replace(searched=searched)

    @property
    def lines(self) -> int:
        """The number of lines searched."""
        return int(self.searched.sum())

    @property
    def legibility(self) -> float:
        """The mean log-odds of the confidences of all lines searched, without those written by a person."""
        read = self.searched[:CERTAIN]
        return float(read @ odds_of_confidence(np.arange(CERTAIN)) / max(int(read.sum()), 1))


@dataclass(frozen=True)
class SearchCalibration:
    """Weights of the features of a line, see `features`; `shift` is added to the log-odds for a collection."""

    weights: Logistic
    shift: float = 0.0

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read weights from a file.

        Raises:
            DataError: if it holds none.
        """
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            return cls(Logistic(float(found["bias"]), tuple(float(found["weights"][name]) for name in FEATURES)))
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise DataError(f"no weights for search: {error}", path) from error

    def to_json(self) -> dict[str, Any]:
        """The weights, as `load` reads them."""
        return {"bias": self.weights.bias, "weights": dict(zip(FEATURES, self.weights.weights, strict=True))}

    def __call__(self, chances: Floats, letters: int, lines: CandidateLines) -> Floats:
        """(C,) probabilities that a pattern is on each line.

        Args:
            chances: (C,) sums over all readings; 0 for all other lines.
            letters: Number of letters of the pattern.
            lines: The candidates; a certain line either has the pattern or not.
        """
        # If the word is in the text of a line, that counts only through its chance: used as a minimum, it doubled the
        # error of probabilities among thousands of lines without the word (LOG.md, 2026-11-25, night).
        odds = self.weights.score(features(chances, letters, lines)) + self.shift
        found: Floats = np.where(chances > 0, sigmoid(odds), 0.0)
        certain = lines.confidences == CERTAIN
        found[certain] = np.minimum(chances[certain], 1)
        return found

    def shifted(self, verdicts: Sequence[Verdict]) -> Self:
        """The calibration shifted to a collection, by people's verdicts on its hits."""
        if not verdicts:
            return self
        odds = log_odds(np.array([verdict.probability for verdict in verdicts]))
        stands = np.array([verdict.stands for verdict in verdicts], dtype=np.float64)
        shift, reach = 0.0, len(verdicts) * PRIOR**2
        # By bisection, since the slope only rises; Newton's method oscillates where certain hits are wrong.
        for _ in range(ROUNDS):
            reach /= 2
            slope = float((sigmoid(odds + shift) - stands).sum()) + shift / PRIOR**2
            shift -= reach if slope > 0 else -reach
        return type(self)(self.weights, self.shift + shift)


LEVELS = {"surely": 0.9, "likely": 0.5, "perhaps": 0.1, "hardly": 0.01}
"""Thresholds of the sum over all readings; the lines above each are counted."""

FEATURES = ("chance", "letters", "steps", "confidence", "legibility", "frequency", "rivals", "lines", *LEVELS)
"""Names of the features, in order."""


def features(chances: Floats, letters: int, lines: CandidateLines) -> Floats:
    """(C, 12) the features of each line, in the order of `FEATURES`.

    chance      log-odds of the sum over all readings
    letters     logarithm of the number of letters of the pattern
    steps       logarithm of the steps of the line
    confidence  log-odds of the confidence in the text of the line
    legibility  mean of these over all lines
    frequency   logarithm of the share of lines that seem to have the pattern
    rivals      logarithm of the share of the line in the sum over all lines
    lines       logarithm of their number
    surely …    logarithm of 1 and the number of lines above each of `LEVELS`

    Tried without a gain: the rank of a line, how many have a larger or a similar sum, squares, products, and the
    probability that the word is part of another one (LOG.md, 2026-11-26).
    """
    sums = np.minimum(chances, 1)
    total, number = float(sums.sum()), lines.lines
    known = np.clip(chances, MIN_PROBABILITY, SUREST)
    every = np.ones(len(chances))
    return np.column_stack(
        [
            odds_of(known),
            every * np.log(max(letters, 1)),
            np.log(np.maximum(lines.steps, 1)),
            odds_of_confidence(lines.confidences),
            every * lines.legibility,
            # Half a line more, so that a word that is not on any line has a finite logarithm.
            every * np.log((total + 0.5) / (number + 1)),
            np.log(known / (known + np.maximum(total - sums, 0) + RIVALS)),
            every * np.log(number + 1),
            *(every * np.log1p(np.count_nonzero(sums > level)) for level in LEVELS.values()),
        ]
    )


def odds_of_confidence(confidences: NDArray[Any]) -> Floats:
    """Log-odds of confidences as stored in an index."""
    return odds_of(np.clip(confidences / (CERTAIN - 1), *CONFIDENCES))


def odds_of(probabilities: Floats) -> Floats:
    """log(p / (1 - p)) of probabilities between 0 and 1."""
    odds: Floats = np.log(probabilities / (1 - probabilities))
    return odds


@cache
def shipped() -> SearchCalibration:
    """The calibration inside the package."""
    return SearchCalibration.load(SHIPPED)
