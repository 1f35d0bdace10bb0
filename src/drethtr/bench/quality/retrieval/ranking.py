"""Retrieval metrics of a ranking of lines for many queries: average precision, recall, calibration.

Shapes, everywhere in this file: Q queries; L lines; scores and relevance (Q, L), weights (L,) of the lines.
"""

from dataclasses import asdict, dataclass
from math import nan
from typing import Any

import numpy as np

from drethtr.base.arrays import Booleans, Floats, Ints
from drethtr.evaluation.confidence import bins_of, ece_by_chance, ece_of
from drethtr.evaluation.metrics import MIN_PAGES, interval_95

DRAWS = 200
"""Bootstrap samples: few, as a ranking takes longer to evaluate than a sum of edits."""

SHOWN = 0.1
"""Minimum probability of a hit for calibration metrics, as for the hits that `drethtr search` shows."""

CONVENTION = (
    "Queries: all distinct words of three letters and more of the lines, and as many that are on none; case, accents "
    "and older spellings folded. gAP: average precision of all pairs of query and line in one ranking, those that a "
    "method does not find counting as missed. mAP, P@1, R@10: "
    "means over the queries that occur. R@p: highest recall at a precision of at least p, of all pairs. ECE: of the "
    f"hits of probability {SHOWN:g} and more; by chance: what it would be on average if these were perfect. In "
    f"brackets the 95 % interval of a bootstrap over pages; none for fewer than {MIN_PAGES}."
)


@dataclass(frozen=True)
class Retrieval:
    """The metrics of a ranking, see `CONVENTION`.

    ece, ece_by_chance           of the hits, and its mean for as many hits with perfect probabilities
    mean_probability, precision  of the hits
    """

    gap: float
    gap_low: float
    gap_high: float
    map: float
    first: float
    recall_10: float
    recall_half: float
    recall_nine: float
    hits: int = 0
    ece: float = nan
    ece_by_chance: float = nan
    mean_probability: float = nan
    precision: float = nan

    def to_json(self) -> dict[str, Any]:
        """The metrics as plain values; null for undefined ones."""
        return {name: None if value != value else value for name, value in asdict(self).items()}


def judge(scores: Floats, relevant: Booleans, pages: Ints, *, probable: bool = False) -> Retrieval:
    """Evaluate a ranking.

    Args:
        pages: (L,) the page of each line, as a number from 0.
        probable: Whether scores are probabilities, whose calibration is measured as well.
    """
    given = np.flatnonzero(scores.ravel() > 0)
    order = given[np.argsort(-scores.ravel()[given], kind="stable")]
    ranked, lines, often = relevant.ravel()[order], order % len(pages), relevant.sum(0)
    draws = [average_precision(ranked, often @ weights, weights[lines]) for weights in drawn(pages)]
    low, high = interval_95(np.array(draws), int(pages.max()) + 1) if draws else (nan, nan)
    occurring = relevant.any(1)
    by_query = np.argsort(-scores[occurring], axis=1, kind="stable")
    hits = np.take_along_axis(relevant[occurring] & (scores[occurring] > 0), by_query, axis=1)
    numbers = relevant[occurring].sum(1)
    precision, recall = curve(ranked, scores.ravel()[order], int(relevant.sum()))
    # Less probable pairs are never shown; they are so many that they would make any calibration look good.
    shown = scores >= SHOWN
    judged = probable and bool(shown.any())
    sure, right = scores[shown], relevant[shown].astype(np.float64)
    return Retrieval(
        gap=average_precision(ranked, int(relevant.sum())),
        gap_low=low,
        gap_high=high,
        map=float(np.mean([average_precision(one, number) for one, number in zip(hits, numbers, strict=True)])),
        first=float(hits[:, 0].mean()),
        recall_10=float((hits[:, :10].sum(1) / numbers).mean()),
        recall_half=float(recall[precision >= 0.5].max(initial=0.0)),
        recall_nine=float(recall[precision >= 0.9].max(initial=0.0)),
        hits=int(shown.sum()),
        ece=ece_of(bins_of(sure, right)) if judged else nan,
        ece_by_chance=ece_by_chance(sure) if judged else nan,
        mean_probability=float(sure.mean()) if judged else nan,
        precision=float(right.mean()) if judged else nan,
    )


def average_precision(ranked: Booleans, relevant: float, weights: Floats | None = None) -> float:
    """Average precision of N hits, best first; NaN if nothing is relevant.

    Args:
        ranked: (N,) whether each hit is relevant.
        relevant: Total of relevant lines, found or not.
        weights: (N,) of the hits; 1 by default.
    """
    if not relevant:
        return nan
    right = ranked.astype(np.float64) if weights is None else ranked * weights
    before = np.arange(1, len(ranked) + 1) if weights is None else np.maximum(np.cumsum(weights), 1e-12)
    return float((np.cumsum(right) / before * right).sum() / relevant)


def curve(ranked: Booleans, scores: Floats, relevant: int) -> tuple[Floats, Floats]:
    """Precision and recall (N,) above each distinct score of the hits, best first."""
    # Hits of equal score are unordered, so precision is only defined after all of them.
    ends = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1) if len(scores) else np.empty(0, dtype=np.int64)
    right = np.cumsum(ranked)[ends]
    return right / (ends + 1), right / max(relevant, 1)


def drawn(pages: Ints) -> list[Floats]:
    """The weights of lines in each of several bootstrap draws of pages; empty for too few pages."""
    number = int(pages.max()) + 1
    if number < MIN_PAGES:
        return []
    rng = np.random.default_rng(0)
    return [np.bincount(rng.integers(0, number, number), minlength=number)[pages].astype(float) for _ in range(DRAWS)]
