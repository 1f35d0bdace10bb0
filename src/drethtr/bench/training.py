"""Benchmark training: lines per second, and whether the loader keeps up.

The lines are synthetic, so that figures from different machines are comparable.
"""

import time
from dataclasses import dataclass, replace
from io import BytesIO
from typing import NamedTuple

import numpy as np
import torch
from PIL import Image, ImageDraw

from drethtr.datasets.sample import Sample
from drethtr.paper.speed.race import PeakMemory, can_measure
from drethtr.text.tokenizer import Characters
from drethtr.training.devices import Devices
from drethtr.training.feed.batch import Batches
from drethtr.training.feed.mixture import LineMixture
from drethtr.training.feed.supply import LineSupply
from drethtr.training.loop import initial_progress, make_learner, open_streams, step_counts, train_step
from drethtr.training.run import RunConfig, ValidationConfig
from drethtr.training.start import Fresh

HEIGHT = 64
WIDTHS = (400, 1200)
PIXELS_PER_CHARACTER = 16
LETTERS = "abcdefghijklmnopqrstuvwxyzäöüéèß ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,;:-'()"


@dataclass(frozen=True)
class Strokes(LineSupply):
    """Lines that resemble writing from afar, as PNG, with random letters as text."""

    def sample(self, number: int, seed: int) -> Sample:
        """Draw the line with this number; widths are uniform in `WIDTHS`."""
        rng = np.random.default_rng((seed, number))
        width = int(rng.integers(WIDTHS[0], WIDTHS[1] + 1))
        image = Image.new("L", (width, HEIGHT), 235)
        across = np.sort(rng.integers(0, width, width // 4))
        down = rng.integers(HEIGHT // 5, 4 * HEIGHT // 5, width // 4)
        ImageDraw.Draw(image).line(list(zip(across.tolist(), down.tolist(), strict=True)), fill=40, width=2)
        file = BytesIO()
        image.save(file, "PNG")
        letters = rng.integers(0, len(LETTERS), width // PIXELS_PER_CHARACTER)
        return Sample(file.getvalue(), "".join(LETTERS[letter] for letter in letters), set="strokes")

    def describe(self) -> str:
        """A description."""
        return "synthetic strokes"

    def digest(self) -> str:
        """No digest, since the lines come from no file."""
        return ""


class TrainingSpeed(NamedTuple):
    """The speed of training.

    loading     share of the time spent waiting for lines
    mean_width  mean width of the synthetic lines in pixels
    peak_bytes  peak memory of training, including weights; 0 if the system cannot measure it
    """

    lines: int
    lines_per_second: float
    loading: float
    mean_width: float
    peak_bytes: int


def default_run(*, fixed_shapes: bool = False) -> RunConfig:
    """COMPACT with the defaults of `RunConfig`, in batches like those of the shipped model."""
    run = RunConfig(train=(), validation=ValidationConfig(paths=()), samples=1_000_000, bfloat16=True)
    batches = replace(run.batches, pixels=768_000, lines=32, max_columns=3600, fixed_shapes=fixed_shapes)
    return replace(run, batches=batches)


def measure(run: RunConfig, *, lines: int, workers: int, device: torch.device | str) -> TrainingSpeed:
    """Train the network of a run on at least `lines` synthetic lines.

    Steps with a batch of a new shape do not count: torch sets up kernels for it, on a GPU for seconds. Weights are
    random, since they do not affect the speed. The loader works ahead, so its share is accurate only over several
    chunks of lines (`run.batches.chunk`). Under torchrun, the figures are totals over all processes, except the memory,
    which is that of one.
    """
    devices = Devices.open(device, all_learn=run.loss.ctc > 0)
    memory = PeakMemory(devices.device) if can_measure(devices.device) else None
    torch.manual_seed(run.seed)
    tokenizer = Characters.learn([LETTERS])
    learner = make_learner(replace(run, start=Fresh()), tokenizer, devices)
    mixture = LineMixture((Strokes(),), (1.0,), run.seed)
    batches = Batches(mixture, run.preparation, tokenizer, run.batches, run.augmentation, run.prose)
    progress = initial_progress(run, devices)
    streams = open_streams(batches, progress.positions, devices, workers)
    seen, columns, loading, total = 0, 0, 0.0, 0.0
    shapes: set[tuple[int, ...]] = set()
    while seen < lines:
        requested = time.monotonic()
        own = [batch for _, batch in map(next, streams)]
        begun = time.monotonic()
        counts, *_ = step_counts(own, devices)
        float(train_step(learner, own, counts, devices, run, progress).total)  # waits for a GPU
        progress = replace(progress, step=progress.step + 1)
        new = {batch.grays.shape for batch in own} - shapes
        shapes |= new
        # All processes must agree on the steps that count.
        if not devices.all_reduce(torch.tensor(len(new))):
            seen += counts.lines
            columns += int(devices.all_reduce(torch.tensor(sum(int(batch.widths.sum()) for batch in own))))
            loading += begun - requested
            total += time.monotonic() - requested
    width = columns / seen * HEIGHT / run.preparation.height / run.preparation.stretch
    return TrainingSpeed(seen, seen / total, loading / total, width, memory.taken() if memory is not None else 0)
