"""The pictures of the report: decay by schedule, attention of trained layers, time and memory."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from drethtr.paper.speed.race import Spread
from drethtr.paper.tables.result import CER, GIGABYTES, SECONDS, Result
from drethtr.paper.tables.table import PaperTable
from drethtr.pictures.canvas import GRAY, Canvas, Label, Photo, Rectangle
from drethtr.pictures.chart import Mark, Panel, curves, ranges
from drethtr.recognition.model.decay import SCHEDULES, LayerPosition, Scheduled

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


def cost_charts(table: PaperTable, results: Mapping[str, Sequence[Result]]) -> str:
    """Charts of time and memory by row."""
    return "\n".join(cost_chart(table.title, results, measure) for measure in (SECONDS, GIGABYTES))


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
