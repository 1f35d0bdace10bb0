"""Fit the calibration of searches, and evaluate it on held-out sets."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from drethtr.base.errors import DataError
from drethtr.base.files import write_text
from drethtr.bench.quality.retrieval.crowd import Crowd
from drethtr.bench.quality.retrieval.figures import Among, SearchWeights, SetFigures, candidates_of, figures_of
from drethtr.bench.quality.retrieval.lines import LabeledLines
from drethtr.bench.quality.retrieval.queries import LanguageModel, queries_of
from drethtr.bench.quality.retrieval.text_search import fuzzy_features
from drethtr.evaluation.confidence import Booleans, Floats
from drethtr.recognition.confidence.logistic import Logistic, fit_logistic
from drethtr.search.probability import SHIPPED, CandidateLines, SearchCalibration, features

FUZZY = "fuzzy"
"""Key of the weights of fuzzy search in the file; only comparisons need them."""

PLAUSIBLE = 0.03
"""Less probable pairs are left out: there are so many that they would dominate the fit, although no user sees them."""

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


def fit_search(lines: LabeledLines, crowd: Crowd, model: LanguageModel) -> tuple[SearchWeights, dict[str, SetFigures]]:
    """Weights fitted on lines of several sets; and for each set, the metrics of weights fitted on the others.

    Args:
        crowd: More lines to search, so that the effect of their number is learned.

    Raises:
        DataError: if there are fewer than two sets.
    """
    sets = lines.by_set()
    if len(sets) < MIN_SETS:
        raise DataError("fitting needs at least two sets, each judged by a fit on the others")
    others = {name: others_of(name, sets, crowd) for name in sets}
    material = {name: material_of(of_set, others[name], model) for name, of_set in sets.items()}
    judged = {}
    for name, of_set in sets.items():
        weights = learned([known for other, known in material.items() if other != name])
        judged[name] = figures_of(of_set, others[name], model, weights)
    return learned(list(material.values())), judged


def material_of(lines: LabeledLines, others: Crowd, model: LanguageModel) -> FitData:
    """The cases from the lines of a set: searched alone, among others, and among those without the word."""
    queries = queries_of(lines, model)
    own = lines.situation(queries)
    among = Among.of(own, lines, others)
    alone = candidates_of(lines.crowd)
    rows = zip(own.chances, queries, own.relevant, strict=True)
    situations = [joined([cases_of(chances, query, alone, right) for chances, query, right in rows])]
    for without in (False, True):
        some = []
        for number, query in enumerate(queries):
            places = among.searched(number, without=without)
            candidates = candidates_of(among.stored, places)
            some.append(cases_of(among.chances[number, places], query, candidates, among.relevant[number, places]))
        situations.append(joined(some))
    similar = fuzzy_features(queries, lines)
    near = similar[:, :, 0] > 0
    return FitData(situations, (similar[near], own.relevant[near]))


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
    lines: LabeledLines, crowd: Crowd, model: LanguageModel, weights: SearchWeights
) -> dict[str, SetFigures]:
    """The metrics of the search on each set, and among the lines of all others and of a crowd."""
    sets = lines.by_set()
    return {name: figures_of(of_set, others_of(name, sets, crowd), model, weights) for name, of_set in sets.items()}


def others_of(name: str, sets: Mapping[str, LabeledLines], crowd: Crowd) -> Crowd:
    """The lines of all other sets, and of a crowd."""
    return Crowd.joined([*(of_set.crowd for other, of_set in sets.items() if other != name), crowd])
