"""`drethtr model predict-cer`: predict the CER on untranscribed lines; `predict_truth.py` has --learn and --truth."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from tqdm import tqdm

from drethtr.base.errors import ConfigError, DataError
from drethtr.base.locks import claimed
from drethtr.base.wording import counted
from drethtr.cli.model.predict_truth import (
    compare_with_truth,
    fit_prediction,
    in_percent,
    read_or_exit,
    refuse_other_model,
)
from drethtr.cli.options import (
    ImagesFolder,
    JSONFile,
    Limit,
    ReadingOptions,
    Seed,
    refuse_unused,
    refuse_without_pages,
    with_reading_options,
)
from drethtr.cli.outputs import printed_after, refuse_results, write_json
from drethtr.cli.progress import open_lines, open_untranscribed, report_skipped, say, unknown_hands_text
from drethtr.cli.reports import NOT_CALIBRATED, EvaluationResult, table
from drethtr.cli.screen import echo
from drethtr.datasets.layouts.pages import Pages
from drethtr.datasets.sample import Sample, choose, page_of
from drethtr.evaluation.predict import PageDoubt
from drethtr.evaluation.reading import by_name, measured_with, to_read
from drethtr.language.languages import ALL_LANGUAGES
from drethtr.layout.doubt import NO_DOUBT, doubt_of_page
from drethtr.pages.flags import doubt_in
from drethtr.pages.segmentation import Segmentation, segmentation_named
from drethtr.pages.selection import image_folder, select
from drethtr.pages.transcribe import PageReader
from drethtr.recognition.confidence.error_rate import ErrorRate, doubt_of
from drethtr.recognition.decoding.strategies import decoder_name
from drethtr.recognition.model.adapter import holds_adapter
from drethtr.recognition.model.file import SHIPPED
from drethtr.recognition.recognizer import Recognizer

SHOWN = 30  # pages in the table; --json has them all

INHERITED = (
    "An estimate: the prediction was fitted before this model was fine-tuned or calibrated again. "
    "With lines of several sets, fit it again: drethtr model predict-cer 'lines/*.val.parquet' --model OLD --learn NEW"
)


@with_reading_options()
def predict_cer(
    ctx: typer.Context,
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="FOLDER",
            help="Line images, PAGE or ALTO files, folders of them, or data files; with --lines, scans.",
        ),
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
            help="The inputs are scans: find lines with this segmentation, as in drethtr transcribe, and add the "
            "expected cost of layout errors.",
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
    if learn is not None:
        refuse_unused(ctx, "--learn fits one prediction for all languages of the model", "language")
    if lines is not None and (learn is not None or truth or limit is not None):
        raise ConfigError("--lines reads whole scans; leave out --learn, --truth and --limit")
    if force and learn is None and json_file is None:
        raise ConfigError("--force replaces the files of --learn and --json; add one of them, or leave out --force")
    refuse_results(json_file, learn, force=force, inputs=inputs)
    if lines is None:
        refuse_without_pages(ctx, inputs, "images")
    if learn is not None and reading.model is not None and holds_adapter(reading.model):
        raise DataError(f"{reading.model} is an adapter; only a whole model can store the prediction")
    described = Pages(images=image_folder(images))
    if learn is not None:
        with claimed(learn, replace=force):
            source = reading.model or SHIPPED
            recognizer = reading.load(language=ALL_LANGUAGES)
            refuse_other_model(learn, recognizer.model)
            samples = to_read(open_lines(inputs, described), limit, seed)
            result = fit_prediction(recognizer, samples, source, learn)
    else:
        recognizer = reading.load()
        rate = known_rate(recognizer, reading.decoder)
        if truth:
            result = compare_with_truth(rate, recognizer, to_read(open_lines(inputs, described), limit, seed))
        elif lines is not None:
            result = expected_cer(rate, read_scans(recognizer, inputs, segmentation_named(lines), described.images))
        else:
            samples = open_untranscribed(inputs, described)
            result = expected_cer(rate, read_samples(recognizer, choose(samples, limit or len(samples), seed)))
    with printed_after(result.text):
        if json_file is not None:
            write_json(json_file, {**result.figures, **measured_with(recognizer)})
    if not result.complete:
        raise typer.Exit(1)


def known_rate(recognizer: Recognizer, decoder: str | None) -> ErrorRate:
    """The model's fitted CER prediction for a decoder, which was typed as `decoder`.

    Raises:
        ConfigError: if there is none.
    """
    rate = recognizer.model.record.error_rate(recognizer.strategy)
    if rate is None:
        option = f" --decoder {decoder}" if decoder is not None else ""
        raise ConfigError(
            f"this model has no CER prediction for {decoder_name(recognizer.strategy)}; fit one on lines of several "
            "sets that it was not trained on: "
            f"drethtr model predict-cer 'lines/*.val.parquet'{option} --model OLD --learn NEW"
        )
    return rate


class ReadPages(NamedTuple):
    """Pages that were read.

    doubts      the doubt about each page, by its name
    calibrated  whether the confidences of all lines are calibrated
    failed      number of images that could not be used, of all `images`
    """

    doubts: Mapping[str, PageDoubt]
    calibrated: bool
    failed: int
    images: int


def read_samples(recognizer: Recognizer, samples: Sequence[Sample]) -> ReadPages:
    """Read lines; those of unknown pages count as pages by set.

    Raises:
        typer.Exit: with 2 if no image could be used, or with 1 if none has text.
    """
    lines = read_or_exit(recognizer, samples)
    if not any(reading.characters for _, reading in lines):
        echo(f"No text was found on any of {counted(len(lines), 'line')}, so no error rate can be predicted.", err=True)
        raise typer.Exit(1)
    groups = by_name(lines, lambda sample: page_of(sample) or sample.set)
    doubts = {name: PageDoubt(doubt_of(line.reading for line in of_page)) for name, of_page in groups.items()}
    calibrated = all(reading.calibrated for _, reading in lines)
    return ReadPages(doubts, calibrated, len(samples) - len(lines), len(samples))


def read_scans(
    recognizer: Recognizer, inputs: Sequence[str], segmentation: Segmentation, images: Path | None
) -> ReadPages:
    """Find and read the lines of scans.

    Raises:
        typer.Exit: with 2 if no scan could be used, or with 1 if none has text.
    """
    errors: list[DataError] = []
    originals = list(select(inputs, recursive=True, images=images).originals(errors.append))
    doubts: dict[str, PageDoubt] = {}
    calibrated, given = True, 0
    reader = PageReader(recognizer, segmentation)
    with tqdm(originals, unit="page", disable=None) as bar:
        for original in map(segmentation.prepare, bar):
            try:
                page = reader.transcribe(original)
            except DataError as error:
                errors.append(error)
                continue
            for words in original.remarks(page):
                say(words)
            name = original.name if original.name not in doubts else f"{original.name} {len(doubts) + 1}"
            doubts[name] = PageDoubt(doubt_in(page.lines), NO_DOUBT if original.has_lines else doubt_of_page(page))
            given += original.has_lines
            read = [line.transcription for line in page.lines if line.transcription]
            calibrated = calibrated and all(transcription.calibrated for transcription in read)
    for skipped in errors:
        report_skipped(skipped)
    if not doubts:
        raise typer.Exit(2)
    if not any(doubt.read.characters for doubt in doubts.values()):
        echo(f"No text was found on any of {counted(len(doubts), 'page')}.", err=True)
        raise typer.Exit(1)
    if given:
        of_files = f"the lines of {given} of {counted(len(doubts), 'page')} come from PAGE or ALTO files"
        say(f"{of_files}, so layout errors are not included; --lines rapid detects the lines again")
    return ReadPages(doubts, calibrated, len(errors), len(doubts) + len(errors))


def expected_cer(rate: ErrorRate, pages: ReadPages) -> EvaluationResult:
    """The expected CER of each page and of all of them; incomplete if an image could not be used."""
    doubts, overall = pages.doubts, PageDoubt.together(pages.doubts.values())
    rows = [cells_of(name, doubt, rate) for name, doubt in list(doubts.items())[:SHOWN]]
    if len(doubts) > SHOWN:
        rows.append([f"… {len(doubts) - SHOWN:,} more pages; --json has all", "", "", ""])
    rows.append(cells_of("all", overall, rate))
    found = table(["page", "lines", "characters", "expected CER %"], rows)
    figures = {
        "pages": [{"page": name, **doubt.to_json(rate)} for name, doubt in doubts.items()],
        "overall": overall.to_json(rate),
        "estimate": rate.inherited,
        "failed": pages.failed,
    }
    text = "\n".join([found, *notes(rate, pages, overall)])
    return EvaluationResult(text, figures, complete=not pages.failed)


def cells_of(name: str, doubt: PageDoubt, rate: ErrorRate) -> list[str]:
    """A row of the table."""
    read = doubt.read
    expected = "nothing read" if read.empty == read.lines else in_percent(doubt.expected(rate))
    return [name, f"{read.lines:,}", f"{read.characters:,}", expected]


def notes(rate: ErrorRate, pages: ReadPages, overall: PageDoubt) -> Iterator[str]:
    """What a reader of the expected CER should know."""
    if overall.layout.expected:
        yield f"{100 * overall.layout.expected:.1f} points of it are the expected cost of layout errors."
    for name, doubt in pages.doubts.items():
        if doubt.layout.reason:
            yield f"{name}: {doubt.layout.reason}"
    if overall.read.empty:
        yield f"No text was found on {counted(overall.read.empty, 'line')}; any text missed there is not counted."
    if pages.failed:
        yield f"{pages.failed:,} of {pages.images:,} images could not be used and are not counted."
    if not pages.calibrated:
        yield NOT_CALIBRATED
    unknown = [name for name, doubt in pages.doubts.items() if rate.unknown_hand(doubt.read)]
    if unknown or rate.unknown_hand(overall.read):
        yield unknown_hands_text(unknown, len(pages.doubts))
    if rate.inherited:
        yield INHERITED
