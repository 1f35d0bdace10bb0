"""`drethtr model predict-cer`: predict the CER on untranscribed lines."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias

import typer
from tqdm import tqdm

from drethtr.base.errors import ConfigError, DataError
from drethtr.base.locks import claimed
from drethtr.base.wording import counted
from drethtr.cli.options import ImagesFolder, JSONFile, Limit, ReadingOptions, Seed, with_reading_options
from drethtr.cli.outputs import refuse_results, write_json
from drethtr.cli.progress import (
    left_out_of,
    open_lines,
    read_with_bar,
    report_remarks,
    report_skipped,
    say,
    unknown_hands_text,
)
from drethtr.cli.reports import NOT_CALIBRATED, between, figure, table
from drethtr.datasets.layouts.pages import Pages
from drethtr.datasets.sample import Sample, Tally, choose, page_of
from drethtr.evaluation.evaluate import read_each, to_read
from drethtr.evaluation.predict import (
    Pair,
    Prediction,
    check_sets,
    grouped,
    leave_one_set_out,
    mean_absolute_error,
    page_or_line,
    predict,
)
from drethtr.evaluation.predict import (
    learn as fit_rate,
)
from drethtr.evaluation.untranscribed import lines_to_read
from drethtr.layout.doubt import NO_DOUBT, LayoutDoubt, doubt_of_page
from drethtr.pages.catalog import Catalog
from drethtr.pages.flags import doubt_in
from drethtr.pages.inputs import find_inputs
from drethtr.pages.opening import images_in
from drethtr.pages.record import measured_with
from drethtr.pages.segmentation import Segmentation, segmentation_named
from drethtr.pages.source import open_originals
from drethtr.pages.transcribe import transcribe
from drethtr.recognition.confidence.error_rate import ErrorRate, Expected, TotalDoubt, doubt_of
from drethtr.recognition.decoding.strategies import name_of
from drethtr.recognition.model.adapter import holds_adapter
from drethtr.recognition.model.file import SHIPPED, load_model, save_record, weights_hash
from drethtr.recognition.recognizer import Recognizer

Report: TypeAlias = tuple[str, dict[str, Any]]
"""The result as text and as plain values."""

SHOWN = 30  # pages in the table; --json has them all
MIN_CHARACTERS = 100  # of a page, for its CER to be meaningful

INHERITED = (
    "An estimate: the prediction was fitted before this model was fine-tuned or calibrated again. "
    "With lines of several sets, fit it again: drethtr model predict-cer 'lines/*.val.parquet' --model OLD --learn NEW"
)


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
    lines: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The inputs are scans: find lines with this segmentation, as in drethtr transcribe, and add what the "
            "layout may cost.",
        ),
    ] = None,
    images: ImagesFolder = None,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    json_file: JSONFile = None,
    *,
    reading: ReadingOptions,
) -> None:
    """Predict the character error rate on untranscribed lines, with a 95 % interval.

    Images that cannot be used are reported and skipped; the exit code is then 1. It is also 1 if no line has any text,
    and 2 if no image could be used.
    """
    if learn is not None and truth:
        raise ConfigError("--learn includes the comparison; leave out --truth")
    if lines is not None and (learn is not None or truth or limit is not None):
        raise ConfigError("--lines reads whole scans; leave out --learn, --truth and --limit")
    if force and learn is None and json_file is None:
        raise ConfigError("--force replaces the files of --learn and --json; add one of them, or leave out --force")
    refuse_results(json_file, learn, force=force, inputs=inputs)
    if learn is not None and reading.model is not None and holds_adapter(reading.model):
        raise DataError(f"{reading.model} is an adapter; only a whole model can store the prediction")
    described = Pages(images=images_in(images))
    with claimed(learn, replace=force) if learn is not None else nullcontext():
        recognizer = reading.load()
        failed = 0
        if learn is not None:
            refuse_other_weights(learn, recognizer)
            samples = to_read(open_lines(inputs, described), limit, seed)
            check_sets(samples)
            text, report = learned(recognizer, read(recognizer, samples), reading.model or SHIPPED, learn)
        elif truth:
            rate = known_rate(recognizer, reading.decoder)
            text, report = compared(rate, read(recognizer, to_read(open_lines(inputs, described), limit, seed)))
        elif lines is not None:
            rate, segmentation = known_rate(recognizer, reading.decoder), segmentation_named(lines)
            text, report, failed = of_scans(rate, recognizer, inputs, segmentation, described.images)
        else:
            rate, found = known_rate(recognizer, reading.decoder), usable_lines(inputs, described)
            text, report, failed = of_lines(rate, recognizer, choose(found, limit or len(found), seed))
    if json_file is not None:
        write_json(json_file, {**report, **measured_with(recognizer)})
    typer.echo(text)
    if failed:
        raise typer.Exit(1)


def refuse_other_weights(target: Path, recognizer: Recognizer) -> None:
    """Refuse to replace a model by one with other weights, even with --force: only the prediction may change.

    Raises:
        ConfigError: saying how to fit the prediction of that model.
    """
    if target.exists() and weights_hash(load_model(target).weights) != weights_hash(recognizer.model.weights):
        raise ConfigError(
            f"{target} is not the model that reads, {recognizer.model.identity}; "
            f"to fit the prediction of {target}, add --model {target}"
        )


def read(recognizer: Recognizer, samples: Sequence[Sample]) -> list[Pair]:
    """Read lines; returns each with its reading."""
    return list(zip(samples, read_with_bar(recognizer, samples), strict=True))


def read_usable(recognizer: Recognizer, samples: Sequence[Sample]) -> list[Pair]:
    """Read the lines whose images are usable; the others are reported."""
    pairs = []
    with tqdm(total=len(samples), unit="line", disable=None) as bar:
        for sample, found in read_each(recognizer, samples, bar.update):
            if isinstance(found, DataError):
                report_skipped(found)
            else:
                pairs.append((sample, found))
    return pairs


def known_rate(recognizer: Recognizer, decoder: str | None) -> ErrorRate:
    """The model's fitted CER prediction for a decoder, which was typed as `decoder`.

    Raises:
        ConfigError: if there is none.
    """
    rate = recognizer.model.record.error_rate(recognizer.strategy)
    if rate is None:
        option = f" --decoder {decoder}" if decoder is not None else ""
        raise ConfigError(
            f"this model has no CER prediction for {name_of(recognizer.strategy)}; fit one on lines of several sets "
            "that it was not trained on: "
            f"drethtr model predict-cer 'lines/*.val.parquet'{option} --model OLD --learn NEW"
        )
    return rate


def learned(recognizer: Recognizer, pairs: Sequence[Pair], source: Path, output: Path) -> Report:
    """Fit the prediction, evaluate it on each set with a fit on the others, and write the model."""
    decoder = recognizer.strategy
    rate = fit_rate(decoder, pairs)
    sets, pages = leave_one_set_out(decoder, pairs), leave_one_set_out(decoder, pairs, page_or_line)
    save_record(source, recognizer.model.record.with_error_rate(rate), output, of=recognizer.model)
    text, report = beside_truth(sets, pages, "by a fit on the other sets")
    change = f"{output}: fitted on {rate.sets} sets: {rate.factor:.2f} × (doubt per character) ^ {rate.power:.2f}."
    return f"{text}\n{change}", report


class Doubts(NamedTuple):
    """The doubt in the readings of a page, and that about its layout, if it was found."""

    read: TotalDoubt
    layout: LayoutDoubt = NO_DOUBT

    def expected(self, rate: ErrorRate) -> Expected:
        """The expected error rate."""
        return rate(self.read).with_cost(self.layout.expected, self.layout.high)


def usable_lines(inputs: Sequence[str], described: Pages) -> list[Sample]:
    """The lines that some inputs have; what was left out is said.

    Raises:
        DataError: if there are none.
    """
    tally = Tally()
    try:
        found = lines_to_read(inputs, tally.count, described)
    finally:  # where nothing is left to read, this says why
        for words in left_out_of(tally):
            say(words)
    report_remarks(found)
    return found


def of_lines(rate: ErrorRate, recognizer: Recognizer, samples: Sequence[Sample]) -> tuple[str, dict[str, Any], int]:
    """Expected CER of the pages of some lines, and how many lines could not be read.

    Raises:
        typer.Exit: with 2 if none could, or with 1 if none has text.
    """
    pairs = read_usable(recognizer, samples)
    if not pairs:
        raise typer.Exit(2)
    if not any(reading.characters for _, reading in pairs):
        typer.echo(
            f"No text was found on any of {counted(len(pairs), 'line')}, so no error rate can be predicted.", err=True
        )
        raise typer.Exit(1)
    failed = len(samples) - len(pairs)
    groups = grouped(pairs, lambda sample: page_of(sample) or sample.set)
    pages = {name: Doubts(doubt_of(reading for _, reading in of_page)) for name, of_page in groups.items()}
    sure = all(reading.calibrated for _, reading in pairs)
    return *predicted(rate, pages, failed, len(samples), calibrated=sure), failed


def of_scans(
    rate: ErrorRate, recognizer: Recognizer, inputs: Sequence[str], segmentation: Segmentation, images: Path | None
) -> tuple[str, dict[str, Any], int]:
    """Expected CER of each page of scans whose lines are found, and how many scans could not be read.

    Raises:
        typer.Exit: with 2 if none could, or with 1 if none has text.
    """
    catalog = Catalog(images=images)
    files, errors = find_inputs(inputs, recursive=True, catalog=catalog)
    pages: dict[str, Doubts] = {}
    sure, given = True, 0
    with tqdm(files, unit="file", disable=None) as bar:
        for file in bar:
            try:
                for original in map(segmentation.prepare, open_originals(file, catalog)):
                    page = transcribe(original, recognizer, segmentation.finder(original))
                    for words in original.remarks(page):
                        say(words)
                    name = original.name if original.name not in pages else f"{original.name} {len(pages) + 1}"
                    pages[name] = Doubts(doubt_in(page.lines), NO_DOUBT if original.has_lines else doubt_of_page(page))
                    given += original.has_lines
                    sure = sure and all(line.transcription.calibrated for line in page.lines if line.transcription)
            except DataError as error:
                errors.append(error)
    for skipped in errors:
        report_skipped(skipped)
    if not pages:
        raise typer.Exit(2)
    if not any(doubts.read.characters for doubts in pages.values()):
        typer.echo(f"No text was found on any of {counted(len(pages), 'page')}.", err=True)
        raise typer.Exit(1)
    if given:
        of_files = f"the lines of {given} of {counted(len(pages), 'page')} are those of their files"
        say(f"{of_files}, and what they may cost is not added; --lines rapid finds them again")
    return *predicted(rate, pages, len(errors), len(pages) + len(errors), calibrated=sure), len(errors)


def all_of(pages: Iterable[Doubts]) -> Doubts:
    """The doubts of some pages together; those about layouts by the characters of each page."""
    some = list(pages)
    reads = TotalDoubt(*(sum(numbers) for numbers in zip(*(doubts.read for doubts in some), strict=True)))
    shares = [doubts.read.characters / max(reads.characters, 1) for doubts in some]
    expected, high = (
        sum(share * getattr(doubts.layout, name) for share, doubts in zip(shares, some, strict=True))
        for name in ("expected", "high")
    )
    return Doubts(reads, LayoutDoubt(expected, 0.0, high))


def predicted(rate: ErrorRate, pages: Mapping[str, Doubts], failed: int, images: int, *, calibrated: bool) -> Report:
    """Expected CER of each page and of all of them; `failed` of all images could not be read."""
    overall = all_of(pages.values())
    rows = [expected_cells(name, found, rate) for name, found in list(pages.items())[:SHOWN]]
    if len(pages) > SHOWN:
        rows.append([f"… {len(pages) - SHOWN:,} more pages; --json has all", "", "", ""])
    rows.append(expected_cells("all", overall, rate))
    lines = [table(["page", "lines", "characters", "expected CER %"], rows)]
    if overall.layout.expected:
        lines.append(f"{100 * overall.layout.expected:.1f} points of it are what the layouts found may cost.")
    lines += [f"{name}: {doubts.layout.reason}" for name, doubts in pages.items() if doubts.layout.reason]
    if overall.read.empty:
        lines.append(
            f"No text was found on {counted(overall.read.empty, 'line')}; any text missed there is not counted."
        )
    if failed:
        lines.append(f"{failed:,} of {images:,} images could not be used and are not counted.")
    if not calibrated:
        lines.append(NOT_CALIBRATED)
    unknown = [name for name, found in pages.items() if rate.unknown_hand(found.read)]
    if unknown or rate.unknown_hand(overall.read):
        lines.append(unknown_hands_text(unknown, len(pages)))
    if rate.inherited:
        lines.append(INHERITED)
    return "\n".join(lines), {
        "pages": [{"page": name, **plain(found, rate)} for name, found in pages.items()],
        "overall": plain(overall, rate),
        "estimate": rate.inherited,
        "failed": failed,
    }


def expected_cells(name: str, found: Doubts, rate: ErrorRate) -> list[str]:
    """A row of the table."""
    read = found.read
    expected = "nothing read" if read.empty == read.lines else in_percent(found.expected(rate))
    return [name, f"{read.lines:,}", f"{read.characters:,}", expected]


def in_percent(expected: Expected) -> str:
    """A rate and its interval in percent."""
    return between(expected.cer, expected.low, expected.high, digits=1)


def plain(found: Doubts, rate: ErrorRate) -> dict[str, Any]:
    """Expected rates as plain values, in fractions, and what of them is due to the layout."""
    read, layout = found
    counts = {"lines": read.lines, "characters": read.characters, "empty": read.empty}
    doubts = {"unknown_hand": rate.unknown_hand(read), "layout": layout.expected, "layout_reason": layout.reason}
    return {**counts, **found.expected(rate)._asdict(), **doubts}


def compared(rate: ErrorRate, pairs: Sequence[Pair]) -> Report:
    """Expected CER of each set beside the true one."""
    return beside_truth(predict(rate, pairs), predict(rate, pairs, page_or_line), "by the model's own fit")


def beside_truth(predictions: Sequence[Prediction], pages: Sequence[Prediction], how: str) -> Report:
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
    lines = [table(["set", "lines", "expected CER %", "CER %", ""], rows)]
    known = [one for one in predictions if one.cer is not None]
    long = [page for page in pages if page.characters >= MIN_CHARACTERS and page.cer is not None]
    lines.append(f"Predicted {how}:")
    for group, what, which in ((known, "set", ""), (long, "page", f" of {MIN_CHARACTERS} characters or more")):
        if group:
            lines.append(f"  {counted(len(group), what)}{which}: {errors(group)}")
    sets = [
        {"name": one.name, "lines": one.lines, "truth": one.cer, "inside": one.inside, **one.expected._asdict()}
        for one in predictions
    ]
    return "\n".join(lines), {"sets": sets, "of_sets": agreement(known), "of_pages": agreement(long)}


def errors(predictions: Sequence[Prediction]) -> str:
    """How accurate the predictions are, as text."""
    found = agreement(predictions)
    return (
        f"mean absolute error {100 * found['mean_absolute_error']:.1f} points, "
        f"true CER inside the interval for {found['inside']:,}"
    )


def agreement(predictions: Sequence[Prediction]) -> dict[str, Any]:
    """How accurate the predictions are, as plain values."""
    return {
        "number": len(predictions),
        "mean_absolute_error": mean_absolute_error(predictions) if predictions else None,
        "inside": sum(bool(one.inside) for one in predictions),
    }
