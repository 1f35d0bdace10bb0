"""train(run): the whole of training, top to bottom."""

import json
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from drethtr import config
from drethtr.checkpoint import Model, build_model, save_model
from drethtr.data.batch import Batch, Batches
from drethtr.data.mixture import Mixture
from drethtr.data.stream import stream
from drethtr.errors import ConfigError
from drethtr.text.tokenizer import Characters, Tokenizer
from drethtr.training.journal import Journal
from drethtr.training.objective import Losses, Objective
from drethtr.training.optimize import MovingAverage, learning_rate, make_optimizer, set_learning_rate
from drethtr.training.run import RunConfig
from drethtr.training.snapshot import Learner, Progress, load_snapshot, save_snapshot
from drethtr.training.validate import Validator

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

    Args:
        resume: Go on from the folder's snapshot; the result is that of an uninterrupted run.
        workers: Processes that load lines; they do not change the result.
        minutes: Stop, ready to resume, after so long.

    Raises:
        ConfigError: if the folder holds a run already and `resume` is false, or a setting does not fit.
        DataError: if training or validation lines cannot be used.
    """
    snapshot, settings = output / SNAPSHOT, config.to_dict(run)
    if snapshot.exists() and not resume:
        raise ConfigError(f"{output} holds a run already; add --resume to go on with it, or choose another --output")
    torch.manual_seed(run.seed)
    mixture = Mixture.open(run.train, run.seed)
    real = mixture.real_samples()
    alphabet = Characters.learn((sample.text for sample in real), run.minimum_count)
    mixture = mixture.within(alphabet.characters)
    model, learner = prepare(run, alphabet, device)
    progress = load_snapshot(snapshot, learner, settings) if snapshot.exists() else Progress()
    validator = Validator(run.validation, real)
    batches = Batches(mixture, run.preparation, model.tokenizer, run.batches, run.augmentation)
    objective = Objective(learner.network, run.loss)
    deadline = time.monotonic() + 60 * minutes if minutes is not None else None

    journal = Journal(output, run.samples, progress.samples)
    journal.say(f"{mixture.summary()}\n{parameters(learner.network):,} parameters, {model.tokenizer.size} tokens")
    try:
        waited = time.monotonic()
        for after, batch in stream(batches, start=progress.position, workers=workers):
            begun = time.monotonic()
            losses = learn(learner, objective, to_device(batch, device), run, progress)
            progress = replace(
                progress,
                position=after,
                step=progress.step + 1,
                samples=progress.samples + len(batch.texts),
                seconds=progress.seconds + time.monotonic() - waited,
            )
            loading, waited = begun - waited, time.monotonic()
            report(journal, losses, batch, progress, loading)
            done = progress.samples >= run.samples
            stopping = done or (deadline is not None and time.monotonic() > deadline)
            if done or progress.samples - progress.validated >= run.validation.every:
                progress = validate(validator, averaged(model, learner, progress), output, journal, progress)
            if stopping or progress.samples - progress.saved >= run.save_every:
                progress = replace(progress, saved=progress.samples)
                save_model(averaged(model, learner, progress), output / LATEST)
                save_snapshot(snapshot, learner, progress, settings)
            if stopping:
                break
            waited = time.monotonic()
    finally:
        journal.close()
    return output / BEST


def prepare(run: RunConfig, alphabet: Characters, device: torch.device | str) -> tuple[Model, Learner]:
    """Fresh or started weights, their average and their optimizer; the start's own alphabet goes before."""
    tokenizer: Tokenizer = run.start.tokenizer() or alphabet
    model = build_model(run.network, tokenizer, run.preparation)
    run.start.apply(model.network, tokenizer)
    model.network.to(device)
    model.network.backbone.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    average = MovingAverage(model.network, run.optimizer.average)
    return model, Learner(model.network, average, make_optimizer(model.network, run.optimizer))


def learn(learner: Learner, objective: Objective, batch: Batch, run: RunConfig, progress: Progress) -> Losses:
    """One step: losses, gradients, weights, average."""
    set_learning_rate(learner.optimizer, learning_rate(run.optimizer, progress.samples, run.samples))
    learner.network.train()
    device = batch.images.device.type
    with torch.autocast(device, torch.bfloat16) if run.bfloat16 else nullcontext():
        losses: Losses = objective(batch)
    learner.optimizer.zero_grad(set_to_none=True)
    losses.total.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(learner.network.parameters(), run.optimizer.clip)
    learner.optimizer.step()
    learner.average.follow(learner.network, progress.step + 1)
    return Losses(*(loss.detach() for loss in losses))


def to_device(batch: Batch, device: torch.device | str) -> Batch:
    """The tensors of a batch on the device."""
    tensors: list[Any] = [value.to(device) if isinstance(value, torch.Tensor) else value for value in batch]
    return Batch(*tensors)


def report(journal: Journal, losses: Losses, batch: Batch, progress: Progress, loading: float) -> None:
    """Tell how training goes; `loading` are the seconds that the step waited for its batch."""
    journal.advance(len(batch.texts), text=float(losses.text), ctc=float(losses.ctc))
    if progress.step % 20 == 0:
        values = {name: round(float(value), 4) for name, value in losses._asdict().items()}
        rate = progress.samples / max(progress.seconds, 1e-9)
        journal.record(
            "train", progress.samples, **values, lines_per_second=round(rate, 2), loading_seconds=round(loading, 4)
        )


def averaged(model: Model, learner: Learner, progress: Progress) -> Model:
    """The model with the averaged weights, and on its card how far it was trained."""
    card = {"samples": progress.samples, "hours": round(progress.seconds / 3600, 3)}
    return replace(model, network=learner.average.network, card=card)


def validate(validator: Validator, model: Model, output: Path, journal: Journal, progress: Progress) -> Progress:
    """Read the validation lines; keep the weights if none read better before."""
    scores = validator(model)
    cer = scores.overall.cer
    rates = {name: round(rate.cer, 4) for name, rate in {"all": scores.overall, **scores.sets}.items()}
    journal.record("validation", progress.samples, **rates)
    journal.say(f"{progress.samples:,} lines seen, validation CER {json.dumps(rates)}")
    if progress.best is None or cer < progress.best:
        progress = replace(progress, best=cer)
        card = {**model.card, "validation_cer": rates}
        save_model(replace(model, card=card), output / BEST)
    return replace(progress, validated=progress.samples)


def parameters(network: nn.Module) -> int:
    """How many numbers a network learns."""
    return sum(parameter.numel() for parameter in network.parameters())
