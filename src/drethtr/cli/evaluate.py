"""`drethtr evaluate`: how well a model reads lines whose text is known."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drethtr.cli.choices import DecoderName, DeviceName, decoder_named, device_named
from drethtr.cli.files import write_text
from drethtr.cli.tables import table_of
from drethtr.cli.trust_table import trust_table
from drethtr.errors import DataError

if TYPE_CHECKING:
    from drethtr.evaluation.evaluate import Scores


def evaluate(
    data: Annotated[list[str], typer.Argument(metavar="DATA...", help="Parquet, TSV, JSONL, folders, patterns.")],
    model: Annotated[Path | None, typer.Option(help="A model file; the one inside the package if left out.")] = None,
    decoder: DecoderName = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many lines of each set, drawn by --seed.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed draws the same lines.")] = 0,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Also show how far confidences and flags can be relied on.")
    ] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write the figures here.")
    ] = None,
    device: DeviceName = "auto",
) -> None:
    """Measure character and word error rates on lines with known text, per set and overall."""
    from tqdm import tqdm

    from drethtr.data.sources import open_all
    from drethtr.evaluation import evaluate as measure
    from drethtr.recognizer import Recognizer

    chosen = decoder_named(decoder) if decoder is not None else None
    if json_file is not None and not json_file.parent.is_dir():
        raise DataError(f"{json_file}: there is no folder {json_file.parent}")
    samples = open_all(data)
    recognizer = Recognizer.load(model, decoder=chosen, device=device_named(device))
    lines = len(measure.to_read(samples, limit, seed))
    with tqdm(total=lines, unit="line", disable=None) as bar:
        scores = measure.evaluate(recognizer, samples, limit=limit, seed=seed, advance=bar.update)
    typer.echo(summary(scores, repr(recognizer.decoder)))
    if confidence:
        typer.echo("\n" + trust_table(scores.to_json()["trust"]))
    if json_file is not None:
        write_text(json_file, json.dumps(scores.to_json(), ensure_ascii=False, indent=1) + "\n")


def summary(scores: "Scores", decoder: str) -> str:
    """What was measured, for people."""
    found = scores.to_json()
    parts = [table_of(found), "", found["convention"], found["customs_convention"], f"Decoder: {decoder}."]
    if scores.left_out:
        sets = ", ".join(f"{number} of {name}" for name, number in scores.left_out.items())
        parts.append(f"Left out, because the text has editorial signs or uncertain letters: {sets}.")
    if scores.unknown:
        shown = " ".join(f"{character}×{number}" for character, number in list(scores.unknown.items())[:12])
        parts.append(f"{sum(scores.unknown.values())} characters are not in the model's alphabet: {shown}")
    return "\n".join(parts)
