"""The results of the paper's tables, as text and as a page with pictures.

`sheet` puts our figures beside the paper's, with the uncertainty from seeds and test lines. `write_report` adds what
the models look at, the hardest lines, and charts of cost.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from drethtr.base.errors import DataError
from drethtr.datasets.open import open_all
from drethtr.datasets.sample import Sample
from drethtr.documents.html import png_uri
from drethtr.evaluation.compare import Difference, paired
from drethtr.evaluation.metrics import Counts, bootstrap
from drethtr.network.backend import TorchNetwork, network_of
from drethtr.paper.speed.race import Spread
from drethtr.paper.speed.report import markdown_table
from drethtr.paper.tables.paper import BEAMS, EFFICIENCY, GAMMA, TABLES
from drethtr.paper.tables.table import (
    CER,
    GIGABYTES,
    LINES,
    MEASURES,
    NATS,
    PARAMETERS,
    SECONDS,
    LineResult,
    PaperTable,
    Result,
    TableRow,
    finished,
)
from drethtr.pictures.canvas import GRAY, Canvas, Label, Photo, Rectangle
from drethtr.pictures.chart import Mark, Panel, curves, ranges
from drethtr.pictures.contact_sheet import contact_sheet
from drethtr.recognition.model.decay import SCHEDULES, LayerPosition, Scheduled
from drethtr.recognition.model.file import load_model
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.tokenizer import BOS


def thousandths(line: LineResult) -> Counts:
    """Nats in thousandths, since `bootstrap` and `paired` take whole numbers."""
    return Counts(edits=round(1000 * line.nats_per_character.part), characters=line.nats_per_character.whole)


class Rate(NamedTuple):
    """A measure with intervals: the contribution of a test line, and a display factor."""

    of_line: Callable[[LineResult], Counts]
    shown: float


RATES = {CER: Rate(lambda line: line.counts, 100), NATS: Rate(thousandths, 1e-3)}
"""The measures that have intervals."""
DECIMALS = {LINES: 0, NATS: 3}
"""Decimals of measures with other than two."""
WITHOUT_DEVIATION = {LINES, PARAMETERS}
"""Measures that do not depend on the seed."""
CONVENTION = (
    "CER: edits / characters of all test lines; mean ± standard deviation over seeds; in brackets the 95 % interval "
    "of a bootstrap over pages, or lines of unknown page, all seeds together. Mean of batches: the paper's own "
    "measure, the mean CER of batches of 16 lines. Nats per character: negative log-likelihood of the correct text "
    "with teacher forcing. Models were selected on validation lines."
)


@dataclass(frozen=True)
class RowResults:
    """A row with its results, one per seed, possibly none."""

    row: TableRow
    results: Sequence[Result]

    def counts(self, measure: str) -> list[Counts]:
        """The contribution of each test line to one of the `RATES`, summed over seeds."""
        by_seed = [map(RATES[measure].of_line, result.outcome.lines) for result in self.results]
        return [sum(of_line, Counts()) for of_line in zip(*by_seed, strict=True)]

    @property
    def pages(self) -> list[str]:
        """The page of each test line."""
        return [line.page for line in self.results[0].outcome.lines] if self.results else []

    @property
    def texts(self) -> list[tuple[str, str]]:
        """Page and text of each test line, which identify lines even if files have moved."""
        return [(line.page, line.text) for result in self.results[:1] for line in result.outcome.lines]

    def values(self, measure: str) -> list[float]:
        """The figure of each seed."""
        return [r.outcome.figures[measure] for r in self.results if measure in r.outcome.figures]


@dataclass(frozen=True)
class ResultTable:
    """A table of text with notes."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str]

    def markdown(self) -> str:
        """The table in Markdown."""
        table = markdown_table(self.head, self.rows)
        return "\n".join([f"## {self.title}", "", table, *(f"\n{note}" for note in self.notes)])

    def html(self) -> str:
        """The table in HTML."""
        head = "".join(f"<th>{escape(cell)}</th>" for cell in self.head)
        rows = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in self.rows]
        body = "\n".join(f"<tr>{row}</tr>" for row in [head, *rows])
        notes = "\n".join(f"<p class='note'>{escape(note)}</p>" for note in self.notes)
        return f"<h2>{escape(self.title)}</h2>\n<table>\n{body}\n</table>\n{notes}"


