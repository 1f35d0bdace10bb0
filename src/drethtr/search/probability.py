"""What the sum over all readings is worth: the probability that a pattern stands on a line, among all lines searched.

The CTC head is too sure of short words and of what it reads badly, and does not know how many lines are searched: of
20,000 lines some look like a word that is on none of them. So the log-odds of a line are weighed with the length of the
pattern and of the line, the confidence in its text and in all others, and what the other lines are for the pattern: a
word that stands somewhere is read without doubt on some of its lines, one that only resembles others on none.
`drethtr evaluate --search DATA --save-fit FILE` learns the weights.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import DataError
from drethtr.recognition.confidence.logistic import Logistic, log_odds, sigmoid
from drethtr.search.forward import LEAST
from drethtr.search.records import CERTAIN, Verdict

Floats = NDArray[np.float64]

SHIPPED = Path(__file__).parent / "calibration.json"
"""The weights inside the package."""

SUREST = 1 - 1e-4
"""More likely lines are not told apart."""

CONFIDENCES = (0.05, 0.995)
"""Lines of less or more confidence in their text are not told apart."""

RIVALS = 1e-3
"""The least that other lines count for, when a line is compared with them."""

PRIOR = 2.0
"""Standard deviation of the log-odds by which collections differ, before anyone has judged a hit."""

ROUNDS = 50


class CandidateLines(NamedTuple):
    """The C lines that may have a pattern, among all that were searched.

    confidences  (C,) in the text of each, as `store.py` keeps them
    steps        (C,) steps of each, of which there are more on longer lines
    searched     (256,) how many lines of each confidence were searched
    """

    confidences: NDArray[np.uint8]
    steps: NDArray[np.uint16]
    searched: NDArray[np.int64]

    @classmethod
    def of_all(cls, confidences: NDArray[np.uint8], steps: NDArray[np.uint16]) -> Self:
        """All lines that were searched."""
        return cls(confidences, steps, np.bincount(confidences, minlength=CERTAIN + 1))

    def where(self, kept: NDArray[np.int64]) -> Self:
        """Some of the lines, among as many."""
        return self._replace(confidences=self.confidences[kept], steps=self.steps[kept])

    def among(self, lines: int) -> Self:
        """The same, if so many lines were searched, and those that were left out are like the others."""
        searched = np.rint(self.searched * (lines / max(self.lines, 1))).astype(np.int64)
        return self._replace(searched=searched)

    @property
    def lines(self) -> int:
        """How many lines were searched."""
        return int(self.searched.sum())

    @property
    def legibility(self) -> float:
        """The mean log-odds of the confidences of all lines that were searched and read by a program."""
        read = self.searched[:CERTAIN]
        return float(read @ odds_of_confidence(np.arange(CERTAIN)) / max(int(read.sum()), 1))


@dataclass(frozen=True)
class SearchCalibration:
    """Weights of the features of a line, see `features`; `shift` is added to the log-odds in one collection."""

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
            raise DataError(f"{path}: no weights for search: {error}") from error

    def to_json(self) -> dict[str, Any]:
        """The weights, as `load` reads them."""
        return {"bias": self.weights.bias, "weights": dict(zip(FEATURES, self.weights.weights, strict=True))}

    def __call__(self, chances: Floats, letters: int, lines: CandidateLines) -> Floats:
        """(C,) probabilities that a pattern stands on each line.

        Args:
            chances: (C,) sums over all readings; on lines that are no candidates they are 0.
            letters: Of the pattern.
            lines: A certain line has the pattern, or has it not.
        """
        odds = self.weights.score(features(chances, letters, lines)) + self.shift
        found: Floats = np.where(chances > 0, sigmoid(odds), 0.0)
        certain = lines.confidences == CERTAIN
        found[certain] = np.minimum(chances[certain], 1)
        return found

    def shifted(self, verdicts: Sequence[Verdict]) -> Self:
        """The same for a collection of whose hits people have said whether they are right."""
        if not verdicts:
            return self
        odds = log_odds(np.array([verdict.probability for verdict in verdicts]))
        stands = np.array([verdict.stands for verdict in verdicts], dtype=np.float64)
        shift = 0.0
        for _ in range(ROUNDS):
            held = sigmoid(odds + shift)
            slope = float((held - stands).sum()) + shift / PRIOR**2
            shift -= slope / (float((held * (1 - held)).sum()) + 1 / PRIOR**2)
        return type(self)(self.weights, self.shift + shift)


LEVELS = {"surely": 0.9, "likely": 0.5, "perhaps": 0.1, "hardly": 0.01}
"""Sums over all readings above which lines are counted."""

FEATURES = ("chance", "letters", "steps", "confidence", "legibility", "frequency", "rivals", "lines", *LEVELS)
"""Names of the features, in order."""


def features(chances: Floats, letters: int, lines: CandidateLines) -> Floats:
    """(C, 12) what is known of each line, in the order of `FEATURES`.

    chance      log-odds of the sum over all readings
    letters     logarithm of the number of letters of the pattern
    steps       logarithm of the steps of the line
    confidence  log-odds of the confidence in the text of the line
    legibility  mean of these over all lines
    frequency   logarithm of the share of lines that seem to have the pattern
    rivals      logarithm of the share that the line has in the sum over all lines
    lines       logarithm of their number
    surely …    logarithm of 1 and the number of lines above each of `LEVELS`
    """
    sums = np.minimum(chances, 1)
    total, number = float(sums.sum()), lines.lines
    known = np.clip(chances, LEAST, SUREST)
    every = np.ones(len(chances))
    return np.column_stack(
        [
            odds_of(known),
            every * np.log(max(letters, 1)),
            np.log(np.maximum(lines.steps, 1)),
            odds_of_confidence(lines.confidences),
            every * lines.legibility,
            every * np.log((total + 0.5) / (number + 1)),
            np.log(known / (known + np.maximum(total - sums, 0) + RIVALS)),
            every * np.log(number + 1),
            *(every * np.log1p(np.count_nonzero(sums > level)) for level in LEVELS.values()),
        ]
    )


def odds_of_confidence(confidences: NDArray[Any]) -> Floats:
    """Log-odds of the confidences of lines, as `store.py` keeps them."""
    return odds_of(np.clip(confidences / (CERTAIN - 1), *CONFIDENCES))


def odds_of(probabilities: Floats) -> Floats:
    """log(p / (1 - p)) of probabilities between 0 and 1."""
    odds: Floats = np.log(probabilities / (1 - probabilities))
    return odds


@cache
def shipped() -> SearchCalibration:
    """The calibration inside the package."""
    return SearchCalibration.load(SHIPPED)
