"""`drethtr evaluate`: error rates of a model on transcribed lines or pages, and how well lines are found."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from tqdm import tqdm

from drethtr.base.errors import ConfigError, DataError
from drethtr.base.files import write_text
from drethtr.base.wording import counted
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
    refuse_unused,
    with_reading_options,
)
from drethtr.cli.outputs import refuse_results, write_json
from drethtr.cli.progress import open_lines, report_skipped, say
from drethtr.cli.reports import EvaluationResult, error_rates, figure, interval, read_by, table, trustworthiness
from drethtr.cli.screen import shown
from drethtr.cli.transcribe import lines_unread
from drethtr.datasets.layouts.pages import Pages
from drethtr.datasets.sample import Sample
from drethtr.documents.page import Page
from drethtr.evaluation.evaluate import Scores, to_read
from drethtr.evaluation.evaluate import evaluate as measure
from drethtr.evaluation.layout import to_json as layout_figures
from drethtr.evaluation.whole_pages import (
    collections_of,
    find_and_compare,
    layout_cost,
    open_references,
    read_and_compare,
    to_json,
    total_of,
)
from drethtr.layout.given import outlines_named
from drethtr.pages.opening import images_in
from drethtr.pages.record import measured_with
from drethtr.pages.segmentation import GivenLines, Segmentation, segmentation_named
from drethtr.pages.source import Original
from drethtr.recognition.recognizer import Recognizer

PAGE_TITLES = {"cer_ordered": "in order", "cer_matched": "matched", "cer_found_only": "found only"}
"""Columns for whole pages: names of rates and their titles."""


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
            "with --end-to-end, also what that costs in characters.",
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
    if lines is not None and of_pages is None:
        raise ConfigError("--lines needs --end-to-end or --layout; add one, or leave out --lines")
    if order != "auto" and of_pages is None:
        raise ConfigError("--order needs --end-to-end or --layout; add one, or leave out --order")
    of_lines = {"--limit": limit is not None, "--confidence": confidence, "--per-line": per_line is not None}
    if of_pages is not None and (wanted := [name for name, is_wanted in of_lines.items() if is_wanted]):
        raise ConfigError(f"{wanted[0]} is for lines, but {of_pages} evaluates whole pages; leave out one of them")
    if of_pages is not None:
        refuse_unused(ctx, f"{of_pages} evaluates all pages", "seed")
    if layout and not end_to_end:
        refuse_unused(ctx, "--layout without --end-to-end reads nothing", *set(READING) - {"threads"})
    if layout and lines == "given":
        raise ConfigError(
            "--lines given are the lines to compare with; give --layout a line segmentation, such as rapid"
        )
    segmentation = segmentation_named(lines or "rapid", order, outlines) if of_pages is not None else None
    folder = images_in(images)
    if segmentation is None:
        samples = open_lines(data, Pages(outlines=outlines_named(outlines), images=folder))
        result = evaluate_lines(reading.load(), samples, limit, seed, confidence=confidence, per_line=per_line)
    else:
        originals, complete = comparable(data, texts=end_to_end, images=folder)
        if not end_to_end:
            result = evaluate_layout(originals, segmentation, reading.threads)
        elif layout:
            result = evaluate_cost(reading.load(), originals, segmentation)
        else:
            result = evaluate_pages(reading.load(), originals, segmentation)
        result = result._replace(complete=complete)
    if json_file is not None:
        write_json(json_file, result.figures)
    typer.echo(result.text)
    if not result.complete:
        raise typer.Exit(1)


def evaluate_lines(
    recognizer: Recognizer,
    samples: Sequence[Sample],
    limit: int | None,
    seed: int,
    *,
    confidence: bool,
    per_line: Path | None,
) -> EvaluationResult:
    """Read lines and compare them with their texts, with a progress bar; images that cannot be used are reported.

    Args:
        confidence: Also show how reliable confidences and flags are.
        per_line: Also write a row for each line to this file.

    Raises:
        DataError: if there are no lines with text.
    """
    with tqdm(total=len(to_read(samples, limit, seed)), unit="line", disable=None) as bar:
        scores = measure(recognizer, samples, limit=limit, seed=seed, advance=bar.update)
    for error in scores.unreadable:
        report_skipped(error)
    if per_line is not None:
        rows = (json.dumps(line.to_json(), ensure_ascii=False) for line in scores.lines)
        write_text(per_line, "".join(f"{row}\n" for row in rows))
    text = summary(scores, recognizer)
    if confidence:
        text += "\n\n" + trustworthiness(scores.to_json()["trust"])
    figures = {**scores.to_json(), **measured_with(recognizer)}
    return EvaluationResult(text, figures, complete=not scores.unreadable)


def evaluate_pages(
    recognizer: Recognizer, originals: Sequence[Original], segmentation: Segmentation
) -> EvaluationResult:
    """Read whole pages and compare them with their texts, with a progress bar."""
    for words in filter(None, map(texts_read, originals)):
        say(words)
    with tqdm(total=len(originals), unit="page", disable=None) as bar:

        def report(original: Original, page: Page) -> None:
            bar.update()
            for words in filter(None, (*original.remarks(page), lines_unread(original, page))):
                say(words)

        compared = to_json(read_and_compare(recognizer, originals, segmentation, report))
    figures = {**compared, **measured_with(recognizer)}
    return EvaluationResult(f"{page_table(compared)}\n{read_by(recognizer)}", figures)


def comparable(data: Sequence[str], *, texts: bool, images: Path | None) -> tuple[list[Original], bool]:
    """The pages that can be compared, see `open_references`, and whether these are all; others are reported at once.

    Raises:
        DataError: if there is none.
    """
    skipped: list[DataError] = []

    def skip(error: DataError) -> None:
        report_skipped(error)
        skipped.append(error)

    usable = []
    for original in open_references(data, texts=texts, images=images, skip=skip):
        try:
            original.given_for(original.source.gray())  # an image is decoded in a hundredth of the time of its reading
        except DataError as error:
            skip(error)
        else:
            usable.append(original)
    if not usable:
        raise DataError(f"{', '.join(data)}: no page can be compared")
    return usable, not skipped


def texts_read(original: Original) -> str:
    """How many texts of a page a program read, so that they prove nothing; "" if none."""
    page = original.given()
    lines = page.lines if page is not None else ()
    number = sum(line.transcription is not None and line.transcription.by_program for line in lines)
    what = f"{original.name}: texts that a program read, and that nobody has corrected or confirmed"
    return f"{what}, were taken as they are: {number:,} of {counted(len(lines), 'line')}" if number else ""


def summary(scores: Scores, recognizer: Recognizer) -> str:
    """The error rates of lines and their conditions, as text."""
    found = scores.to_json()
    overall = found["overall"]
    edits = (
        f"Characters: {overall['substitutions']:,} substituted, {overall['insertions']:,} inserted, "
        f"{overall['deletions']:,} deleted."
    )
    parts = [error_rates(found), "", edits, found["convention"], found["word_conventions"], read_by(recognizer)]
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


def page_table(scores: Mapping[str, Any]) -> str:
    """Error rates in percent, a row per page, from the result of `whole_pages.to_json`."""
    rows = [{**page, "name": shown(Path(page["name"]).name)} for page in scores["pages"]]
    rows.append({"name": "all", **scores["overall"]})
    found = table(
        ["page", "lines", "found", "characters", *(f"CER % {title}" for title in PAGE_TITLES.values())],
        [
            [
                row["name"],
                *(f"{row[count]:,}" for count in ("lines", "lines_read", "characters")),
                *(interval(row, rate) for rate in PAGE_TITLES),
            ]
            for row in rows
        ],
    )
    return f"{found}\n\n{scores['convention']}"


TITLES = {
    "precision": "P",
    "recall": "R",
    "f": "F",
    "found": "found",
    "found_characters": "chars",
    "merged_characters": "merged",
    "split_characters": "split",
    "cut_characters": "cut",
    "missed_characters": "missed",
    "false_per_line": "false",
    "successions": "order",
}
"""Columns in percent: names of figures and their titles. From `merged` to `missed`, percent of the characters."""

WITH_INTERVALS = ("found", "found_characters", "merged_characters", "false_per_line", "successions")
"""Figures whose intervals are printed for all pages together."""

COST = (
    "What the layout costs, in points of CER in order, compared with given lines: text lost (in merged, cut and missed "
    "lines), extra text (of false lines), and order."
)


def evaluate_layout(
    originals: Sequence[Original], segmentation: Segmentation, threads: int | None = None
) -> EvaluationResult:
    """Find the lines of whole pages and compare them with those in their files, with a progress bar."""
    with tqdm(total=len(originals), unit="page", disable=None) as bar:
        pages = find_and_compare(originals, segmentation, threads, bar.update)
    figures = layout_figures(pages, collections_of(list(pages)))
    return EvaluationResult(layout_table(figures), figures)


def evaluate_cost(
    recognizer: Recognizer, originals: Sequence[Original], segmentation: Segmentation
) -> EvaluationResult:
    """`evaluate_layout`, and the error rates of pages read on given and on found lines."""
    layout = evaluate_layout(originals, segmentation, recognizer.threads)
    with tqdm(total=2 * len(originals), unit="page", disable=None) as bar:
        given, found = (
            read_and_compare(recognizer, originals, lines, lambda original, page: bar.update())
            for lines in (GivenLines(), segmentation)
        )

    def row(name: str, keys: Sequence[str]) -> dict[str, Any]:
        one, other = (total_of([counts[key] for key in keys]) for counts in (given, found))
        return {
            "name": name,
            "characters": one.ordered.characters,
            "cer_given": one.ordered.cer,
            "cer_found": other.ordered.cer,
            **layout_cost(one, other),
        }

    cost = [row(name, keys) for name, keys in collections_of(list(given)).items()]
    cost.append(row("all", list(given)))
    text = f"{layout.text}\n\n{cost_table(cost)}\n\n{COST}\n{read_by(recognizer)}"
    return EvaluationResult(text, {**layout.figures, "cost": cost, **measured_with(recognizer)})


def layout_table(figures: Mapping[str, Any]) -> str:
    """The figures in percent, a row per collection."""
    rows = [*figures["sets"], {"name": "all", **figures["overall"]}]
    found = table(
        ["set", "pages", "lines", *TITLES.values(), "s"],
        [
            [
                row["name"],
                f"{row['pages']:,}",
                f"{row['lines']:,}",
                *(figure(row[name], 1) for name in TITLES),
                f"{row['seconds']:.2f}",
            ]
            for row in rows
        ],
    )
    intervals = ", ".join(f"{TITLES[name]} {interval(figures['overall'], name)}" for name in WITH_INTERVALS)
    costs = [page["cost"] for page in figures["pages"] if page["cost"] is not None]
    return f"{found}\n\nall: {intervals}\n{stated(costs) if costs else ''}\n{figures['convention']}"


def stated(costs: Sequence[Mapping[str, Any]]) -> str:
    """What layouts cost and how well that was expected."""
    true, expected = (100 * sum(cost[name] for cost in costs) / len(costs) for name in ("true", "expected"))
    inside = sum(cost["true"] <= cost["high"] for cost in costs)
    return (
        f"If each letter were read as it is, the layout alone would cost {true:.1f} % CER, mean over pages; expected "
        f"{expected:.1f} %. True cost within the stated interval: {inside} of {counted(len(costs), 'page')}.\n"
    )


def cost_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The error rates in percent, a row per collection."""
    columns = {"cer_given": "given", "cer_found": "found", "lost": "lost", "extra": "extra", "order": "order"}
    return table(
        ["set", "characters", *columns.values()],
        [[row["name"], f"{row['characters']:,}", *(figure(row[name], 1) for name in columns)] for row in rows],
    )
