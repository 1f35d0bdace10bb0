"""The pictures of the report: what is remembered, by schedule and by trained layers, and what time and memory cost."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from PIL import Image
from torch import Tensor

from drethtr.network.decay import log_gamma
from drethtr.network.mixer import FadedWeights
from drethtr.pictures.canvas import GREY, Canvas, Photo, Rectangle, Words
from drethtr.pictures.chart import Mark, Panel, curves, ranges
from drethtr.recognition.architecture import SCHEDULES, LayerPosition, Scheduled
from drethtr.research.benchmarks.race import Spread
from drethtr.research.tables.result import CER, GIGABYTES, SECONDS, Result
from drethtr.research.tables.table import Table

SIDE, GAP, LABEL, TOP = 84, 6, 150, 30
TOKENS, LAYERS, HEADS = 28, 4, 8
"""Of the matrices by schedule; layers and heads are those of SMALL."""


class Strip(NamedTuple):
    """Matrices side by side, (count, rows, columns) with values from 0, and what they are."""

    label: str
    matrices: Tensor


def heat_maps(strips: Sequence[Strip], titles: Sequence[str]) -> Canvas:
    """Strips below each other, the darker the larger a value is; each matrix has its own black."""
    width = LABEL + max(len(strip.matrices) for strip in strips) * (SIDE + GAP) + GAP
    shapes: list[Rectangle | Words | Photo] = [
        Words(LABEL + number * (SIDE + GAP) + SIDE / 2, TOP - 8, title, 11, GREY, "middle")
        for number, title in enumerate(titles)
    ]
    for row, strip in enumerate(strips):
        top = TOP + row * (SIDE + GAP)
        for line, words in enumerate(strip.label.split("\n")):
            shapes.append(Words(LABEL - 8, top + SIDE / 2 + 15 * line, words, 12, GREY, "end"))
        for number, matrix in enumerate(strip.matrices):
            shapes.append(Photo(LABEL + number * (SIDE + GAP), top, shaded(matrix)))
    return Canvas(width, TOP + len(strips) * (SIDE + GAP), tuple(shapes))


def shaded(matrix: Tensor) -> Image.Image:
    """A matrix as a square picture, its largest value black; roots, so that small values are seen, too."""
    share = (matrix / matrix.max().clamp(min=1e-9)).clamp(min=0).sqrt()
    grey = (255 * (1 - share)).byte().cpu().numpy()
    return Image.fromarray(grey).resize((SIDE, SIDE), Image.Resampling.NEAREST)


def decay_matrices() -> Canvas:
    """D of every schedule, for the first and the last head of each layer of SMALL."""
    strips = [
        Strip(
            name,
            torch.cat([decay_of(Scheduled(name), LayerPosition(layer, LAYERS, HEADS)) for layer in range(LAYERS)]),
        )
        for name in SCHEDULES
    ]
    titles = [f"layer {layer + 1}, head {head}" for layer in range(LAYERS) for head in (1, HEADS)]
    return heat_maps(strips, titles)


def decay_of(decay: Scheduled, position: LayerPosition) -> Tensor:
    """γ^(n-m) for the first and the last head, (2, N, N)."""
    fade = FadedWeights(log_gamma(decay, position)[[0, -1]], normalize=False)
    return fade.forward(torch.ones(2, TOKENS, TOKENS)).tril()


def mean_distance(weights: Tensor) -> Tensor:
    """How many tokens back the weights (..., N, N) of a text lie on average, (...)."""
    places = torch.arange(weights.shape[-1], device=weights.device)
    distance = (places[:, None] - places).clamp(min=0)
    return (weights * distance).sum((-2, -1)) / weights.sum((-2, -1)).clamp(min=1e-9)


def maps_by_layer(weights: Tensor, distance: Tensor | None = None) -> Canvas:
    """(layers, H, rows, columns) as a strip for each layer; `distance` (layers, H) is told as its mean."""
    strips = []
    for number, matrices in enumerate(weights):
        label = f"layer {number + 1}"
        if distance is not None:
            label += f"\n{float(distance[number].mean()):.1f} back on average"
        strips.append(Strip(label, matrices))
    return heat_maps(strips, [f"head {head + 1}" for head in range(weights.shape[1])])


def cost_chart(title: str, results: Mapping[str, Sequence[Result]], measure: str) -> str:
    """A measure of every row, with the range of its seeds, as SVG; empty if no row has it."""
    rows: list[tuple[str, dict[str, Mark]]] = []
    for name, of_row in results.items():
        values = [r.outcome.figures[measure] for r in of_row if r.outcome.figures.get(measure, 0) > 0]
        if values:
            rows.append((name, {"ours": Spread.of(values)}))
    return ranges(f"{title}: {measure}", measure, rows) if rows else ""


def cost_charts(table: Table, results: Mapping[str, Sequence[Result]]) -> str:
    """Time and memory of a table's rows."""
    return "\n".join(cost_chart(table.title, results, measure) for measure in (SECONDS, GIGABYTES))


def beam_curves(table: Table, results: Mapping[str, Sequence[Result]]) -> str:
    """Time and CER over the number of beams, as SVG; empty with fewer than two rows."""
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
