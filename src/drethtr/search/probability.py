"""What the sum over all readings is worth: the probability that a pattern stands on a line, among all lines searched.

The CTC head is too sure of short words and of what it reads badly, and does not know how many lines are searched: of
20,000 lines some look like a word that is on none of them. So the log-odds of a line are weighed with the length of the
pattern, the confidence in the text of the line, and how often the pattern seems to stand in the collection at all.
`drethtr evaluate --search DATA --save-fit FILE` learns the weights.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import DataError
from drethtr.recognition.confidence.logistic import Logistic, log_odds, rng
from drethtr.search.forward import LEAST
from drethtr.search.store import CERTAIN, Verdict

Floats = NDArray[np.float64]

SHIPPED = Path(__file__).parent / "calibration.json"
"""The weights inside the package."""

SUREST = 1 - 1e-4
"""More likely lines are not told apart."""

CONFIDENCES = (0.05, 0.995)
"""Lines of less or more confidence in their text are not told apart."""

PRIOR = 2.0
"""Standard deviation of the log-odds by which collections differ, before anyone has judged a hit."""

ROUNDS = 50


@dataclass(frozen=True)
class Calibration:
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
            raise DataError(f"{path}: no weights of a search: {error}") from error

    def to_json(self) -> dict[str, Any]:
        """The weights, as `load` reads them."""
        return {"bias": self.weights.bias, "weights": dict(zip(FEATURES, self.weights.weights, strict=True))}

    def __call__(self, chances: Floats, letters: int, confidences: NDArray[np.uint8], lines: int) -> Floats:
        """(C,) probabilities that a pattern stands on each of C lines.

        Args:
            chances: (C,) sums over all readings.
            letters: Of the pattern.
            confidences: (C,) as `store.py` keeps them. A certain line has the pattern, or has it not.
            lines: How many were searched; on all others the sum is 0.
        """
        odds = self.weights.score(features(chances, letters, confidences, lines)) + self.shift
        found: Floats = np.where(chances > 0, rng(odds), 0.0)
        certain = confidences == CERTAIN
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
            held = rng(odds + shift)
            slope = float((held - stands).sum()) + shift / PRIOR**2
            shift -= slope / (float((held * (1 - held)).sum()) + 1 / PRIOR**2)
        return type(self)(self.weights, self.shift + shift)


FEATURES = ("chance", "letters", "confidence", "frequency", "lines")
"""Names of the features, in order."""


def features(chances: Floats, letters: int, confidences: NDArray[np.uint8], lines: int) -> Floats:
    """(C, 5) what is known of each of C lines among all that were searched, in the order of `FEATURES`.

    chance      log-odds of the sum over all readings
    letters     logarithm of the number of letters of the pattern
    confidence  log-odds of the confidence in the text of the line
    frequency   logarithm of the share of lines that seem to have the pattern
    lines       logarithm of their number
    """
    share = (float(np.minimum(chances, 1).sum()) + 0.5) / (lines + 1)
    return np.column_stack(
        [
            odds_of(np.clip(chances, LEAST, SUREST)),
            np.full(len(chances), np.log(max(letters, 1))),
            odds_of(np.clip(confidences / (CERTAIN - 1), *CONFIDENCES)),
            np.full(len(chances), np.log(share)),
            np.full(len(chances), np.log(lines + 1)),
        ]
    )


def odds_of(probabilities: Floats) -> Floats:
    """log(p / (1 - p)) of probabilities between 0 and 1."""
    odds: Floats = np.log(probabilities / (1 - probabilities))
    return odds


@cache
def shipped() -> Calibration:
    """The calibration inside the package."""
    return Calibration.load(SHIPPED)
