"""`drethtr evaluate`: measure a model on transcribed lines or pages."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
from drethtr.cli.evaluate_check import evaluate_check
from drethtr.cli.evaluate_layout import evaluate_cost, evaluate_layout
from drethtr.cli.evaluate_lines import evaluate_lines
from drethtr.cli.evaluate_pages import evaluate_pages
from drethtr.cli.evaluate_search import evaluate_search
from drethtr.cli.outputs import refuse_results, write_json
from drethtr.cli.tables import EvaluationResult

if TYPE_CHECKING:
    from drethtr.recognition.recognizer import Recognizer


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
            metavar="NAME",
            help="For --end-to-end, --layout and --align: line segmentation, such as rapid (default) or given.",
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
        typer.Option("--check", help="Evaluate drethtr check instead, on errors inserted into the texts."),
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
    """Measure character and word error rates on transcribed lines, per set and overall.

    Lines whose images cannot be used are reported and left out; the exit code is then 1.
    """
    from drethtr.pages.segmentation import segmentation_named

    refuse_results(json_file, per_line, save_fit, force=force, inputs=data)
    whole_pages = "--end-to-end" if end_to_end else "--layout"
    measures = {"--search": search, "--check": check, "--align": align, whole_pages: end_to_end or layout}
    of_lines = {"--confidence": confidence, "--per-line": per_line is not None}
    refuse_together(
        [name for name, is_wanted in measures.items() if is_wanted],
        [name for name, is_wanted in of_lines.items() if is_wanted],
    )
    if lines is not None and not (align or end_to_end or layout):
        raise ConfigError("--lines needs --end-to-end, --layout or --align; add one, or leave out --lines")
    if (among or save_fit is not None) and not search:
        raise ConfigError("--among and --save-fit need --search; add it, or leave them out")
    if fit and not check:
        raise ConfigError("--fit needs --check; add it, or leave out --fit")
    if (end_to_end or layout) and limit is not None:
        raise ConfigError(f"{whole_pages} evaluates whole pages; leave out --limit, which is for lines")
    if layout and lines == "given":
        raise ConfigError(
            "--lines given are the lines to compare with; give --layout a line segmentation, such as rapid"
        )
    if layout and not end_to_end:
        found = evaluate_layout(data, segmentation_named(lines or "rapid"))
        if json_file is not None:
            write_json(json_file, found.figures)
        typer.echo(found.text)
        return
    segmentation = segmentation_named(lines or "rapid") if end_to_end else None
    pages = open_known(data, lines, limit, seed) if align else None
    recognizer = load_recognizer(
        model,
        decoder=decoder,
        device=device,
        precision=precision,
        threads=threads,
        posteriors=search,
        language=language,
    )
    if search:
        result = evaluate_search(recognizer, data, among or [], limit, seed, save_fit)
    elif pages is not None:
        result = evaluate_align(recognizer, pages, seed)
    elif segmentation is not None and layout:
        result = evaluate_cost(recognizer, data, segmentation)
    elif segmentation is not None:
        result = evaluate_pages(recognizer, data, segmentation)
    elif check:
        result = evaluate_check(recognizer, data, fit or [], limit, seed)
    else:
        result = evaluate_lines(recognizer, data, limit, seed, confidence=confidence, per_line=per_line)
    deliver(result, recognizer, json_file)
    if not result.complete:
        raise typer.Exit(1)


def refuse_together(wanted: Sequence[str], of_lines: Sequence[str]) -> None:
    """Refuse options that exclude each other: measures, and what only the error rates of lines have.

    Raises:
        ConfigError: naming them.
    """
    if len(wanted) > 1:
        raise ConfigError(f"{' and '.join(wanted)} measure different things; give one of them")
    if of_lines and wanted:
        raise ConfigError(f"{of_lines[0]} does not go with {wanted[0]}; leave out one of them")


def deliver(result: EvaluationResult, recognizer: "Recognizer", json_file: Path | None) -> None:
    """Print a result and, if a file is given, write it there with the model and settings."""
    from drethtr.pages.record import provenance_of, way_of

    if json_file is not None:
        made_by = {"made_by": provenance_of(recognizer).to_json(), **way_of(recognizer)}
        write_json(json_file, {**result.figures, **made_by})
    typer.echo(result.text)
