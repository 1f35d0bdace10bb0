"""How good a ranking of lines is for many queries: average precision, recall, calibration.

Shapes, everywhere in this file: Q queries; L lines; scores and relevance (Q, L), weights (L,) how often a line counts.
"""

from dataclasses import asdict, dataclass
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drethtr.evaluation.confidence import reliability
from drethtr.evaluation.metrics import FEWEST, interval_95

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]

DRAWS = 200
"""Bootstrap samples: a ranking takes longer to judge than a sum of edits."""

SHOWN = 0.1
"""Least probability of a hit that counts for calibration: what `drethtr search` shows."""

CONVENTION = (
    "Queries: all distinct words of three letters and more of the lines, and as many that are on none; case, accents "
    "and older spellings folded. gAP: average precision of all pairs of query and line in one ranking. mAP, P@1, R@10: "
    "means over the queries that occur. R@p: highest recall at a precision of at least p, of all pairs. ECE: of the "
    f"hits of probability {SHOWN:g} and more. In brackets the 95 % interval of a bootstrap over pages; none for fewer "
    f"than {FEWEST}."
)


@dataclass(frozen=True)
class Retrieval:
    """How good a ranking is, see `CONVENTION`.

    said, were  mean probability of the hits, and the share of them that is right
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
    said: float = nan
    were: float = nan

    def to_json(self) -> dict[str, Any]:
        """The numbers; null where there are none."""
        return {name: None if value != value else value for name, value in asdict(self).items()}


def judge(scores: Floats, relevant: Truths, pages: NDArray[np.int64], *, probable: bool = False) -> Retrieval:
    """Judge a ranking.

    Args:
        pages: (L,) the page of each line, as a number from 0.
        probable: Whether scores are probabilities, whose calibration is judged as well.
    """
    every = np.ones(len(pages))
    order = np.argsort(-scores, axis=None, kind="stable")
    ranked, lines = relevant.ravel()[order], np.tile(np.arange(len(pages)), len(scores))[order]
    draws = [average_precision(ranked, weights[lines]) for weights in drawn(pages)]
    low, high = interval_95(np.array(draws), int(pages.max()) + 1) if draws else (nan, nan)
    occurring = relevant.any(1)
    by_query = np.argsort(-scores[occurring], axis=1, kind="stable")
    hits = np.take_along_axis(relevant[occurring], by_query, axis=1)
    precision, recall = curve(ranked, scores.ravel()[order])
    shown = scores >= SHOWN
    sure = reliability(scores[shown], relevant[shown].astype(np.float64)) if probable and shown.any() else None
    return Retrieval(
        gap=average_precision(ranked, every[lines]),
        gap_low=low,
        gap_high=high,
        map=float(np.mean([average_precision(one, every) for one in hits])),
        first=float(hits[:, 0].mean()),
        recall_10=float((hits[:, :10].sum(1) / hits.sum(1)).mean()),
        recall_half=float(recall[precision >= 0.5].max(initial=0.0)),
        recall_nine=float(recall[precision >= 0.9].max(initial=0.0)),
        hits=int(shown.sum()),
        ece=nan if sure is None or sure.ece is None else sure.ece,
        said=float(scores[shown].mean()) if sure is not None else nan,
        were=float(relevant[shown].mean()) if sure is not None else nan,
    )


def average_precision(ranked: Truths, weights: Floats) -> float:
    """Average precision of items (N,), best first, that count so often each; NaN if none is relevant."""
    right = ranked * weights
    total = right.sum()
    if not total:
        return nan
    precision = np.cumsum(right) / np.maximum(np.cumsum(weights), 1e-12)
    return float((precision * right).sum() / total)


def curve(ranked: Truths, scores: Floats) -> tuple[Floats, Floats]:
    """Precision and recall (N,) above each different score of items (N,), best first; a score of 0 finds nothing."""
    ends = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)
    ends = ends[scores[ends] > 0]
    right = np.cumsum(ranked)[ends]
    return right / (ends + 1), right / max(int(ranked.sum()), 1)


def drawn(pages: NDArray[np.int64], seed: int = 0) -> list[Floats]:
    """How often each line counts when pages are drawn anew, several times; nothing for too few pages."""
    number = int(pages.max()) + 1
    if number < FEWEST:
        return []
    rng = np.random.default_rng(seed)
    return [np.bincount(rng.integers(0, number, number), minlength=number)[pages].astype(float) for _ in range(DRAWS)]
