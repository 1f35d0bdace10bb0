"""Estimate how long fine-tuning takes on this machine, from a few real training steps and readings."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from drethtr.datasets.parquet import store_parquet
from drethtr.datasets.sample import Sample
from drethtr.evaluation.calibrate import passes
from drethtr.evaluation.reading import read_lines, to_read
from drethtr.network.backend import TorchNetwork, network_of
from drethtr.network.network import DRetHTR
from drethtr.recognition.recognizer import Recognizer
from drethtr.training.devices import Devices
from drethtr.training.feed.stream import PackedBatch
from drethtr.training.finetuning.effect import SHARES
from drethtr.training.finetuning.interpolation import FRACTIONS
from drethtr.training.finetuning.material import Material
from drethtr.training.finetuning.own_readings import ROUNDS, halves_of
from drethtr.training.finetuning.run import further_run_of, goes_on, run_of
from drethtr.training.loop import batches_of, initial_progress, make_learner, step_counts, train_step
from drethtr.training.run import RunConfig
from drethtr.training.snapshot import Learner, Progress

STEPS = 3
"""Training steps that are timed, after a first one that is slower."""

ENOUGH = 8.0
"""Seconds after which no further step begins."""

CAREFUL = 3
"""Upper limit of the time of careful reading, as a multiple of the usual one."""

READ = 8
"""Validation lines that are read to time reading."""


@dataclass(frozen=True)
class Estimate:
    """The time of fine-tuning in seconds, if the machine stays as busy as it is.

    lines      seen in all trainings, repeats included
    training   until they are seen, with validations; less if training ends early, a thirtieth more for the rescorer
    measuring  reading validation lines, and old lines, before and after, and to calibrate
    """

    lines: int
    training: float
    measuring: float


def estimate(material: Material, device: str = "cpu", threads: int | None = None) -> Estimate:
    """Time some steps and readings; it takes seconds, and writes nothing beside the data."""
    lines = to_read([line for fold in material.folds() for line in fold.parts.validation])
    with TemporaryDirectory(prefix="drethtr-") as folder:
        runs = runs_of(material, Path(folder))
        line = seconds_to_learn(runs[-1], device)
    network = TorchNetwork.of(material.start, network_of(material.start, device))
    validation = runs[0].validation
    fast = seconds_to_read(Recognizer(material.start, validation.decoder, network=network), material)
    usual = seconds_to_read(Recognizer(material.start, device=device, threads=threads), material)
    first, crossed, own = material.folds()[0].parts.validation, material.plan.cross_fit, material.plan.own_readings
    validated = len(to_read(first, validation.lines))
    # Validation lines are read before the first step, after every part of a training, and with each share of the
    # change, including 0. Of crossed trainings, only the first is validated.
    chosen = [] if own else runs[:1] if crossed else runs
    readings = sum(-(-run.samples // run.validation.every) + 2 + len(FRACTIONS) for run in chosen)
    samples = sum(run.samples for run in runs)
    if material.later:
        every = len(material.learned)
        last = further_run_of(material, Path(), Path()) if goes_on(material) else run_of(material, every, Path(), None)
        samples += last.samples
    training = samples * line + readings * validated * fast
    # All validation lines are read by the starting model, by the new ones (each line by that of its fold), and to
    # calibrate.
    rounds = 1 + (1 if crossed else len(runs)) + passes(material.start, len(lines), device=device)
    read = rounds * len(lines)
    if own:
        decoders = 1 + len(material.start.record.calibrations)
        read = ROUNDS * CAREFUL * len(material.parts.train) + 2 * decoders * len(lines)
    return Estimate(samples, training, (read + 2 * len(material.remembered)) * usual)


def runs_of(material: Material, folder: Path) -> list[RunConfig]:
    """All trainings of a plan, the longest last, with their lines in files of a folder."""
    first, validation = material.folds()[0], folder / "validation.parquet"
    store_parquet(first.parts.validation, validation)
    runs = []
    for number, samples in enumerate(trainings(material)):
        lines = folder / f"{number}.parquet"
        store_parquet(samples, lines)
        runs.append(run_of(first, len(samples), lines, validation))
    return runs


def trainings(material: Material) -> list[Sequence[Sample]]:
    """The lines of each training of a plan."""
    if material.plan.own_readings:
        return [*ROUNDS * halves_of(material), material.parts.train]
    if material.plan.cross_fit:
        return [*(fold.parts.train for fold in material.folds()), material.parts.train]
    return [material.first_lines(share) for share in (SHARES if material.plan.learning_curve else SHARES[-1:])]


def seconds_to_learn(run: RunConfig, device: str) -> float:
    """The time of training for each line seen."""
    devices = Devices.open(device)
    batches = batches_of(run)
    learner = make_learner(run, batches.tokenizer, devices)
    progress = initial_progress(run, devices)
    begun = time.perf_counter()
    first, *rest = made = [PackedBatch.of(batch) for batch in batches[0]]
    loading = time.perf_counter() - begun
    step(first, learner, devices, run, progress)
    timed, begun = 0, time.perf_counter()
    for batch in rest[:STEPS] or made:
        step(batch, learner, devices, run, progress)
        timed += batch.grays.size
        if time.perf_counter() - begun > ENOUGH:
            break
    # Batches differ in width, so time is measured per pixel rather than per line.
    learning = (time.perf_counter() - begun) / timed * sum(batch.grays.size for batch in made)
    return (loading + learning) / sum(len(batch.texts) for batch in made)


def step(batch: PackedBatch, learner: Learner[DRetHTR], devices: Devices, run: RunConfig, progress: Progress) -> None:
    """One training step."""
    counts, *_ = step_counts([batch], devices)
    train_step(learner, [batch], counts, devices, run, progress)


def seconds_to_read(recognizer: Recognizer, material: Material) -> float:
    """The time of reading for each validation line."""
    some = material.folds()[0].parts.validation[:READ]
    read_lines(recognizer, some[:1])  # the first line is slower
    begun = time.perf_counter()
    read_lines(recognizer, some)
    return (time.perf_counter() - begun) / len(some)