def sheet(table: PaperTable, results: Mapping[str, Sequence[Result]]) -> ResultTable:
    """Format all rows of a table; rows without results have the paper's figures only."""
    measured = [RowResults(row, results.get(row.name, ())) for row in table.rows]
    shown = [m for m in MEASURES if any(one.values(m) or m in one.row.paper for one in measured)]
    read = any(one.pages for one in measured)
    head = ["", "seeds"]
    for measure in shown:
        head += [measure, *(["paper"] if published(measure, table) else [])]
        head += ["minus first row"] if measure in RATES else []
    rows = [cells(one, measured[0], shown, table) for one in measured]
    decoders = dict.fromkeys(result.outcome.decoder for one in measured for result in one.results)
    named = [f"Read with {', '.join(filter(None, decoders))}."] if any(decoders) else []
    notes = [*table.notes, *named, *([CONVENTION] if read else [])]
    return ResultTable(f"{table.title} ({table.source})", head, rows, notes)


def published(measure: str, table: PaperTable) -> bool:
    """Whether the paper gives this measure for any row."""
    return any(measure in row.paper for row in table.rows)


def cells(one: RowResults, first: RowResults, shown: Sequence[str], table: PaperTable) -> list[str]:
    """The cells of a row."""
    found = [one.row.name, str(len(one.results) or "")]
    for measure in shown:
        found.append(ours(one, measure))
        if published(measure, table):
            found.append(f"{one.row.paper[measure]:g}" if measure in one.row.paper else "")
        if measure in RATES:
            found.append(difference_text(one, first, measure))
    return found


def ours(one: RowResults, measure: str) -> str:
    """Our figure: the mean over seeds, the standard deviation, and the interval of a rate."""
    values = one.values(measure)
    if not values:
        return ""
    text = number(mean(values), measure)
    if len(values) > 1 and measure not in WITHOUT_DEVIATION:
        text += f" ± {number(stdev(values), measure)}"
    if measure in RATES and one.pages:
        rates, shown = bootstrap(one.counts(measure), one.pages), RATES[measure].shown
        if rates.sure:
            text += f" [{number(shown * rates.cer_low, measure)}, {number(shown * rates.cer_high, measure)}]"
    return text


def difference_text(one: RowResults, first: RowResults, measure: str) -> str:
    """The difference from the first row's rate, with the interval of a paired bootstrap over pages."""
    found = difference(one, first, measure)
    if found is None:
        return ""
    places, shown = DECIMALS.get(measure, 2), RATES[measure].shown
    middle, low, high = (f"{shown * value:+.{places}f}" for value in (found.difference, found.low, found.high))
    return f"{middle} [{low}, {high}]" if found.sure else middle


def difference(one: RowResults, first: RowResults, measure: str) -> Difference | None:
    """The paired difference; None unless both rows have the same lines and number of seeds."""
    # Paired intervals need the same lines on both sides.
    if one is first or not one.pages or one.texts != first.texts or len(one.results) != len(first.results):
        return None
    return paired(first.counts(measure), one.counts(measure), one.pages)


def number(value: float, measure: str) -> str:
    """A figure as text."""
    places = DECIMALS.get(measure, 2 if value < 100 else 1)
    return f"{value:,.{places}f}"


HARDEST = 6
"""Number of hard lines to show."""
MAX_CHARACTERS = 40
"""Maximum characters of the line whose attention is drawn, for legibility."""
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
        parts += [cost_chart(EFFICIENCY.title, results[EFFICIENCY.name], measure) for measure in (SECONDS, GIGABYTES)]
    parts.append(beam_curves(BEAMS, results[BEAMS.name]))
    title = f"The paper's tables, scale {escape(folder.name)}"
    body = "\n".join([f"<h1>{title}</h1>", *parts])
    head = f"<meta charset='utf-8'><title>{title}</title><style>{STYLE}</style>"
    return f"<!DOCTYPE html>\n<html lang='en'>\n<head>{head}</head>\n<body>\n{body}\n</body>\n</html>\n"


def attention_maps(name: str, result: Result, device: torch.device) -> str:
    """Draw the attention of a trained system while it decodes the longest line that is short enough."""
    lines = result.outcome.lines
    line = max(lines, key=lambda line: (len(line.text) <= MAX_CHARACTERS, min(len(line.text), MAX_CHARACTERS)))
    sample = samples_of(result, [line])[line.key]
    model = load_model(Path(result.outcome.model))
    recognizer = Recognizer(model, network=TorchNetwork.of(model, network_of(model, device)))
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


SIDE, GAP, LABEL, TOP = 84, 6, 150, 30
TOKENS, LAYERS, HEADS = 28, 4, 8
"""Size of the matrices by schedule; layers and heads are those of SMALL."""


Numbers = NDArray[Any]


class HeatMaps(NamedTuple):
    """Labeled matrices side by side, (count, rows, columns), with values from 0."""

    label: str
    matrices: Numbers


