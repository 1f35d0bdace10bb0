"""Logistic regression: a probability from a few features."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np

from drethtr.base.arrays import Booleans, Floats
from drethtr.base.errors import ConfigError, DataError

PRIOR_WEIGHT = 10.0
"""Weight of the prior: as much as about forty doubtful cases (a case of probability p weighs p (1 - p), at most 1/4).

A calibration on 8 to 15 lines of a new hand must not forget the starting model's: with it as prior, ECE of words on one
hand was 5 to 8 % instead of 20; on another it did not help (LOG.md, 2026-11-25)."""

ROUNDS, ENOUGH = 100, 1e-9
"""Maximum number of rounds of Newton's method, and the largest step after which it has converged."""

SURE = 1e-4
"""Probabilities are clipped to [SURE, 1 - SURE]: calibrations are fitted on thousands of lines, which cannot support
more certainty, and log-odds must stay finite."""

MAX_SHIFT = 20.0
"""Largest change of a bias: more would make everything certain."""

MAX_LOG_ODDS = 700.0
"""Larger log-odds would overflow."""


@dataclass(frozen=True)
class Logistic:
    """1 / (1 + e^-(bias + Σ weight x feature))."""

    bias: float
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if not all(map(isfinite, (self.bias, *self.weights))):
            raise ConfigError("bias and weights must be finite")

    def score(self, features: Floats) -> Floats:
        """Log-odds (N,) of features (N, F); those beyond the weights, which came with a later version, are ignored."""
        scores: Floats = self.bias + features[:, : len(self.weights)] @ np.array(self.weights)
        return scores

    def __call__(self, features: Floats) -> Floats:
        """Probabilities (N,) of features (N, F)."""
        return sigmoid(self.score(features))

    def with_mean(self, features: Floats, mean: float) -> "Logistic":
        """The model with another bias, by which the probabilities of these cases (N, F) have this mean."""
        scores = self.score(features)
        low, high = -MAX_SHIFT, MAX_SHIFT
        for _ in range(ROUNDS):
            shift = (low + high) / 2
            low, high = (low, shift) if sigmoid(scores + shift).mean() > mean else (shift, high)
        return replace(self, bias=self.bias + low)


def fit_logistic(
    features: Floats,
    right: Booleans,
    *,
    ridge: float = 1e-3,
    digits: int = 6,
    prior: Logistic | None = None,
) -> Logistic:
    """Fit weights to cases (N, F) and their truth (N,), by Newton's method.

    Args:
        ridge: Regularization of the weights of the standardized features, so that there is always a solution.
        digits: Significant digits of the weights.
        prior: Weights from which few cases move the result only a little; 0 for features that it lacks.

    Raises:
        DataError: if all cases are right or all wrong, and there is no prior.
    """
    if prior is None and (right.all() or not right.any()):
        alike, others = ("correct", "with errors") if right.all() else ("wrong", "without errors")
        raise DataError(f"all {len(right)} examples are {alike}: nothing to fit. Add lines {others}")
    mean, spread = features.mean(0), features.std(0)
    spread = np.where(spread > 0, spread, 1)
    cases = np.column_stack([np.ones(len(features)), (features - mean) / spread])
    penalty = np.full(cases.shape[1], ridge)
    # The bias is not regularized: all cases together show how often they are right, however few features help.
    penalty[0] = 0
    expected = np.zeros(cases.shape[1])
    if prior is not None:
        # The prior counts as much as a fixed number of cases, so that many cases outweigh it.
        penalty += PRIOR_WEIGHT / len(right)
        known = np.pad(prior.weights, (0, features.shape[1] - len(prior.weights)))
        # In units of the standardized features, like the weights that are fitted.
        expected = np.concatenate([[prior.bias + mean @ known], spread * known])
    weights = np.zeros(cases.shape[1])
    for _ in range(ROUNDS):
        chances = sigmoid(cases @ weights)
        slope = cases.T @ (chances - right) / len(right) + penalty * (weights - expected)
        # Newton's method: with few features, the exact second derivative costs less than more rounds of another method.
        curve = (cases * (chances * (1 - chances))[:, None]).T @ cases / len(right) + np.diag(penalty)
        step = np.linalg.solve(curve, slope)
        weights -= step
        if float(np.abs(step).max()) < ENOUGH:
            break
    plain = weights[1:] / spread
    return Logistic(rounded([weights[0] - plain @ mean], digits)[0], rounded(plain, digits))


def sigmoid(score: Floats) -> Floats:
    """Probabilities from log-odds of any size."""
    return 1 / (1 + np.exp(-np.clip(score, -MAX_LOG_ODDS, MAX_LOG_ODDS)))


def rounded(values: Sequence[float] | Floats, digits: int) -> tuple[float, ...]:
    """The values, rounded to significant digits, as plain numbers."""
    return tuple(float(f"{value:.{digits}g}") for value in values)


def log_odds(probabilities: Floats) -> Floats:
    """log(p / (1 - p)), kept finite."""
    kept = np.clip(probabilities, SURE, 1 - SURE)
    odds: Floats = np.log(kept / (1 - kept))
    return odds
