"""Compare `drethtr search` with searching the readings as text, on transcribed lines, and fit its probabilities.

Each line is searched separately. Three methods are compared: `exact` finds words of the readings, ranked by confidence;
`fuzzy` also finds words up to two edits away, ranked by a logistic model of similarity, confidence and length; `search`
is `drethtr search`. A set is judged by a fit on other sets.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from drethtr.base.arrays import Booleans, Floats, Ints
from drethtr.base.errors import DataError
from drethtr.base.files import write_text
from drethtr.bench.quality.retrieval.lines import (
    IndexedLines,
    LabeledLines,
    LanguageModel,
    SearchResults,
    exact_scores,
    fuzzy_features,
    fuzzy_scores,
    queries_of,
)
from drethtr.bench.quality.retrieval.ranking import CONVENTION, Retrieval, judge
from drethtr.cli.reports import figure
from drethtr.recognition.confidence.logistic import Logistic, fit_logistic
from drethtr.search.probability import SHIPPED, CandidateLines, SearchCalibration, features

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
    "mean_probability": "mean probability",
    "precision": "precision",
}
"""Columns: names of figures and their titles."""

MIN_WIDTH = 6


@dataclass(frozen=True)
class Among:
    """Queries on the L lines of a set and the C lines of others.

    relevant  (Q, L + C) whether the query is on the line
    chances   (Q, L + C) the sum over all readings of the line
    """

    lines: LabeledLines
    others: tuple[IndexedLines, ...]
    queries: Sequence[str]
    relevant: Booleans
    chances: Floats

    @classmethod
    def of(cls, own: SearchResults, lines: LabeledLines, *others: IndexedLines) -> "Among":
        """The queries of a search on its lines and on others."""
        every = [own, *(more.search(own.queries) for more in others)]
        relevant, chances = (np.hstack([getattr(one, part) for one in every]) for part in ("relevant", "chances"))
        return cls(lines, others, own.queries, relevant, chances)

    def leaving_out(self, gone: IndexedLines) -> "Among":
        """The queries on all lines but some of the others."""
        number = next(number for number, more in enumerate(self.others) if more is gone)
        start = len(self.lines) + sum(map(len, self.others[:number]))
        places = slice(start, start + len(gone))
        return replace(
            self,
            others=self.others[:number] + self.others[number + 1 :],
            relevant=np.delete(self.relevant, places, axis=1),
            chances=np.delete(self.chances, places, axis=1),
        )

    @cached_property
    def stored(self) -> IndexedLines:
        """All lines."""
        return IndexedLines.joined([self.lines.indexed, *self.others])

    def searched(self, row: int, *, without: bool) -> Ints:
        """The places of the lines to search for a query: all, or `without` the others that contain it."""
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
        """The metrics of `drethtr search`, without intervals, as other lines have no pages."""
        relevant = self.relevant.copy()
        if without:
            relevant[:, len(self.lines) :] = False
        pages = np.zeros(relevant.shape[1], dtype=np.int64)
        return judge(self.scores(calibration, without=without), relevant, pages, probable=True)


def candidates_of(lines: IndexedLines, places: Ints | None = None) -> CandidateLines:
    """The data of lines, or of some of them, for the calibration."""
    which = slice(None) if places is None else places
    return CandidateLines.of_all(lines.confidences[which], lines.steps[which])


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


def figures_of(
    lines: LabeledLines, others: Sequence[IndexedLines], model: LanguageModel, weights: SearchWeights
) -> SetFigures:
    """Evaluate all methods on the lines of a set, and the search also among others."""
    queries = queries_of(lines, model)
    results = lines.indexed.search(queries)
    candidates, rows = candidates_of(lines.indexed), zip(queries, results.chances, strict=True)
    methods = {
        "exact": exact_scores(queries, lines),
        "fuzzy": fuzzy_scores(queries, lines, weights.fuzzy),
        "search": np.stack([weights.search(chances, len(query), candidates) for query, chances in rows]),
    }
    judged = {name: judge(scores, results.relevant, lines.pages, probable=True) for name, scores in methods.items()}
    number = sum(map(len, others))
    among = Among.of(results, lines, *others) if number else None
    return SetFigures(
        lines=len(lines),
        queries=len(queries),
        occurring=int(results.relevant.any(1).sum()),
        bytes_per_line=lines.indexed.stored_bytes / len(lines),
        others=number,
        among=None if among is None else among.judge(weights.search, without=False),
        without=None if among is None else among.judge(weights.search, without=True),
        **judged,
    )


def table(judged: Mapping[str, SetFigures], *, held_out: bool) -> str:
    """The figures in percent, several rows per set."""
    width = max(len(name) for name in (*judged, *METHODS.values())) + 2
    rows = [f"{'':{width}}  {'gAP':>20}" + "".join(f"  {title:>{MIN_WIDTH}}" for title in RATES.values())]
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
    rates = "".join(f"  {figure(found[name], 1):>{max(MIN_WIDTH, len(title))}}" for name, title in RATES.items())
    return f"  {title:{width - 2}}  {figure(found['gap'], 1) + ends:>20}{rates}"


FUZZY = "fuzzy"
"""Key of the weights of fuzzy search in the file; only comparisons need them."""

PLAUSIBLE = 0.03
"""Less probable pairs are left out: they are so many that they would dominate the fit, although no user sees them."""

MAX_CASES = 300
"""Maximum plausible pairs of a set in one situation, so that all sets count alike; more are sampled."""

ROUNDS = 2
"""Number of fits, each on the pairs that are plausible by the previous one."""

MIN_SETS = 2
DIGITS = 5

Cases: TypeAlias = tuple[Floats, Booleans]
"""Features (N, F) of pairs of query and line, and whether the query is on the line."""


class FitData(NamedTuple):
    """The cases from the lines of a set; for the search from several situations."""

    search: Sequence[Cases]
    fuzzy: Cases


def load_weights(path: Path = SHIPPED) -> SearchWeights:
    """The weights in a file; by default those in the package.

    Raises:
        DataError: if there are none.
    """
    calibration = SearchCalibration.load(path)
    try:
        fuzzy = json.loads(path.read_text(encoding="utf-8"))[FUZZY]
        return SearchWeights(calibration, Logistic(float(fuzzy["bias"]), tuple(map(float, fuzzy["weights"]))))
    except (ValueError, LookupError, TypeError) as error:
        raise DataError(f"no weights for fuzzy search: {error}", path) from error


def save_weights(weights: SearchWeights, path: Path) -> None:
    """Write weights to a file.

    Raises:
        DataError: if it cannot be written.
    """
    fuzzy = {"bias": weights.fuzzy.bias, "weights": list(weights.fuzzy.weights)}
    write_text(path, json.dumps({**weights.search.to_json(), FUZZY: fuzzy}, indent=1) + "\n")


def fit_search(
    lines: LabeledLines, others: IndexedLines, model: LanguageModel
) -> tuple[SearchWeights, dict[str, SetFigures]]:
    """Weights fitted on lines of several sets; and for each set, the metrics of weights fitted on the others.

    Args:
        others: More lines to search, so that the effect of their number is learned.

    Raises:
        DataError: if there are fewer than two sets.
    """
    sets = lines.by_set()
    if len(sets) < MIN_SETS:
        raise DataError(
            "fitting needs at least two sets, as each is judged by a fit on the others; give lines of another set"
        )
    among = {}
    for name, of_set in sets.items():
        results = of_set.indexed.search(queries_of(of_set, model))
        among[name] = Among.of(results, of_set, *others_of(name, sets, others))
    judged = {}
    for name, of_set in sets.items():
        # A set must be unknown to the weights that judge it, so it is also not among the lines searched for other sets.
        rest = [one.leaving_out(of_set.indexed) for other, one in among.items() if other != name]
        weights = learned(list(map(material_of, rest)))
        judged[name] = figures_of(of_set, others_of(name, sets, others), model, weights)
    return learned(list(map(material_of, among.values()))), judged


def material_of(among: Among) -> FitData:
    """The cases from the lines of a set: searched alone, among others, and among those without the word."""
    lines, queries = among.lines, among.queries
    chances, relevant = among.chances[:, : len(lines)], among.relevant[:, : len(lines)]
    alone = candidates_of(lines.indexed)
    rows = zip(chances, queries, relevant, strict=True)
    situations = [joined([cases_of(of_query, query, alone, right) for of_query, query, right in rows])]
    for without in (False, True):
        some = []
        for number, query in enumerate(queries):
            places = among.searched(number, without=without)
            candidates = candidates_of(among.stored, places)
            some.append(cases_of(among.chances[number, places], query, candidates, among.relevant[number, places]))
        situations.append(joined(some))
    similar = fuzzy_features(queries, lines)
    near = similar[:, :, 0] > 0
    return FitData(situations, (similar[near], relevant[near]))


def cases_of(chances: Floats, query: str, lines: CandidateLines, right: Booleans) -> Cases:
    """The cases of a query: the lines that may contain it."""
    kept = np.flatnonzero(chances > 0)
    return features(chances[kept], len(query), lines.where(kept)), right[kept]


def learned(material: Sequence[FitData]) -> SearchWeights:
    """The fitted weights; those of the search on lines that are plausible by weights fitted on all."""
    fit = partial(fit_logistic, digits=DIGITS)
    situations = [cases for known in material for cases in known.search]
    weights = fit(*joined(situations))
    rng = np.random.default_rng(0)
    # Which pairs are plausible depends on the weights, and the weights on these pairs, so the fit is repeated.
    for _ in range(ROUNDS):
        weights = fit(*joined([plausible(cases, weights, rng) for cases in situations]))
    return SearchWeights(SearchCalibration(weights), fit(*joined([known.fuzzy for known in material])))


def plausible(cases: Cases, weights: Logistic, rng: np.random.Generator) -> Cases:
    """The cases that are plausible by some weights, or a sample of them."""
    known, right = cases
    places = np.flatnonzero(weights(known) > PLAUSIBLE)
    if len(places) > MAX_CASES:
        places = rng.permutation(places)[:MAX_CASES]
    return known[places], right[places]


def joined(cases: Sequence[Cases]) -> Cases:
    """Concatenate cases."""
    return np.concatenate([known for known, _ in cases]), np.concatenate([right for _, right in cases])


def judge_sets(
    lines: LabeledLines, others: IndexedLines, model: LanguageModel, weights: SearchWeights
) -> dict[str, SetFigures]:
    """The metrics of the search on each set, and among the lines of all other sets and further ones."""
    sets = lines.by_set()
    return {name: figures_of(of_set, others_of(name, sets, others), model, weights) for name, of_set in sets.items()}


def others_of(name: str, sets: Mapping[str, LabeledLines], more: IndexedLines) -> tuple[IndexedLines, ...]:
    """The lines of all other sets, and more."""
    return *(of_set.indexed for other, of_set in sets.items() if other != name), more
