"""`drethtr evaluate`: measure a model on transcribed lines or pages."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drethtr.base.errors import ConfigError
from drethtr.cli.choices import (
    DecoderName,
    DeviceName,
    ForceResults,
    JSONFile,
    LanguageNames,
    Limit,
    ModelFile,
    PrecisionName,
    Seed,
    Threads,
    load_recognizer,
)
from drethtr.cli.evaluate_align import evaluate_align, open_known
from drethtr.cli.evaluate_search import evaluate_search
from drethtr.cli.outputs import refuse_results, write_json
from drethtr.cli.progress import say
from drethtr.cli.running import lines_unread
from drethtr.cli.support_table import support_table
from drethtr.cli.tables import interval, table_of
from drethtr.cli.trust_table import trust_table

if TYPE_CHECKING:
    from drethtr.documents.page import Page
    from drethtr.evaluation.evaluate import Scores
    from drethtr.evaluation.support_figures import PoolFigures
    from drethtr.lines.sample import Sample
    from drethtr.pages.source import Original
    from drethtr.recognition.recognizer import Recognizer

TITLES = {"cer_ordered": "in order", "cer_matched": "matched", "cer_found_only": "found only"}
"""Columns for whole pages: names of rates and their titles."""


def evaluate(
    data: Annotated[
        list[str], typer.Argument(metavar="DATA", help="Parquet, TSV, JSONL, PAGE, ALTO, folders, patterns.")
    ],
    model: ModelFile = None,
    decoder: DecoderName = None,
    language: LanguageNames = "auto",
    precision: PrecisionName = "float32",
    limit: Limit = None,
    seed: Seed = 0,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Also measure how reliable confidences and flags are.")
    ] = False,
    json_file: JSONFile = None,
    force: ForceResults = False,
    end_to_end: Annotated[
        bool, typer.Option("--end-to-end", help="Evaluate whole pages (PAGE, ALTO), line segmentation included.")
    ] = False,
    lines: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="For --end-to-end and --align: line segmentation; auto ignores given lines."),
    ] = None,
    search: Annotated[bool, typer.Option("--search", help="Evaluate keyword search (drethtr search) instead.")] = False,
    among: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DATA",
            help="For --search: also search these lines of other sets, or results of drethtr batch --posteriors "
            "with transcribed inputs; repeatable.",
        ),
    ] = None,
    save_fit: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="For --search: fit its probabilities on these sets and write them to this file."
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Insert errors into the texts and measure how well drethtr check finds them."),
    ] = False,
    fit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DATA", help="For --check: judge each set with a fit on these lines of other sets; repeatable."
        ),
    ] = None,
    align: Annotated[
        bool,
        typer.Option(
            "--align",
            help="Measure drethtr align instead: join the texts of each page, align them again, and count the lines "
            "that get exactly their words; with --lines, on detected lines.",
        ),
    ] = False,
    device: DeviceName = "auto",
    threads: Threads = None,
) -> None:
    """Measure character and word error rates on transcribed lines, per set and overall."""
    from tqdm import tqdm

    from drethtr.evaluation import evaluate as measure
    from drethtr.evaluation.end_to_end import to_json
    from drethtr.evaluation.whole_pages import open_references, read_and_compare
    from drethtr.lines.sources import open_all
    from drethtr.pages.segmentation import segmentation_named

    refuse_results(json_file, save_fit, force=force, inputs=data)
    measures = {"--search": search, "--check": check, "--align": align, "--end-to-end": end_to_end}
    if len(wanted := [name for name, is_wanted in measures.items() if is_wanted]) > 1:
        raise ConfigError(f"{' and '.join(wanted)} measure different things; give one of them")
    if confidence and wanted:
        raise ConfigError(f"--confidence does not go with {wanted[0]}; leave out one of them")
    if lines is not None and not (align or end_to_end):
        raise ConfigError("--lines needs --end-to-end or --align; add one, or leave out --lines")
    if search:
        recognizer = load_recognizer(
            model, decoder, device, precision, threads=threads, posteriors=True, language=language
        )
        judged = evaluate_search(recognizer, data, among or [], limit, seed, save_fit)
        deliver(f"{judged.text}\n{read_by(recognizer)}", judged.figures, recognizer, json_file)
        return
    if among or save_fit is not None:
        raise ConfigError("--among and --save-fit need --search; add it, or leave them out")
    if fit and not check:
        raise ConfigError("--fit needs --check; add it, or leave out --fit")
    if align:
        pages = open_known(data, lines, limit, seed)
        recognizer = load_recognizer(model, decoder, device, precision, threads=threads, language=language)
        judged = evaluate_align(recognizer, pages, seed)
        deliver(f"{judged.text}\n{read_by(recognizer)}", judged.figures, recognizer, json_file)
        return
    if end_to_end:
        if limit is not None:
            raise ConfigError("--end-to-end evaluates whole pages; leave out --limit, which is for lines")
        segmentation = segmentation_named(lines or "auto")
        recognizer = load_recognizer(model, decoder, device, precision, threads=threads, language=language)
        originals = open_references(data)
        with tqdm(total=len(originals), unit="page", disable=None) as bar:

            def report(original: "Original", page: "Page") -> None:
                bar.update()
                if unread := lines_unread(original, page):
                    say(unread)

            compared = to_json(read_and_compare(recognizer, originals, segmentation, report))
        deliver(f"{page_table(compared)}\n{read_by(recognizer)}", compared, recognizer, json_file)
        return
    recognizer = load_recognizer(model, decoder, device, precision, threads=threads, language=language)
    samples = open_all(data)
    if check:
        fitted_on = measure.to_read(open_all(fit), limit, seed) if fit else []
        found = check_figures(recognizer, measure.to_read(samples, limit, seed), fitted_on, seed)
        pools = {"sets": [pool.to_json() for pool in found]}
        deliver(f"{support_table(found)}\n{read_by(recognizer)}", pools, recognizer, json_file)
        return
    number = len(measure.to_read(samples, limit, seed))
    with tqdm(total=number, unit="line", disable=None) as bar:
        scores = measure.evaluate(recognizer, samples, limit=limit, seed=seed, advance=bar.update)
    text = summary(scores, recognizer)
    if confidence:
        text += "\n\n" + trust_table(scores.to_json()["trust"])
    deliver(text, scores.to_json(), recognizer, json_file)


def check_figures(
    recognizer: "Recognizer", samples: "Sequence[Sample]", fitted_on: "Sequence[Sample]", seed: int
) -> "list[PoolFigures]":
    """Measure how well errors in texts are found, with a progress bar."""
    from tqdm import tqdm

    from drethtr.evaluation.pools import known_sets
    from drethtr.evaluation.support import weigh_cases
    from drethtr.evaluation.support_figures import measure_support

    with tqdm(total=len(samples) + len(fitted_on), unit="line", disable=None) as bar:
        others = weigh_cases(recognizer, fitted_on, seed, bar.update)
        cases = weigh_cases(recognizer, samples, seed, bar.update)
    return measure_support(cases, known_sets(recognizer.model), recognizer.support_fit, others)


def deliver(text: str, figures: Mapping[str, Any], recognizer: "Recognizer", json_file: Path | None) -> None:
    """Print figures, and write them to a JSON file, if given, with the model and settings."""
    from drethtr.pages.provenance import provenance_of, way_of

    if json_file is not None:
        write_json(json_file, {**figures, "made_by": provenance_of(recognizer).to_json(), **way_of(recognizer)})
    typer.echo(text)


def read_by(recognizer: "Recognizer") -> str:
    """Which model, decoder and precision read the lines, as text."""
    from drethtr.pages.provenance import provenance_of
    from drethtr.recognition.search.names import name_of

    decoder, precision = name_of(recognizer.strategy), recognizer.precision.value
    return f"Read with {provenance_of(recognizer)}, decoder {decoder}, {precision}."


def summary(scores: "Scores", recognizer: "Recognizer") -> str:
    """The error rates and their conditions, as text."""
    found = scores.to_json()
    parts = [table_of(found), "", found["convention"], found["word_conventions"], read_by(recognizer)]
    if scores.left_out:
        sets = ", ".join(f"{number} of {name}" for name, number in scores.left_out.items())
        parts.append(f"Left out because of editorial marks or uncertain letters: {sets}.")
    if scores.empty:
        sets = ", ".join(f"{number} of {name}" for name, number in scores.empty.items())
        parts.append(f"Lines without text, where anything read counts as an error: {sets}.")
    if scores.unknown:
        shown = " ".join(f"{character}×{number}" for character, number in list(scores.unknown.items())[:12])
        parts.append(f"{sum(scores.unknown.values())} characters are not in the model's alphabet: {shown}")
    return "\n".join(parts)


def page_table(scores: Mapping[str, Any]) -> str:
    """Error rates in percent, a row per page, from the result of `end_to_end.to_json`."""
    rows = [{**page, "name": Path(page["name"]).name} for page in scores["pages"]]
    rows.append({"name": "all", **scores["overall"]})
    width = max(len(row["name"]) for row in rows)
    titles = "".join(f"  {f'CER % {title}':>20}" for title in TITLES.values())
    table = [f"{'page':{width}}  {'lines':>6}  {'found':>6}  {'characters':>10}{titles}"]
    for row in rows:
        rates = "".join(f"  {interval(row, name):>20}" for name in TITLES)
        table.append(
            f"{row['name']:{width}}  {row['lines']:>6,}  {row['lines_read']:>6,}  {row['characters']:>10,}{rates}"
        )
    return "\n".join([*table, "", scores["convention"]])
