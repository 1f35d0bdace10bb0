"""The HTML report of all results in a folder: the tables, and pictures like those of the paper."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

import torch

from drethtr.base.errors import DataError
from drethtr.datasets.open import open_all
from drethtr.datasets.sample import Sample
from drethtr.documents.html import png_uri
from drethtr.network.backend import TorchNetwork, network_of
from drethtr.paper.tables.comparison import sheet
from drethtr.paper.tables.figures import beam_curves, cost_charts, decay_matrices, maps_by_layer, mean_distance
from drethtr.paper.tables.paper import BEAMS, EFFICIENCY, GAMMA, TABLES
from drethtr.paper.tables.reproduce import finished
from drethtr.paper.tables.result import CER, LineResult, Result
from drethtr.pictures.contact_sheet import contact_sheet
from drethtr.recognition.model.file import load_model
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.tokenizer import BOS

Results = Mapping[str, Sequence[Result]]
"""The results of a table, by row."""

HARDEST = 6
"""Number of hard lines to show."""
LONGEST = 40
"""Most characters of the line whose attention is drawn, for legibility."""
STYLE = (
    "body{font:14px Helvetica,Arial,sans-serif;max-width:1200px;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse}td,th{padding:3px 10px;border-bottom:1px solid #ddd;text-align:right}"
    "td:first-child,th:first-child{text-align:left}.note{color:#666;max-width:60em}h2,h3{margin-top:2em}"
)


def write_report(folder: Path, device: torch.device) -> str:
    """Write the report as self-contained HTML.

    Raises:
        DataError: if there are no results, or a test line has moved.
        CheckpointError: if a model is missing.
    """
    results = {name: finished(folder, table) for name, table in TABLES.items()}
    if not any(results.values()):
        raise DataError(f"{folder} contains no results yet; run a table first, as in `drethtr reproduce gamma`")
    parts = [sheet(table, results[name]).html() for name, table in TABLES.items() if results[name]]
    parts += ["<h2>Decay: D by schedule, for SMALL</h2>", decay_matrices().to_svg()]
    parts += [attention_maps(name, of_row[0], device) for name, of_row in results[GAMMA.name].items()]
    parts += hardest([result for of_table in results.values() for of_row in of_table.values() for result in of_row])
    if results[EFFICIENCY.name]:
        parts.append(cost_charts(EFFICIENCY, results[EFFICIENCY.name]))
    parts.append(beam_curves(BEAMS, results[BEAMS.name]))
    title = f"The paper's tables, scale {escape(folder.name)}"
    body = "\n".join([f"<h1>{title}</h1>", *parts])
    head = f"<meta charset='utf-8'><title>{title}</title><style>{STYLE}</style>"
    return f"<!DOCTYPE html>\n<html lang='en'>\n<head>{head}</head>\n<body>\n{body}\n</body>\n</html>\n"


def attention_maps(name: str, result: Result, device: torch.device) -> str:
    """Draw the attention of a trained system while it decodes the longest line that is short enough."""
    lines = result.outcome.lines
    line = max(lines, key=lambda line: (len(line.text) <= LONGEST, min(len(line.text), LONGEST)))
    sample = samples_of(result, [line])[line.key]
    model = load_model(Path(result.outcome.model))
    recognizer = Recognizer(model, network=TorchNetwork(network_of(model, device)))
    view = recognizer.pieces.view([recognizer.pieces.prepare(0, sample.line())[0].prepared])
    attention = recognizer.network.attend(view.memory, [BOS, *model.tokenizer.encode(line.text)])
    return "\n".join(
        [
            f"<h3>γ {escape(name)}: weights of the preceding text, for “{escape(line.text)}”</h3>",
            maps_by_layer(attention.text, mean_distance(attention.text)).to_svg(),
            "<p class='note'>Attention to the image: a row per character, dark where the decoder looks.</p>",
            maps_by_layer(attention.image).to_svg(),
        ]
    )


def hardest(results: Sequence[Result]) -> list[str]:
    """Show the lines with the highest CER of the best system."""
    read = [result for result in results if result.outcome.lines]
    if not read:
        return []
    best = min(read, key=lambda result: result.outcome.figures[CER])
    counted = [line for line in best.outcome.lines if line.counts.characters]
    worst = sorted(counted, key=lambda line: (-line.counts.cer, line.key))[:HARDEST]
    samples = samples_of(best, worst)
    shown = contact_sheet([(samples[line.key].line(), f"{line.text}\n{line.read}") for line in worst], columns=1)
    return [
        f"<h2>The hardest lines of the best system, {escape(best.table)}: {escape(best.row)}</h2>",
        "<p class='note'>Below each line: its text, then the reading.</p>",
        f"<img alt='the hardest lines' src='{png_uri(shown)}'>",
    ]


def samples_of(result: Result, lines: Sequence[LineResult]) -> dict[str, Sample]:
    """Open some test lines of a result, by key.

    Raises:
        DataError: if one has moved, or has another text.
    """
    texts = {line.key: line.text for line in lines}
    found = {sample.key: sample for sample in open_all(result.outcome.files) if sample.text == texts.get(sample.key)}
    if gone := texts.keys() - found.keys():
        raise DataError(f"{min(gone)}: this test line has moved since {result.row!r} was measured")
    return found
