"""Learn what makes probabilities of a search, and judge it on the lines of sets that it was not learned on."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import DataError
from drethtr.base.outputs import write_text
from drethtr.evaluation.search import (
    Floats,
    LanguageModel,
    Lines,
    SearchWeights,
    SetFigures,
    Situation,
    figures_of,
    fuzzy_features,
    queries_of,
)
from drethtr.recognition.confidence.logistic import Logistic, fit_logistic
from drethtr.search.probability import SHIPPED, Calibration, features

FUZZY = "fuzzy"
"""Where the weights of fuzzy search stand in the file: searches do not need them, comparisons do."""

PLAUSIBLE = 0.03
"""Less probable pairs are so many that the weights would be made for them, although nobody sees them."""

ROUNDS = 2
"""How often weights say what is plausible."""

FEWEST_SETS = 2
DIGITS = 5

Cases: TypeAlias = tuple[Floats, NDArray[np.bool_]]
"""Features (N, F) of pairs of query and line, and whether the query is on the line."""


class Material(NamedTuple):
    """What is learned from the lines of a set."""

    search: Cases
    fuzzy: Cases


def load_weights(path: Path = SHIPPED) -> SearchWeights:
    """The weights in a file; by default those in the package.

    Raises:
        DataError: if it holds none.
    """
    calibration = Calibration.load(path)
    try:
        fuzzy = json.loads(path.read_text(encoding="utf-8"))[FUZZY]
        return SearchWeights(calibration, Logistic(float(fuzzy["bias"]), tuple(map(float, fuzzy["weights"]))))
    except (ValueError, LookupError, TypeError) as error:
        raise DataError(f"{path}: no weights of fuzzy search: {error}") from error


def save_weights(weights: SearchWeights, path: Path) -> None:
    """Write weights to a file.

    Raises:
        DataError: if it cannot be written.
    """
    fuzzy = {"bias": weights.fuzzy.bias, "weights": list(weights.fuzzy.weights)}
    write_text(path, json.dumps({**weights.search.to_json(), FUZZY: fuzzy}, indent=1) + "\n")


def fit_search(lines: Lines, model: LanguageModel) -> tuple[SearchWeights, dict[str, SetFigures]]:
    """Weights learned from lines of several sets, and how good weights of the other sets are on each.

    Raises:
        DataError: if there are fewer than two sets.
    """
    sets = lines.by_set()
    if len(sets) < FEWEST_SETS:
        raise DataError("the weights of a search are learned from several sets, each judged by those of the others")
    material = {name: material_of(of_set, lines, model) for name, of_set in sets.items()}
    judged = {}
    for name, of_set in sets.items():
        weights = learned([known for other, known in material.items() if other != name])
        others = [place for place, sample in enumerate(lines.samples) if sample.set != name]
        judged[name] = figures_of(of_set, lines.of(others), model, weights)
    return learned(list(material.values())), judged


def material_of(lines: Lines, every: Lines, model: LanguageModel) -> Material:
    """What is learned from the lines of a set, by themselves and among all, so that their number is learned from."""
    queries = queries_of(lines, model)
    own, among = lines.situation(queries), every.situation(queries)
    similar = fuzzy_features(queries, lines)
    near = similar[:, :, 0] > 0
    return Material(joined([cases_of(own, lines), cases_of(among, every)]), (similar[near], own.relevant[near]))


def cases_of(situation: Situation, lines: Lines) -> Cases:
    """Pairs that are not out of the question."""
    kept = [chances > 0 for chances in situation.chances]
    known = [
        features(chances, len(query), lines.candidates)[which]
        for query, chances, which in zip(situation.queries, situation.chances, kept, strict=True)
    ]
    right = [row[which] for row, which in zip(situation.relevant, kept, strict=True)]
    return np.concatenate(known), np.concatenate(right)


def learned(material: Sequence[Material]) -> SearchWeights:
    """The likeliest weights; those of the search for lines that are plausible by weights for all."""
    fit = partial(fit_logistic, digits=DIGITS)
    search, fuzzy = (joined([known[which] for known in material]) for which in range(2))
    weights = fit(*search)
    for _ in range(ROUNDS):
        plausible = weights(search[0]) > PLAUSIBLE
        weights = fit(search[0][plausible], search[1][plausible])
    return SearchWeights(Calibration(weights), fit(*fuzzy))


def joined(cases: Sequence[Cases]) -> Cases:
    """All cases together."""
    return np.concatenate([known for known, _ in cases]), np.concatenate([right for _, right in cases])


def judge_sets(
    lines: Lines, model: LanguageModel, weights: SearchWeights, more: Lines | None = None
) -> dict[str, SetFigures]:
    """How good the search is on each set, and among the lines of all and `more`."""
    judged = {}
    for name, of_set in lines.by_set().items():
        others = lines.of([place for place, sample in enumerate(lines.samples) if sample.set != name])
        judged[name] = figures_of(of_set, others if more is None else others.with_others(more), model, weights)
    return judged