def heat_maps(strips: Sequence[HeatMaps], titles: Sequence[str]) -> Canvas:
    """Draw strips one below the other; larger values are darker, scaled per matrix."""
    width = LABEL + max(len(strip.matrices) for strip in strips) * (SIDE + GAP) + GAP
    shapes: list[Rectangle | Label | Photo] = [
        Label(LABEL + number * (SIDE + GAP) + SIDE / 2, TOP - 8, title, 11, GRAY, "middle")
        for number, title in enumerate(titles)
    ]
    for row, strip in enumerate(strips):
        top = TOP + row * (SIDE + GAP)
        for line, words in enumerate(strip.label.split("\n")):
            shapes.append(Label(LABEL - 8, top + SIDE / 2 + 15 * line, words, 12, GRAY, "end"))
        for number, matrix in enumerate(strip.matrices):
            shapes.append(Photo(LABEL + number * (SIDE + GAP), top, shaded(matrix)))
    return Canvas(width, TOP + len(strips) * (SIDE + GAP), tuple(shapes))


def shaded(matrix: Numbers) -> Image.Image:
    """Draw a matrix as a square with its largest value black; square roots make small values visible."""
    share = np.sqrt(np.clip(matrix / max(matrix.max(), 1e-9), 0, None))
    gray = (255 * (1 - share)).astype(np.uint8)
    return Image.fromarray(gray).resize((SIDE, SIDE), Image.Resampling.NEAREST)


def decay_matrices() -> Canvas:
    """Draw D of every schedule, for the first and last head of each layer of SMALL."""
    strips = [
        HeatMaps(
            name,
            np.concatenate([decay_of(schedule.gamma(LayerPosition(layer, LAYERS, HEADS))) for layer in range(LAYERS)]),
        )
        for name, schedule in ((name, Scheduled(name)) for name in SCHEDULES)
    ]
    titles = [f"layer {layer + 1}, head {head}" for layer in range(LAYERS) for head in (1, HEADS)]
    return heat_maps(strips, titles)


def decay_of(gamma: Numbers) -> Numbers:
    """γ^(n-m), (2, N, N), for the first and last of some heads (H,)."""
    found: Numbers = np.tril(gamma[[0, -1], None, None] ** distances(TOKENS))
    return found


def distances(tokens: int) -> Numbers:
    """Distance from each token to each earlier one, (N, N); 0 for later ones."""
    places = np.arange(tokens)
    behind: Numbers = np.maximum(places[:, None] - places, 0)
    return behind


def mean_distance(weights: Numbers) -> Numbers:
    """The mean distance (...) that weights (..., N, N) reach back in a text, in tokens."""
    behind = weights * distances(weights.shape[-1])
    means: Numbers = behind.sum((-2, -1)) / np.maximum(weights.sum((-2, -1)), 1e-9)
    return means


def maps_by_layer(weights: Numbers, distance: Numbers | None = None) -> Canvas:
    """Draw (layers, H, rows, columns) as a strip per layer, labeled with the mean of `distance` (layers, H)."""
    strips = []
    for number, matrices in enumerate(weights):
        label = f"layer {number + 1}"
        if distance is not None:
            label += f"\n{distance[number].mean():.1f} back on average"
        strips.append(HeatMaps(label, matrices))
    return heat_maps(strips, [f"head {head + 1}" for head in range(weights.shape[1])])


def cost_chart(title: str, results: Mapping[str, Sequence[Result]], measure: str) -> str:
    """A chart of a measure by row, with the range over seeds, as SVG; "" if no row has it."""
    rows: list[tuple[str, dict[str, Mark]]] = []
    for name, of_row in results.items():
        values = [r.outcome.figures[measure] for r in of_row if r.outcome.figures.get(measure, 0) > 0]
        if values:
            rows.append((name, {"ours": Spread.of(values)}))
    return ranges(f"{title}: {measure}", measure, rows) if rows else ""


def beam_curves(table: PaperTable, results: Mapping[str, Sequence[Result]]) -> str:
    """Curves of time and CER over the number of beams, as SVG; "" for fewer than two rows."""
    panels = []
    for measure in (SECONDS, CER):
        points = []
        for beams, row in enumerate(table.rows, start=1):
            values = [r.outcome.figures[measure] for r in results.get(row.name, ())]
            if values and min(values) > 0:
                points.append((float(beams), sum(values) / len(values)))
        if len(points) > 1:
            panels.append(Panel(measure, "beams", {"DRetHTR": points}))
    return curves(table.title, panels) if panels else ""
