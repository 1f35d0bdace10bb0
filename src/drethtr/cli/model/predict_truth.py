"""`drethtr model predict-cer --truth` and `--learn`: compare the predicted CER with transcriptions, and fit it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import typer

from drethtr.base.errors import ConfigError
from drethtr.base.wording import counted
from drethtr.cli.progress import read_usable
from drethtr.cli.reports import EvaluationResult, between, figure, table
from drethtr.datasets.sample import Sample
from drethtr.evaluation.predict import (
    Agreement,
    Prediction,
    check_sets,
    learn,
    leave_one_set_out,
    page_or_line,
    predict,
)
from drethtr.evaluation.reading import ScoredLine
from drethtr.recognition.confidence.error_rate import ErrorRate, Expected
from drethtr.recognition.model.file import Model, load_model, save_record
from drethtr.recognition.recognizer import Recognizer

MIN_CHARACTERS = 100  # the fewest on a page for its CER to be meaningful


def refuse_other_model(target: Path, reads: Model) -> None:
    """Refuse to replace a model by another one, even with --force: only the prediction may change.

    Raises:
        ConfigError: saying how to fit the prediction of that model.
    """
    if target.exists() and without_prediction(load_model(target)) != without_prediction(reads):
        raise ConfigError(
            f"{target} is not the model that reads, {reads.identity}; "
            f"to fit the prediction of {target}, add --model {target}"
        )


def without_prediction(model: Model) -> str:
    """The hash of a model without its predictions of error rates."""
    return replace(model, record=replace(model.record, error_rates=())).hash


def fit_prediction(recognizer: Recognizer, samples: Sequence[Sample], source: Path, output: Path) -> EvaluationResult:
    """Fit the prediction, evaluate it on each set with a fit on the others, and write the model.

    Args:
        recognizer: Reads with the model in the file `source`, in all of its languages.

    Raises:
        DataError: if there are too few sets.
    """
    check_sets(samples)
    lines, decoder = read_or_exit(recognizer, samples), recognizer.strategy
    rate = learn(decoder, lines)
    sets, pages = leave_one_set_out(decoder, lines), leave_one_set_out(decoder, lines, page_or_line)
    model = recognizer.model
    save_record(source, model.record.with_error_rate(rate), output, of=model)
    found = beside_truth(sets, pages, "by a fit on the other sets")
    change = f"{output}: fitted on {rate.sets} sets: {rate.factor:.2f} × (doubt per character) ^ {rate.power:.2f}."
    return EvaluationResult(f"{found.text}\n{change}", found.figures, complete=len(lines) == len(samples))


def compare_with_truth(rate: ErrorRate, recognizer: Recognizer, samples: Sequence[Sample]) -> EvaluationResult:
    """The expected CER of each set beside the true one."""
    lines = read_or_exit(recognizer, samples)
    found = beside_truth(predict(rate, lines), predict(rate, lines, page_or_line), "by the model's own fit")
    return found._replace(complete=len(lines) == len(samples))


def read_or_exit(recognizer: Recognizer, samples: Sequence[Sample]) -> list[ScoredLine]:
    """Read the lines whose images can be used; the others are reported.

    Raises:
        typer.Exit: with 2 if there is none.
    """
    lines = read_usable(recognizer, samples)
    if not lines:
        raise typer.Exit(2)
    return lines


def beside_truth(predictions: Sequence[Prediction], pages: Sequence[Prediction], how: str) -> EvaluationResult:
    """Expected and true CER of sets, and the mean errors of the prediction for sets and pages."""
    rows = [
        (
            one.name,
            f"{one.lines:,}",
            in_percent(one.expected),
            figure(one.cer, 1),
            "outside" if one.inside is False else "",
        )
        for one in predictions
    ]
    lines = [table(["set", "lines", "expected CER %", "CER %", ""], rows), f"Predicted {how}:"]
    of_sets = Agreement.of([one for one in predictions if one.cer is not None])
    of_pages = Agreement.of([one for one in pages if one.cer is not None and one.characters >= MIN_CHARACTERS])
    for found, what, which in ((of_sets, "set", ""), (of_pages, "page", f" of {MIN_CHARACTERS} characters or more")):
        if found.mean_absolute_error is not None:
            lines.append(
                f"  {counted(found.number, what)}{which}: mean absolute error {100 * found.mean_absolute_error:.1f} "
                f"points, true CER inside the interval for {found.inside:,}"
            )
    sets = [
        {"name": one.name, "lines": one.lines, "truth": one.cer, "inside": one.inside, **one.expected._asdict()}
        for one in predictions
    ]
    figures = {"sets": sets, "of_sets": of_sets._asdict(), "of_pages": of_pages._asdict()}
    return EvaluationResult("\n".join(lines), figures)


def in_percent(expected: Expected) -> str:
    """A rate and its interval in percent."""
    return between(expected.cer, expected.low, expected.high, digits=1)
