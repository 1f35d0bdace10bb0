"""Compare `drethtr search` with searching the readings as text, on transcribed lines.

Each line is searched separately. Three methods are compared: `exact` finds words of the readings, ranked by confidence;
`fuzzy` also finds words up to two edits away, ranked by a logistic model of similarity, confidence and length; `search`
is `drethtr search`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from drethtr.bench.quality.retrieval.crowd import Crowd
from drethtr.bench.quality.retrieval.lines import LabeledLines, Situation
from drethtr.bench.quality.retrieval.queries import LanguageModel, queries_of
from drethtr.bench.quality.retrieval.ranking import CONVENTION, Retrieval, judge
from drethtr.bench.quality.retrieval.text_search import exact_scores, fuzzy_scores
from drethtr.cli.tables import figure
from drethtr.evaluation.confidence import Booleans, Floats
from drethtr.recognition.confidence.logistic import Logistic
from drethtr.search.probability import CandidateLines, SearchCalibration

METHODS = {
    "exact": "exact text search",
    "fuzzy": "fuzzy, up to 2 edits",
    "search": "drethtr search",
    "among": "among all lines",
    "without": "among lines without it",
}
RATES = {
    "map": "mAP",
    "first": "P@1",
    "recall_10": "R@10",
    "recall_half": "R@.5",
    "recall_nine": "R@.9",
    "ece": "ECE",
    "ece_by_chance": "by chance",
    "said": "said",
    "were": "were",
}
"""Columns: names of figures and their titles."""

NARROWEST = 6


def search_scores(situation: Situation, lines: LabeledLines, calibration: SearchCalibration) -> Floats:
    """(Q, L) the probability from `drethtr search`."""
    candidates = candidates_of(lines.crowd)
    rows = zip(situation.queries, situation.chances, strict=True)
    return np.stack([calibration(chances, len(query), candidates) for query, chances in rows])


@dataclass(frozen=True)
class Among:
    """Queries on the L lines of a set and the C lines of a crowd.

    relevant  (Q, L + C) whether the query is on the line
    chances   (Q, L + C) the sum over all readings of the line
    """

    lines: LabeledLines
    crowd: Crowd
    queries: Sequence[str]
    relevant: Booleans
    chances: Floats

    @classmethod
    def of(cls, own: Situation, lines: LabeledLines, crowd: Crowd) -> "Among":
        """The queries of a situation, on its lines and on others."""
        relevant = np.stack([crowd.having(query) for query in own.queries])
        chances = np.stack([crowd.chances(query) for query in own.queries])
        return cls(lines, crowd, own.queries, np.hstack([own.relevant, relevant]), np.hstack([own.chances, chances]))

    @cached_property
    def stored(self) -> Crowd:
        """All lines."""
        return Crowd.joined([self.lines.crowd, self.crowd])

    def searched(self, row: int, *, without: bool) -> NDArray[np.int64]:
        """The places of the lines to search for a query: all, or `without` those of the crowd that contain it."""
        strange = np.arange(len(self.stored)) >= len(self.lines)
        return np.flatnonzero(~(strange & self.relevant[row]) if without else np.ones(len(strange)))

    def scores(self, calibration: SearchCalibration, *, without: bool) -> Floats:
        """(Q, L + C) the probability from `drethtr search`; 0 for skipped lines."""
        found = np.zeros(self.chances.shape)
        for row, query in enumerate(self.queries):
            places = self.searched(row, without=without)
            found[row, places] = calibration(self.chances[row, places], len(query), candidates_of(self.stored, places))
        return found

    def judge(self, calibration: SearchCalibration, *, without: bool) -> Retrieval:
        """The metrics of `drethtr search`, without intervals, as the lines of a crowd have no pages."""
        relevant = self.relevant.copy()
        if without:
            relevant[:, len(self.lines) :] = False
        pages = np.zeros(relevant.shape[1], dtype=np.int64)
        return judge(self.scores(calibration, without=without), relevant, pages, probable=True)


def candidates_of(crowd: Crowd, places: NDArray[np.int64] | None = None) -> CandidateLines:
    """The data of lines, or of some of them, for the calibration."""
    which = slice(None) if places is None else places
    return CandidateLines.of_all(crowd.confidences[which], crowd.steps[which])


@dataclass(frozen=True)
class SearchWeights:
    """The logistic models of the methods `search` and `fuzzy`."""

    search: SearchCalibration
    fuzzy: Logistic


class SetFigures(NamedTuple):
    """The metrics of each method on the lines of a set.

    queries  of which `occurring` are on one of the lines
    among    `drethtr search` on these lines among `others`, None if there are none
    without  the same among those of the others that do not contain the word
    """

    lines: int
    queries: int
    occurring: int
    bytes_per_line: float
    exact: Retrieval
    fuzzy: Retrieval
    search: Retrieval
    others: int
    among: Retrieval | None
    without: Retrieval | None

    def to_json(self) -> dict[str, Any]:
        """The metrics as plain values."""
        return {
            name: value.to_json() if isinstance(value, Retrieval) else value for name, value in self._asdict().items()
        }


def figures_of(lines: LabeledLines, crowd: Crowd, model: LanguageModel, weights: SearchWeights) -> SetFigures:
    """Evaluate all methods on the lines of a set, and the search also among the lines of a crowd."""
    queries = queries_of(lines, model)
    situation = lines.situation(queries)
    methods = {
        "exact": exact_scores(queries, lines),
        "fuzzy": fuzzy_scores(queries, lines, weights.fuzzy),
        "search": search_scores(situation, lines, weights.search),
    }
    judged = {name: judge(scores, situation.relevant, lines.pages, probable=True) for name, scores in methods.items()}
    among = Among.of(situation, lines, crowd) if len(crowd) else None
    return SetFigures(
        lines=len(lines),
        queries=len(queries),
        occurring=int(situation.relevant.any(1).sum()),
        bytes_per_line=lines.crowd.stored_bytes / len(lines),
        others=len(crowd),
        among=None if among is None else among.judge(weights.search, without=False),
        without=None if among is None else among.judge(weights.search, without=True),
        **judged,
    )


def table(judged: Mapping[str, SetFigures], *, held_out: bool) -> str:
    """The figures in percent, several rows per set."""
    width = max(len(name) for name in (*judged, *METHODS.values())) + 2
    rows = [f"{'':{width}}  {'gAP':>20}" + "".join(f"  {title:>{NARROWEST}}" for title in RATES.values())]
    for name, found in judged.items():
        rows.append(
            f"{name}: {found.lines} lines, {found.queries} queries, {found.occurring} of which occur; "
            f"{found.bytes_per_line:.0f} bytes per line" + (f"; {found.others:,} other lines" if found.others else "")
        )
        rows += [
            row(title, getattr(found, key).to_json(), width) for key, title in METHODS.items() if getattr(found, key)
        ]
    if len(judged) > 1:
        rows.append(f"mean of {len(judged)} sets")
        rows += [row(title, mean(judged, key), width) for key, title in METHODS.items() if mean(judged, key)]
    notes = [CONVENTION]
    if held_out:
        notes.append("Probabilities of each set use weights fitted on the others.")
    return "\n".join([*rows, "", *notes])


def mean(judged: Mapping[str, SetFigures], key: str) -> dict[str, float | None]:
    """The mean of each figure of a method over the sets; empty if a set lacks the method."""
    found = [getattr(figures, key) for figures in judged.values()]
    if not all(found):
        return {}
    values = [one.to_json() for one in found]
    means: dict[str, float | None] = {}
    for name in values[0]:
        known = [one[name] for one in values if one[name] is not None]
        means[name] = sum(known) / len(known) if known and not name.startswith("gap_") else None
    return means


def row(title: str, found: Mapping[str, float | None], width: int) -> str:
    """The figures of a method."""
    low, high = found["gap_low"], found["gap_high"]
    ends = "" if low is None or high is None else f" [{figure(low, 1)}, {figure(high, 1)}]"
    rates = "".join(f"  {figure(found[name], 1):>{max(NARROWEST, len(title))}}" for name, title in RATES.items())
    return f"  {title:{width - 2}}  {figure(found['gap'], 1) + ends:>20}{rates}"
