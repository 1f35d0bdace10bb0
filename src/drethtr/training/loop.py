"""train(run): the whole of training, top to bottom."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from drethtr.base.errors import CheckpointError, ConfigError
from drethtr.base.locks import claimed
from drethtr.base.wording import counted
from drethtr.datasets.sample import Sample
from drethtr.network.network import DRetHTR
from drethtr.recognition.model.file import save_model
from drethtr.text.alphabet import NOT_LEARNED, right_to_left
from drethtr.text.tokenizer import PAD, Characters, Tokenizer
from drethtr.training.devices import Devices
from drethtr.training.feed.batch import Batches
from drethtr.training.feed.mixture import LineMixture
from drethtr.training.feed.stream import PackedBatch, Position, beginnings, stream
from drethtr.training.metrics_log import MetricsLog, TrainingLog
from drethtr.training.objective import BatchCounts, Losses, Objective
from drethtr.training.optimize import MovingAverage, clip_gradient, learning_rate, make_optimizer, set_learning_rate
from drethtr.training.run import RunConfig
from drethtr.training.snapshot import Learner, Progress, RunIdentity, load_snapshot, save_snapshot
from drethtr.training.teacher import Teacher
from drethtr.training.tuning import set_train_mode
from drethtr.training.validation import Validator, candidate_of, validate, without_weights

SNAPSHOT = "snapshot.safetensors"
LATEST = "latest.safetensors"
BEST = "best.safetensors"


def train(
    run: RunConfig,
    output: Path,
    *,
    resume: bool = False,
    device: torch.device | str = "cpu",
    workers: int = 1,
    minutes: float | None = None,
) -> Path:
    """Train a model into the folder `output` and return the path of the best one.

    Under torchrun, the processes share the batches of each step; their number does not change the result (beyond
    rounding, and beyond the running means of batch norms, if there are any, which are averaged).

    Args:
        resume: Continue from the folder's snapshot; the result equals that of an uninterrupted run.
        workers: Processes that load lines, for each batch of a step; they do not change the result.
        minutes: Stop after this time, ready to resume.

    Raises:
        ConfigError: if the folder already contains a run or its models and `resume` is false, or a setting is wrong,
            including one that makes the gradient diverge.
        CheckpointError: if the folder's snapshot cannot be used, or its lines, start or teacher have changed.
        DataError: if training or validation lines cannot be used, or another program is training into the folder.
    """
    devices = Devices.open(device, all_learn=run.loss.ctc > 0)
    with claimed(output / SNAPSHOT) if devices.is_main else nullcontext():
        return train_locked(run, output, devices, resume=resume, workers=workers, minutes=minutes)


def train_locked(
    run: RunConfig, output: Path, devices: Devices, *, resume: bool, workers: int, minutes: float | None
) -> Path:
    """Do what `train` does; the caller has locked the folder against other programs."""
    snapshot = output / SNAPSHOT
    refuse_old_run(output, resume=resume)
    torch.manual_seed(run.seed)
    batches = batches_of(run)
    mixture = batches.mixture
    model = without_weights(run, batches.tokenizer)
    learner = make_learner(run, batches.tokenizer, devices)
    if run.validation.decoder.needs_ctc and run.network.ctc is None:
        raise ConfigError("validation.decoder: this model has no CTC head; use another decoder, such as Greedy")
    validator = Validator(run.validation, run.preparation, mixture.real_samples(), batches.tokenizer)
    # A snapshot is only resumed with the same settings, alphabet, lines and models, so all of these are opened first.
    data = (*batches.digests(), validator.digest())
    models = (*run.start.digests(), *([run.teacher.digest()] if run.teacher else []))
    identity = RunIdentity(run, data, models, batches.tokenizer)
    there = snapshot.exists()
    if devices.any_process(there) and devices.any_process(not there):
        raise CheckpointError("not found by every process; put it where all machines see it", snapshot)
    progress = load_snapshot(snapshot, learner, identity) if there else initial_progress(run, devices)
    deadline = time.monotonic() + 60 * minutes if minutes is not None else float("inf")

    streams = open_streams(batches, progress.positions, devices, workers)
    log = MetricsLog(output, run.samples, progress.samples) if devices.is_main else TrainingLog()
    log.note(f"{mixture.summary()}\n{learner.network.parameter_count:,} parameters, {batches.tokenizer.size} tokens")
    for words in remarks_on((*mixture.real_samples(), *validator.samples)):
        log.note(words)
    if letters := right_to_left(batches.tokenizer.alphabet):
        log.note(f"warning: {letters} is {NOT_LEARNED}")
    told: set[str] = set()
    with closing(log):
        if run.validation.at_start and not progress.step and devices.is_main:
            progress = validate(validator, candidate_of(model, learner, progress, run), output / BEST, log, progress)
        stopping = is_finished(progress, run.samples, run.patience)
        while not stopping:
            waiting = time.monotonic()
            positions, own = zip(*map(next, streams), strict=True)
            begun = time.monotonic()
            counts, left_out, unusable = step_counts(own, devices)
            for words in sorted(set(unusable) - told):
                log.note(f"left out: {words}")
            told.update(unusable)
            losses = train_step(learner, own, counts, devices, run, progress)
            every = devices.all_gather(torch.tensor(positions)).tolist()  # of the streams of all processes
            progress = replace(
                progress,
                positions=tuple(Position(*position) for position in every),
                step=progress.step + 1,
                samples=progress.samples + counts.lines,
                left_out=progress.left_out + left_out,
                seconds=progress.seconds + time.monotonic() - waiting,
            )
            report(log, losses, counts, progress, run, begun - waiting)
            candidate = None
            if progress.samples >= run.samples or progress.samples - progress.validated >= run.validation.every:
                if devices.is_main:
                    candidate = candidate_of(model, learner, progress, run)
                    progress = validate(validator, candidate, output / BEST, log, progress)
                progress = replace(progress, validated=progress.samples)  # in all processes, which have the same counts
            # All processes stop after the same step, whatever their clocks say: one alone would wait for the others.
            finished = is_finished(progress, run.samples, run.patience)
            stopping = devices.any_process(finished or time.monotonic() > deadline)
            if stopping or progress.samples - progress.saved >= run.save_every:
                progress = replace(progress, saved=progress.samples)
                if devices.is_main:
                    # The averaged weights are copied once, even if this step is validated, too.
                    candidate = candidate or candidate_of(model, learner, progress, run)
                    save_model(candidate.model, output / LATEST)
                    save_snapshot(snapshot, learner, progress, identity)
    return output / BEST


def refuse_old_run(output: Path, *, resume: bool) -> None:
    """Refuse a folder that contains a run, unless it is to be resumed."""
    if not resume and any((output / name).exists() for name in (SNAPSHOT, LATEST, BEST)):
        cure = "add --resume to continue it, or " if (output / SNAPSHOT).exists() else ""
        raise ConfigError(f"{output} already contains a run; {cure}choose another --output")


def batches_of(run: RunConfig) -> Batches:
    """The batches of a run, in the alphabet of its start or of its lines.

    Raises:
        ConfigError: if the alphabet would be empty, or a setting is wrong.
        DataError: if a file cannot be used.
    """
    mixture = LineMixture.open(run.train, run.seed)
    tokenizer = run.start.tokenizer() or learn_alphabet(mixture, run)
    mixture = mixture.within(tokenizer.alphabet)
    return Batches(mixture, run.preparation, tokenizer, run.batches, run.augmentation, run.prose)


def learn_alphabet(mixture: LineMixture, run: RunConfig) -> Characters:
    """Learn the alphabet: the characters of the real lines.

    Raises:
        ConfigError: if there are none.
    """
    alphabet = Characters.learn(mixture.texts(), run.minimum_count)
    if not alphabet.characters:
        raise ConfigError(
            f"the alphabet is empty, because no character occurs {run.minimum_count} times in real training lines; add "
            "real lines to `train` (with weight = 0 they only contribute characters), or lower minimum_count"
        )
    return alphabet


def remarks_on(samples: Iterable[Sample]) -> Iterator[str]:
    """How lines with irregular descriptions were interpreted, with the number of lines."""
    remarks = Counter(what for sample in samples for what in {remark.what for remark in sample.remarks})
    return (f"{what}: {counted(number, 'line')}" for what, number in remarks.items())


def make_learner(run: RunConfig, tokenizer: Tokenizer, devices: Devices) -> Learner[DRetHTR]:
    """Build a network with new or pretrained weights, their average and their optimizer."""
    network = DRetHTR(run.network, tokenizer.size)
    run.start.apply(network, tokenizer)
    network.to(devices.device)
    network.backbone.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    run.tuning.begin(network)
    average = MovingAverage(network, run.optimizer.average)
    teacher = Teacher.open(run.teacher, tokenizer, run.preparation, devices.device) if run.teacher else None
    objective = devices.wrap_ddp(Objective(network, run.loss, teacher))
    return Learner(network, objective, average, make_optimizer(network, run.optimizer))


def initial_progress(run: RunConfig, devices: Devices) -> Progress:
    """The progress of a run that has seen nothing yet, with its precision."""
    return Progress(beginnings(run.batches_per_step), devices.uses_bfloat16(run.bfloat16))


def is_finished(progress: Progress, samples: int, patience: int | None) -> bool:
    """Whether a run has seen all its lines or crops, or has not improved for too long."""
    return progress.samples >= samples or (patience is not None and progress.stale >= patience)


def open_streams(
    batches: Batches, positions: Sequence[Position], devices: Devices, workers: int
) -> list[Iterator[tuple[Position, PackedBatch]]]:
    """The streams of this process, among those that share all batches."""
    share = devices.local_parts(len(positions))
    return [stream(batches, start=positions[part], every=len(positions), workers=workers) for part in share]


def step_counts(own: Sequence[PackedBatch], devices: Devices) -> tuple[BatchCounts, int, list[str]]:
    """Lines, characters and tokens of a step, the lines left out of it, and why some images cannot be used.

    All over all processes.
    """
    lines, characters = sum(len(batch.texts) for batch in own), sum(int(batch.lengths.sum()) for batch in own)
    left_out, unusable = sum(batch.left_out for batch in own), [why for batch in own for why in batch.unusable]
    prose = sum(batch.prose.shape[0] + int((batch.prose != PAD).sum()) for batch in own if batch.prose is not None)
    *counts, left_out, number = devices.all_reduce(
        torch.tensor([lines, characters, characters + lines, prose, left_out, len(unusable)])
    ).tolist()
    return BatchCounts(*counts), left_out, devices.all_words(unusable) if number else []


def train_step(
    learner: Learner[DRetHTR],
    own: Sequence[PackedBatch],
    counts: BatchCounts,
    devices: Devices,
    run: RunConfig,
    progress: Progress,
) -> Losses:
    """One step: losses, gradients, weights, average.

    Raises:
        ConfigError: if the gradient is not finite; the weights are then unchanged.
    """
    set_learning_rate(learner.optimizer, learning_rate(run.optimizer, progress.samples, run.samples))
    set_train_mode(learner.network)
    learner.optimizer.zero_grad(set_to_none=True)
    losses = torch.zeros(len(Losses._fields), device=devices.device)
    for number, (part, batch) in enumerate(zip(devices.local_parts(run.batches_per_step), own, strict=True)):
        # Dropout depends on the seed, the step and the batch alone, so that a resumed run repeats it with any number of
        # processes.
        torch.manual_seed(int(np.random.SeedSequence((run.seed, progress.step, part)).generate_state(1)[0]))
        with nullcontext() if number + 1 == len(own) else devices.no_sync(learner.objective):
            with devices.precision(progress.bfloat16):
                parts: Losses = learner.objective(batch.unpack(devices.device), counts)
            (parts.total * devices.processes).backward()  # type: ignore[no-untyped-call]  # for they are averaged
        losses += torch.stack(parts).detach()
    change_weights(learner, devices, run.optimizer.clip, progress)
    devices.average_batch_norms(learner.network)
    learner.average.update(learner.network, progress.step + 1)
    return Losses(*devices.all_reduce(losses))


def change_weights(learner: Learner[Any], devices: Devices, clip: float, progress: Progress) -> None:
    """Change the weights along their gradient, which is clipped to a length.

    Raises:
        ConfigError: if the gradient is not finite; the weights are then unchanged.
    """
    cure = "a lower optimizer.learning_rate or bfloat16 = false; with finetune, another --seed and --force"
    clip_gradient(learner.network, clip, progress.step + 1, cure)
    with devices.precision(progress.bfloat16):  # Muon multiplies matrices
        learner.optimizer.step()


def report(
    log: TrainingLog, losses: Losses, counts: BatchCounts, progress: Progress, run: RunConfig, loading: float
) -> None:
    """Report progress, at least every percent; `loading` is the time in seconds that the step waited for its batch."""
    log.advance(counts.lines, text=float(losses.text), ctc=float(losses.ctc))
    percent, before = (100 * samples // run.samples for samples in (progress.samples, progress.samples - counts.lines))
    if progress.step % 20 == 0 or percent > before:
        values = {name: round(float(value), 4) for name, value in losses._asdict().items()}
        rate = round(progress.samples / max(progress.seconds, 1e-9), 2)
        feed = {"left_out": progress.left_out, "lines_per_second": rate, "loading_seconds": round(loading, 4)}
        log.record("train", progress.samples, values | feed)
