"""`drethtr evaluate --search`: evaluate keyword search against plain text search."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from drethtr.base.errors import ConfigError
from drethtr.cli.tables import EvaluationResult, figure, read_by

if TYPE_CHECKING:
    from drethtr.evaluation.search.crowd import Crowd
    from drethtr.evaluation.search.figures import SetFigures
    from drethtr.evaluation.search.lines import LabeledLines
    from drethtr.recognition.recognizer import Recognizer

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


def evaluate_search(
    recognizer: "Recognizer", data: Sequence[str], among: Sequence[str], limit: int | None, seed: int, fit: Path | None
) -> EvaluationResult:
    """Read lines and evaluate the search on each set.

    Args:
        fit: Evaluate each set with weights fitted on the others, and write weights fitted on all to this file.

    Raises:
        ConfigError: if the model has no n-grams, which generate queries.
        DataError: if there are no lines or words, or too few sets to fit on.
    """
    from drethtr.evaluation.search.crowd import Crowd
    from drethtr.evaluation.search.fit import fit_search, judge_sets, load_weights, save_weights

    if not recognizer.model.languages:
        raise ConfigError(
            "--search generates queries with an n-gram language model, which this model lacks; add one with "
            "drethtr language"
        )
    language = recognizer.model.tokenizer, recognizer.model.languages
    lines = read_behind_bar(recognizer, data, limit, seed)
    crowd = Crowd.joined([crowd_of(recognizer, data, limit, seed) for data in among])
    if fit is None:
        judged = judge_sets(lines, crowd, language, load_weights())
    else:
        weights, judged = fit_search(lines, crowd, language)
        save_weights(weights, fit)
    text = f"{table(judged, held_out=fit is not None)}\n{read_by(recognizer)}"
    return EvaluationResult(text, {"sets": {name: figures.to_json() for name, figures in judged.items()}})


def crowd_of(recognizer: "Recognizer", data: str, limit: int | None, seed: int) -> "Crowd":
    """Read the lines of a data set, or take those in results of `drethtr batch --posteriors`."""
    from drethtr.evaluation.search.crowd import Crowd
    from drethtr.search.from_batch import is_batch

    if is_batch(data):
        return Crowd.of_batch(data, recognizer)
    return read_behind_bar(recognizer, [data], limit, seed).crowd


def read_behind_bar(recognizer: "Recognizer", data: Sequence[str], limit: int | None, seed: int) -> "LabeledLines":
    """Read the clean lines of data sets, with a progress bar."""
    from tqdm import tqdm

    from drethtr.evaluation.evaluate import to_read
    from drethtr.evaluation.search.lines import read_for_search
    from drethtr.lines.sources import open_all

    samples = to_read(open_all(data), limit, seed)
    with tqdm(total=len(samples), unit="line", disable=None) as bar:
        return read_for_search(recognizer, samples, bar.update)


def table(judged: "Mapping[str, SetFigures]", *, held_out: bool) -> str:
    """The figures in percent, several rows per set."""
    from drethtr.evaluation.search.retrieval import CONVENTION

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


def mean(judged: "Mapping[str, SetFigures]", key: str) -> dict[str, float | None]:
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
