"""Benchmark the peak memory of decoding, beside the state that must be kept by formula."""

from collections.abc import Sequence
from dataclasses import replace

import torch

from drethtr.network.backbones import BACKBONES
from drethtr.paper.speed.decoding import Grid, Task, contenders, images_of, notes
from drethtr.paper.speed.peak import MEGABYTE, memory_race
from drethtr.paper.speed.published import on_canvas
from drethtr.paper.speed.report import BenchmarkReport

GRID = Grid(networks=("compact", "small"), batches=(16,), beams=(1, 10))
FLOAT = 4  # bytes


def measure(tasks: Sequence[Task]) -> BenchmarkReport:
    """Measure peak megabytes of every task, without those taken before: weights, images, the program."""
    races = [memory_race(str(task), contenders(task), task.device, formulas(task)) for task in tasks]
    remarks = (
        *notes(tasks[0]),
        "Peaks include the layers' intermediate results; in italics, by formula, the state kept from one step to the "
        "next, in MB of float32.",
    )
    return BenchmarkReport("Memory: the peak of decoding", remarks, races)


def formulas(task: Task) -> dict[str, float]:
    """Megabytes of state for L layers of width d with heads of width K, B lines, R rows and N characters.

    A line has I image tokens; as published, those of the canvas.
    """
    config, rows = task.config, task.batch * task.beams
    numbers = config.layers * config.width * FLOAT / MEGABYTE
    with torch.device("meta"):
        backbone = BACKBONES.build(config.backbone)
    image = images_of(replace(task, batch=1), backbone.height)[0]
    tokens, published = (-(-line.shape[1] // backbone.columns_per_token) for line in (image, on_canvas(image)))
    return {
        "image keys and values, once per line: 2LBId": 2 * task.batch * tokens * numbers,
        "those of the canvas, for every beam: 2LRId": 2 * rows * published * numbers,
        "retention's memory: LRdK": rows * (config.width // config.heads) * numbers,
        "keys and values of the text: 2LRNd": 2 * rows * task.characters * numbers,
    }
