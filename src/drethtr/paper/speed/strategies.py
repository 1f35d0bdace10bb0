"""Benchmark decoding strategies: the shipped model on real lines, in batches of several sizes."""

from collections.abc import Sequence
from functools import partial
from typing import TypeVar

import torch

from drethtr.images.line import Line
from drethtr.paper.speed.race import Contender, Rounds, Work, time_race
from drethtr.paper.speed.report import BenchmarkReport
from drethtr.recognition.decoding.strategies import Strategy
from drethtr.recognition.model.file import SHIPPED, load_model
from drethtr.recognition.network import Precision
from drethtr.recognition.recognizer import Recognizer

Item = TypeVar("Item")


def batches_of(lines: Sequence[Item], batch: int) -> list[Sequence[Item]]:
    """Split items into batches, in order."""
    return [lines[start : start + batch] for start in range(0, len(lines), batch)]


def prepare_reading(
    lines: Sequence[Line], batch: int, strategy: Strategy, device: torch.device, precision: Precision
) -> Work:
    """Prepare reading the lines in batches, on as many threads as torch has."""
    threads = torch.get_num_threads()
    recognizer = Recognizer(load_model(SHIPPED), strategy, precision=precision, device=str(device), threads=threads)
    groups = batches_of(lines, batch)

    def run() -> None:
        for group in groups:
            recognizer.read(group)

    return run


def measure(
    lines: Sequence[Line],
    strategies: Sequence[tuple[str, Strategy]],
    batches: Sequence[int],
    rounds: Rounds,
    device: torch.device,
    precision: Precision,
) -> BenchmarkReport:
    """Measure milliseconds per line, from image to reading, for named strategies."""
    races = []
    for batch in batches:
        contenders = [
            Contender(name, partial(prepare_reading, lines, batch, strategy, device, precision))
            for name, strategy in strategies
        ]
        work = f"COMPACT, {batch} at a time"
        races.append(time_race(work, contenders, rounds, device, unit="ms per line", per=len(lines) / 1000))
    notes = (f"The shipped model in {precision.value} on {len(lines)} real lines, from image to reading.",)
    return BenchmarkReport("Strategies: milliseconds per line", notes, races)
