"""`drethtr evaluate`: error rates of a model on transcribed lines; `evaluate_pages.py` has those on whole pages."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from tqdm import tqdm

from drethtr.base.errors import ConfigError
from drethtr.base.files import write_text
from drethtr.base.wording import counted
from drethtr.cli.evaluate_pages import evaluate_pages
from drethtr.cli.options import (
    READING,
    ForceResults,
    ImagesFolder,
    JSONFile,
    Limit,
    LineData,
    OutlinesName,
    ReadingOptions,
    Seed,
    TableOrder,
    refuse_idle_layout,
    refuse_unused,
    refuse_without_pages,
    with_reading_options,
)
from drethtr.cli.outputs import printed_after, refuse_results, write_json
from drethtr.cli.progress import open_lines, report_skipped
from drethtr.cli.reports import EvaluationResult, error_rates, measured_confidence, read_by
from drethtr.datasets.layouts.pages import Pages
from drethtr.datasets.sample import Sample
from drethtr.evaluation.evaluate import Scores
from drethtr.evaluation.evaluate import evaluate as measure
from drethtr.evaluation.metrics import CONVENTION, WORD_CONVENTION
from drethtr.evaluation.reading import measured_with, to_read
from drethtr.layout.given import outlines_named
from drethtr.pages.segmentation import segmentation_named
from drethtr.pages.selection import image_folder
from drethtr.recognition.recognizer import Recognizer


@with_reading_options()
def evaluate(
    ctx: typer.Context,
    data: LineData,
    limit: Limit = None,
    seed: Seed = 0,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Also measure how reliable confidences and flags are.")
    ] = False,
    json_file: JSONFile = None,
    per_line: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Also write text, reading and errors of each line to this file, in JSON Lines."
        ),
    ] = None,
    force: ForceResults = False,
    end_to_end: Annotated[
        bool, typer.Option("--end-to-end", help="Evaluate whole pages (PAGE, ALTO), line segmentation included.")
    ] = False,
    lines: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="For --end-to-end and --layout: line segmentation, such as rapid (default) or given."
        ),
    ] = None,
    layout: Annotated[
        bool,
        typer.Option(
            "--layout",
            help="Measure how well lines and their order are found on whole pages (PAGE, ALTO), without reading them; "
            "with --end-to-end, also what layout errors add to the CER.",
        ),
    ] = False,
    order: TableOrder = "auto",
    outlines: OutlinesName = "auto",
    images: ImagesFolder = None,
    *,
    reading: ReadingOptions,
) -> None:
    """Measure character and word error rates on transcribed lines, per set and overall.

    Lines and pages whose images cannot be used are reported and left out, as are pages that have nothing to compare;
    the exit code is then 1.
    """
    refuse_results(json_file, per_line, force=force, inputs=data)
    of_pages = "--end-to-end" if end_to_end else "--layout" if layout else None
    if of_pages is None:
        refuse_unused(ctx, "line segmentation needs --end-to-end or --layout", "lines", "order")
    else:
        refuse_unused(ctx, f"{of_pages} evaluates whole pages", "limit", "seed", "confidence", "per_line")
    if layout and not end_to_end:
        refuse_unused(ctx, "--layout without --end-to-end reads nothing", *set(READING) - {"threads"})
    if of_pages is not None and not (layout and end_to_end):
        refuse_idle_layout(ctx, lines or "rapid")
    if layout and lines == "given":
        raise ConfigError(
            "--lines given are the lines to compare with; give --layout a line segmentation, such as rapid"
        )
    if of_pages is None:
        refuse_without_pages(ctx, data, "outlines", "images")
        pages = Pages(outlines=outlines_named(outlines), images=image_folder(images))
        samples = open_lines(data, pages, count_unclean=False)
        result = evaluate_lines(reading.load(), samples, limit, seed, confidence=confidence)
    else:
        segmentation = segmentation_named(lines or "rapid", order, outlines)
        result = evaluate_pages(data, image_folder(images), segmentation, reading, read=end_to_end, layout=layout)
    with printed_after(result.text):
        if json_file is not None:
            write_json(json_file, result.figures)
        if per_line is not None and of_pages is None:
            write_text(per_line, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in result.lines))
    if not result.complete:
        raise typer.Exit(1)


def evaluate_lines(
    recognizer: Recognizer,
    samples: Sequence[Sample],
    limit: int | None,
    seed: int,
    *,
    confidence: bool,
) -> EvaluationResult:
    """Read lines and compare them with their texts, with a progress bar; images that cannot be used are reported.

    Args:
        confidence: Also show how reliable confidences and flags are.

    Raises:
        DataError: if there are no lines with text.
    """
    with tqdm(total=len(to_read(samples, limit, seed)), unit="line", disable=None) as bar:
        scores = measure(recognizer, samples, limit=limit, seed=seed, advance=bar.update)
    for error in scores.unreadable:
        report_skipped(error)
    figures = {**scores.to_json(), **measured_with(recognizer)}
    text = summary(scores, figures, recognizer)
    if confidence:
        text += "\n\n" + measured_confidence(scores.confidence, scores.confidence_sets)
    rows = (line.to_json() for line in scores.lines)  # made only if they are written
    return EvaluationResult(text, figures, complete=not scores.unreadable, lines=rows)


def summary(scores: Scores, figures: Mapping[str, Any], recognizer: Recognizer) -> str:
    """The error rates of lines and their conditions, as text; `figures` are those of `scores`."""
    substituted, inserted, deleted = map(sum, zip(*(line.kinds for line in scores.lines), strict=True))
    edits = f"Characters: {substituted:,} substituted, {inserted:,} inserted, {deleted:,} deleted."
    parts = [error_rates(figures), "", edits, CONVENTION, WORD_CONVENTION, read_by(recognizer)]
    if scores.unreadable:
        parts.append(f"Left out because the image cannot be used: {counted(len(scores.unreadable), 'line')}.")
    if scores.left_out:
        sets = ", ".join(f"{number} of {name}" for name, number in scores.left_out.items())
        parts.append(f"Left out because of editorial marks or uncertain letters: {sets}.")
    if scores.empty:
        sets = ", ".join(f"{number} of {name}" for name, number in scores.empty.items())
        parts.append(f"Lines without text, where anything read counts as an error: {sets}.")
    if scores.unknown:
        unknown = " ".join(f"{character}×{number}" for character, number in list(scores.unknown.items())[:12])
        parts.append(f"{counted(sum(scores.unknown.values()), 'character')} not in the model's alphabet: {unknown}")
    return "\n".join(parts)
