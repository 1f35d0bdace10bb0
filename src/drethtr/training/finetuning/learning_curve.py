"""Estimate the gain from twice as many lines, from error rates after a quarter, half and all of them.

Error rates follow a power law in the amount of data, which is a straight line on logarithmic scales. The line is fitted
to the points and extrapolated by one doubling. The interval has two parts: the choice of pages to measure on, and the
variation between trainings, which shows in how far the points are from the line.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from drethtr.evaluation.metrics import DRAWS, Counts, drawn_sums, interval_95, sum_by_group

SHARES = (0.25, 0.5, 1.0)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LearningCurve:
    """Error rates by number of training lines, and the expected reduction from doubling the largest number.

    The gain and the limits of its 95 % interval are fractions: 0.01 is one point.
    """

    lines: tuple[int, ...]
    cers: tuple[float, ...]
    gain: float
    low: float
    high: float


def learning_curve(lines: Sequence[int], edits: Sequence[Sequence[Counts]], pages: Sequence[str]) -> LearningCurve:
    """The curve of several models, trained on `lines` lines, from their errors on the same validation lines.

    Args:
        edits: For each model, its counts on each line.
        pages: Page of each validation line, "" if unknown; such lines are drawn one by one.
    """
    rng = np.random.default_rng(0)
    columns = [[count.edits for count in counts] for counts in edits] + [[count.characters for count in edits[0]]]
    of_page = sum_by_group(np.array(columns, dtype=np.int64).T, pages)
    drawn = drawn_sums(of_page, DRAWS, rng)
    doublings = np.log2(np.array(lines) / lines[-1])
    found, rates = log_rates(of_page.sum(0)[None]), log_rates(drawn)
    rates = rates + rng.normal(0, misfit(found, doublings), rates.shape)
    low, high = interval_95(gains(rates, doublings), len(of_page))
    cers = tuple(float(rate) for rate in of_page.sum(0)[:-1] / max(of_page[:, -1].sum(), 1))
    return LearningCurve(tuple(lines), cers, float(gains(found, doublings)[0]), low, high)


def log_rates(sums: NDArray[np.int64]) -> Floats:
    """Logarithms of error rates, from rows of edits with the number of characters last; zero edits count as half."""
    return np.asarray(np.log(np.maximum(sums[:, :-1], 0.5) / np.maximum(sums[:, -1:], 1)))


def straight(rates: Floats, doublings: Floats) -> Floats:
    """Slope and intercept of the line through each row of logarithmic rates, (rows, 2)."""
    return np.asarray(np.polyfit(doublings, rates.T, 1).T)


def misfit(rates: Floats, doublings: Floats) -> float:
    """Standard deviation of the points from their line."""
    slope, height = straight(rates, doublings)[0]
    off = rates[0] - height - slope * doublings
    return float(np.sqrt((off**2).sum() / max(len(off) - 2, 1)))


def gains(rates: Floats, doublings: Floats) -> Floats:
    """The reduction of the rate from the end of the line, 0, to one doubling further, for each row."""
    slope, height = straight(rates, doublings).T
    return np.asarray(np.exp(height) - np.exp(height + slope))
