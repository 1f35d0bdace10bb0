"""The most memory that decoding takes, beside what has to be remembered by formula."""

from collections.abc import Sequence

import torch

from drethtr.benchmarks.decoding import Grid, Task, contenders, images_of, notes
from drethtr.benchmarks.peak import MEGABYTE, memory_race
from drethtr.benchmarks.report import Report

GRID = Grid(networks=("compact", "small"), batches=(16,), beams=(1, 10))
FLOAT = 4  # bytes


def measure(tasks: Sequence[Task]) -> Report:
    """Megabytes at the peak of every task, less those taken before: weights, images, the program."""
    races = [memory_race(str(task), contenders(task), task.device, formulas(task)) for task in tasks]
    remarks = (
        *notes(tasks[0]),
        "Peaks count all that is needed at once, the layers' intermediate results included; in italics, by formula, "
        "what has to be kept from one step to the next, in MB of float32.",
    )
    return Report("Memory: the most that decoding takes at any time", remarks, races)


def formulas(task: Task) -> dict[str, float]:
    """Megabytes to be kept, of L layers of width d with heads of width K, for B lines, R rows and N characters."""
    config, rows = task.config, task.batch * task.beams
    numbers = config.layers * config.width * FLOAT / MEGABYTE
    image = 2 * task.batch * image_tokens(task) * numbers
    return {
        "image keys and values, once per line: 2LBId": image,
        "the same for every beam: 2LRId": image * task.beams,
        "retention's memory: LRdK": rows * (config.width // config.heads) * numbers,
        "keys and values of the text: 2LRNd": 2 * rows * task.characters * numbers,
    }


def image_tokens(task: Task) -> int:
    """Image tokens of a line."""
    with torch.device("meta"):
        backbone = task.config.backbone.build()
    return -(-images_of(task, backbone.height).shape[-1] // backbone.columns_per_token)
