"""`drethtr model predict-cer`: predict the CER on untranscribed lines."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drethtr.base.errors import ConfigError, DataError
from drethtr.cli.expected_rates import Report, compared, predicted, table
from drethtr.cli.options import JSONFile, Limit, ReadingOptions, Seed, with_reading_options
from drethtr.cli.outputs import refuse_results, write_json
from drethtr.cli.progress import read_with_bar, report_skipped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drethtr.datasets.sample import LeftOut, Sample
    from drethtr.evaluation.predict import Pair
    from drethtr.recognition.confidence.error_rate import ErrorRate
    from drethtr.recognition.recognizer import Recognizer


@with_reading_options()
def predict_cer(
    inputs: Annotated[
        list[str],
        typer.Argument(metavar="FOLDER", help="Folders of line images, or of PAGE or ALTO files; data files."),
    ],
    limit: Limit = None,
    seed: Seed = 0,
    truth: Annotated[bool, typer.Option("--truth", help="Also compare with the transcriptions in the data.")] = False,
    learn: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL",
            help="Fit the prediction on the transcriptions of several sets; write the model to this file.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    json_file: JSONFile = None,
    *,
    reading: ReadingOptions,
) -> None:
    """Predict the character error rate on untranscribed lines, with a 95 % interval.

    Images that cannot be used are reported and skipped; the exit code is then 1. It is also 1 if no line has any text,
    and 2 if no image could be used.
    """
    from drethtr.datasets.open import open_all
    from drethtr.datasets.sample import choose
    from drethtr.evaluation.evaluate import to_read
    from drethtr.evaluation.predict import check_sets
    from drethtr.evaluation.untranscribed import lines_to_read
    from drethtr.pages.record import provenance_of, way_of
    from drethtr.recognition.model.adapter import holds_adapter
    from drethtr.recognition.model.file import SHIPPED

    if learn is not None and truth:
        raise ConfigError("--learn includes the comparison; leave out --truth")
    if force and learn is None and json_file is None:
        raise ConfigError("--force replaces the files of --learn and --json; add one of them, or leave out --force")
    refuse_results(json_file, learn, force=force, inputs=inputs)
    if learn is not None and reading.model is not None and holds_adapter(reading.model):
        raise DataError(f"{reading.model} is an adapter; only a whole model can store the prediction")
    recognizer = reading.load()
    failed = 0
    if learn is not None:
        refuse_other_weights(learn, recognizer)
        samples = to_read(open_all(inputs), limit, seed)
        check_sets(samples)
        text, report = learned(recognizer, read(recognizer, samples), reading.model or SHIPPED, learn)
    elif truth:
        rate = known_rate(recognizer, reading.decoder)
        text, report = compared(rate, read(recognizer, to_read(open_all(inputs), limit, seed)))
    else:
        rate, found = known_rate(recognizer, reading.decoder), lines_to_read(inputs, report_left_out)
        chosen = choose(found, limit or len(found), seed)
        pairs = read_usable(recognizer, chosen)
        if not pairs:
            raise typer.Exit(2)
        if not any(reading.characters for _, reading in pairs):
            typer.echo(
                f"No text was found on any of {len(pairs):,} lines, so no error rate can be predicted.", err=True
            )
            raise typer.Exit(1)
        failed = len(chosen) - len(pairs)
        text, report = predicted(rate, pairs, failed)
    if json_file is not None:
        write_json(json_file, {**report, "made_by": provenance_of(recognizer).to_json(), **way_of(recognizer)})
    typer.echo(text)
    if failed:
        raise typer.Exit(1)


def report_left_out(line: "LeftOut") -> None:
    """Report a line that cannot be used."""
    typer.echo(f"left out, {line.reason}: {line.described()}", err=True)


def refuse_other_weights(target: Path, recognizer: "Recognizer") -> None:
    """Refuse to replace a model by one with other weights, even with --force: only the prediction may change.

    Raises:
        ConfigError: saying how to fit the prediction of that model.
    """
    from drethtr.recognition.model.file import load_model, weights_hash

    if target.exists() and weights_hash(load_model(target).weights) != weights_hash(recognizer.model.weights):
        raise ConfigError(
            f"{target} is not the model that reads, {recognizer.model.identity}; "
            f"to fit the prediction of {target}, add --model {target}"
        )


def read(recognizer: "Recognizer", samples: "Sequence[Sample]") -> "list[Pair]":
    """Read lines; returns each with its reading."""
    return list(zip(samples, read_with_bar(recognizer, samples), strict=True))


def read_usable(recognizer: "Recognizer", samples: "Sequence[Sample]") -> "list[Pair]":
    """Read the lines whose images are usable; the others are reported."""
    from tqdm import tqdm

    from drethtr.evaluation.evaluate import read_each

    pairs = []
    with tqdm(total=len(samples), unit="line", disable=None) as bar:
        for sample, found in read_each(recognizer, samples, bar.update):
            if isinstance(found, DataError):
                report_skipped(found)
            else:
                pairs.append((sample, found))
    return pairs


def known_rate(recognizer: "Recognizer", decoder: str | None) -> "ErrorRate":
    """The model's fitted CER prediction for a decoder, which was typed as `decoder`.

    Raises:
        ConfigError: if there is none.
    """
    from drethtr.recognition.decoding.strategies import name_of

    rate = recognizer.model.record.error_rate(recognizer.strategy)
    if rate is None:
        option = f" --decoder {decoder}" if decoder is not None else ""
        raise ConfigError(
            f"this model has no CER prediction for {name_of(recognizer.strategy)}; fit one on lines of several sets "
            "that it was not trained on: "
            f"drethtr model predict-cer 'lines/*.val.parquet'{option} --model OLD --learn NEW"
        )
    return rate


def learned(recognizer: "Recognizer", pairs: "Sequence[Pair]", source: Path, output: Path) -> Report:
    """Fit the prediction, evaluate it on each set with a fit on the others, and write the model."""
    from drethtr.evaluation.predict import learn, leave_one_set_out, page_or_line
    from drethtr.recognition.model.file import save_record

    decoder = recognizer.strategy
    rate = learn(decoder, pairs)
    sets, pages = leave_one_set_out(decoder, pairs), leave_one_set_out(decoder, pairs, page_or_line)
    save_record(source, recognizer.model.record.with_error_rate(rate), output, of=recognizer.model)
    text, report = table(sets, pages, "by a fit on the other sets")
    change = f"{output}: fitted on {rate.sets} sets: {rate.factor:.2f} × (doubt per character) ^ {rate.power:.2f}."
    return f"{text}\n{change}", report
