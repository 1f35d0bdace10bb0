"""`drethtr evaluate`: how well a model reads lines whose text is known."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drethtr.base.errors import ConfigError
from drethtr.cli.choices import (
    DecoderName,
    DeviceName,
    ForceResults,
    JSONFile,
    Limit,
    ModelFile,
    PrecisionName,
    Seed,
    Threads,
    load_recognizer,
)
from drethtr.cli.evaluate_pages import open_references, page_table, read_and_compare
from drethtr.cli.outputs import refuse_results, write_json
from drethtr.cli.tables import table_of
from drethtr.cli.trust_table import trust_table

if TYPE_CHECKING:
    from drethtr.evaluation.evaluate import Scores
    from drethtr.recognition.recognizer import Recognizer


def evaluate(
    data: Annotated[
        list[str], typer.Argument(metavar="DATA", help="Parquet, TSV, JSONL, PAGE, ALTO, folders, patterns.")
    ],
    model: ModelFile = None,
    decoder: DecoderName = None,
    precision: PrecisionName = "float32",
    limit: Limit = None,
    seed: Seed = 0,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Also show how far confidences and flags can be relied on.")
    ] = False,
    json_file: JSONFile = None,
    force: ForceResults = False,
    end_to_end: Annotated[
        bool, typer.Option("--end-to-end", help="Compare whole pages (PAGE, ALTO), their lines found as by --lines.")
    ] = False,
    lines: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="For --end-to-end, as in transcribe; the default, auto, finds them anew."),
    ] = None,
    device: DeviceName = "auto",
    threads: Threads = None,
) -> None:
    """Measure character and word error rates on lines with known text, per set and overall."""
    from tqdm import tqdm

    from drethtr.evaluation import evaluate as measure
    from drethtr.evaluation.end_to_end import to_json
    from drethtr.lines.sources import open_all
    from drethtr.pages.segmentation import segmentation_named

    refuse_results(json_file, force=force, inputs=data)
    if end_to_end:
        if limit is not None or confidence:
            raise ConfigError(
                "--end-to-end compares whole pages; --limit and --confidence are for lines: leave them out"
            )
        segmentation = segmentation_named(lines or "auto")
        recognizer = load_recognizer(model, decoder, device, precision, threads=threads)
        pages = open_references(data)
        found = to_json(read_and_compare(recognizer, pages, segmentation))
        deliver(f"{page_table(found)}\n{read_by(recognizer)}", found, recognizer, json_file)
        return
    if lines is not None:
        raise ConfigError("--lines finds the lines of whole pages; add --end-to-end, or leave it out")
    recognizer = load_recognizer(model, decoder, device, precision, threads=threads)
    samples = open_all(data)
    number = len(measure.to_read(samples, limit, seed))
    with tqdm(total=number, unit="line", disable=None) as bar:
        scores = measure.evaluate(recognizer, samples, limit=limit, seed=seed, advance=bar.update)
    text = summary(scores, recognizer)
    if confidence:
        text += "\n\n" + trust_table(scores.to_json()["trust"])
    deliver(text, scores.to_json(), recognizer, json_file)


def deliver(text: str, figures: Mapping[str, Any], recognizer: "Recognizer", json_file: Path | None) -> None:
    """Write figures for programs, with what read, if that is wanted, and show them to people."""
    from drethtr.pages.provenance import provenance_of, way_of

    if json_file is not None:
        write_json(json_file, {**figures, "made_by": provenance_of(recognizer).to_json(), **way_of(recognizer)})
    typer.echo(text)


def read_by(recognizer: "Recognizer") -> str:
    """What read, for people."""
    from drethtr.pages.provenance import provenance_of
    from drethtr.recognition.search.strategies import name_of

    decoder, precision = name_of(recognizer.strategy), recognizer.precision.value
    return f"Read by {provenance_of(recognizer)}, decoder {decoder}, {precision}."


def summary(scores: "Scores", recognizer: "Recognizer") -> str:
    """What was measured, for people."""
    found = scores.to_json()
    parts = [table_of(found), "", found["convention"], found["customs_convention"], read_by(recognizer)]
    if scores.left_out:
        sets = ", ".join(f"{number} of {name}" for name, number in scores.left_out.items())
        parts.append(f"Left out, because the text has editorial signs or uncertain letters: {sets}.")
    if scores.empty:
        sets = ", ".join(f"{number} of {name}" for name, number in scores.empty.items())
        parts.append(f"Without text, so that all that is read there is wrong: {sets}.")
    if scores.unknown:
        shown = " ".join(f"{character}×{number}" for character, number in list(scores.unknown.items())[:12])
        parts.append(f"{sum(scores.unknown.values())} characters are not in the model's alphabet: {shown}")
    return "\n".join(parts)
