"""Benchmarks of quality: how well given texts are checked, running text is aligned, and words are found by search."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drethtr.base.errors import ConfigError, DataError
from drethtr.bench.commands.choices import Data
from drethtr.cli.options import (
    ChangedModel,
    DeviceName,
    ForceModel,
    ForceResults,
    JSONFile,
    Limit,
    OutputModel,
    ReadingOptions,
    Seed,
    Threads,
    with_reading_options,
)
from drethtr.cli.outputs import printed_after, refuse_results, write_json
from drethtr.cli.reports import read_by
from drethtr.cli.screen import echo

if TYPE_CHECKING:
    from drethtr.bench.quality.retrieval.lines import IndexedLines, LabeledLines
    from drethtr.recognition.recognizer import Recognizer

app = typer.Typer()


@app.command()
@with_reading_options()
def check(
    data: Data,
    fit: Annotated[
        list[str] | None,
        typer.Option(metavar="DATA", help="Judge each set with a fit on these lines of other sets; repeatable."),
    ] = None,
    limit: Limit = None,
    seed: Seed = 0,
    json_file: JSONFile = None,
    force: ForceResults = False,
    *,
    reading: ReadingOptions,
) -> None:
    """Measure how well `drethtr check` finds errors that are inserted into the texts of lines."""
    from tqdm import tqdm

    from drethtr.bench.quality.check import check_fitted_on, known_sets, measure_support, report, weigh_cases
    from drethtr.datasets.open import open_all
    from drethtr.evaluation.reading import to_read
    from drethtr.proofreading.fit import fit_of

    refuse_results(json_file, force=force, inputs=data)
    recognizer = reading.load()
    samples = to_read(open_all(data), limit, seed)
    fitted_on = to_read(open_all(fit), limit, seed) if fit else []
    check_fitted_on(samples, fitted_on)
    with tqdm(total=len(samples) + len(fitted_on), unit="line", disable=None) as bar:
        others = weigh_cases(recognizer, fitted_on, seed, bar.update)
        cases = weigh_cases(recognizer, samples, seed, bar.update)
    found = measure_support(cases, known_sets(recognizer.model), fit_of(recognizer.model), others)
    deliver(report(found, held_out=bool(others)), {"sets": list(map(asdict, found))}, recognizer, json_file)


@app.command("fit-check")
def fit_check(
    model: ChangedModel,
    data: Data,
    output: OutputModel = None,
    limit: Limit = None,
    seed: Seed = 0,
    device: DeviceName = "auto",
    threads: Threads = None,
    force: ForceModel = False,
) -> None:
    """Calibrate `drethtr check` for a model, on errors that are inserted into validation lines of several sets."""
    from tqdm import tqdm

    from drethtr.base.locks import claimed
    from drethtr.bench.quality.check import fit_support, weigh_cases
    from drethtr.cli.progress import exit_if_left_out, usable_samples
    from drethtr.datasets.open import open_all
    from drethtr.evaluation.calibrate import TO_CALIBRATE
    from drethtr.evaluation.reading import to_read
    from drethtr.recognition.backends import resolve_device
    from drethtr.recognition.model.file import load_model, save_record
    from drethtr.recognition.recognizer import Recognizer

    target = output or model
    refuse_results(target, force=force)
    wanted = to_read(open_all(data), limit, seed)
    with claimed(target, replace=force):
        loaded = load_model(model)
        recognizer = Recognizer(loaded, device=resolve_device(device), threads=threads)
        samples = usable_samples(recognizer, wanted)
        if len(samples) < TO_CALIBRATE:
            raise DataError(
                f"{', '.join(data)}: {len(samples)} usable lines; the check needs at least {TO_CALIBRATE}, preferably "
                "a few hundred: add lines used for neither training nor testing"
            )
        with tqdm(total=len(samples), unit="line", disable=None) as bar:
            support = fit_support(weigh_cases(recognizer, samples, seed, bar.update)).weights
        save_record(model, replace(loaded.record, support=support), target, of=loaded)
    echo(f"{target}: drethtr check calibrated on {len(samples):,} lines\n{support}")
    exit_if_left_out(wanted, samples)


@app.command()
@with_reading_options()
def align(
    data: Annotated[list[str], typer.Argument(metavar="DATA", help="Transcribed lines, or pages (PAGE, ALTO).")],
    lines: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Align with lines from this segmentation, such as rapid; default: given."),
    ] = None,
    limit: Limit = None,
    seed: Seed = 0,
    json_file: JSONFile = None,
    force: ForceResults = False,
    *,
    reading: ReadingOptions,
) -> None:
    """Join the texts of each page, align them again, and count the lines that get exactly their words."""
    from tqdm import tqdm

    from drethtr.bench.quality.alignment import align_pages, measure_alignment, open_known, report
    from drethtr.bench.quality.check import known_sets

    refuse_results(json_file, force=force, inputs=data)
    if lines is not None and limit is not None:
        raise ConfigError("--limit draws single lines, but --lines finds those of whole pages; leave out one of them")
    pages = open_known(data, lines, limit, seed)
    recognizer = reading.load()
    with tqdm(total=sum(len(page.samples) for page in pages), unit="line", disable=None) as bar:
        aligned = align_pages(recognizer, pages, seed, bar.update)
    found = measure_alignment(aligned, known_sets(recognizer.model))
    deliver(report(found), {"sets": list(map(asdict, found))}, recognizer, json_file)


@app.command()
@with_reading_options()
def retrieval(
    data: Data,
    among: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DATA",
            help="Also search these lines of other sets, or results of drethtr batch --posteriors with transcribed "
            "inputs; repeatable.",
        ),
    ] = None,
    save_fit: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Fit the probabilities on these sets, and write the fit to this file."),
    ] = None,
    limit: Limit = None,
    seed: Seed = 0,
    json_file: JSONFile = None,
    force: ForceResults = False,
    *,
    reading: ReadingOptions,
) -> None:
    """Compare `drethtr search` with searching the text of readings, by words that are on the lines."""
    from drethtr.bench.quality.retrieval.figures import fit_search, judge_sets, load_weights, save_weights, table
    from drethtr.bench.quality.retrieval.lines import IndexedLines

    refuse_results(json_file, save_fit, force=force, inputs=data)
    recognizer = reading.load(posteriors=True)
    if not recognizer.model.languages:
        raise ConfigError(
            f"model {recognizer.model.identity} has no n-gram language model, from which the queries are drawn; add "
            "one with drethtr model language"
        )
    languages = recognizer.model.tokenizer, recognizer.model.languages
    known = read_behind_bar(recognizer, data, limit, seed)
    others = IndexedLines.joined([indexed_lines_of(recognizer, some, limit, seed) for some in among or ()])
    if save_fit is None:
        judged = judge_sets(known, others, languages, load_weights())
    else:
        weights, judged = fit_search(known, others, languages)
        save_weights(weights, save_fit)
    figures = {"sets": {name: found.to_json() for name, found in judged.items()}}
    deliver(table(judged, held_out=save_fit is not None), figures, recognizer, json_file)


def indexed_lines_of(recognizer: "Recognizer", data: str, limit: int | None, seed: int) -> "IndexedLines":
    """Read the lines of a data set, or take those in results of `drethtr batch --posteriors`."""
    from drethtr.bench.quality.retrieval.lines import IndexedLines
    from drethtr.bulk.indexing import is_batch

    if is_batch(data):
        return IndexedLines.of_batch(data, recognizer)
    return read_behind_bar(recognizer, [data], limit, seed).indexed


def read_behind_bar(recognizer: "Recognizer", data: Sequence[str], limit: int | None, seed: int) -> "LabeledLines":
    """Read the clean lines of data sets, with a progress bar."""
    from tqdm import tqdm

    from drethtr.bench.quality.retrieval.lines import LabeledLines
    from drethtr.datasets.open import open_all
    from drethtr.evaluation.reading import read_lines, to_read

    samples = to_read(open_all(data), limit, seed)
    with tqdm(total=len(samples), unit="line", disable=None) as bar:
        return LabeledLines(samples, [line.reading for line in read_lines(recognizer, samples, bar.update)])


def deliver(text: str, figures: dict[str, Any], recognizer: "Recognizer", json_file: Path | None) -> None:
    """Print a table and, if a file is given, write the figures there with the model and settings."""
    from drethtr.evaluation.reading import measured_with

    with printed_after(f"{text}\n{read_by(recognizer)}"):
        if json_file is not None:
            write_json(json_file, {**figures, **measured_with(recognizer)})
