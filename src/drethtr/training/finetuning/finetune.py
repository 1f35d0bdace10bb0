"""finetune(material, output, trainer): the whole of fine-tuning, top to bottom.

Intermediate files are in a folder beside the result, `mine.run` for `mine.safetensors`: the split lines, and a training
run for each share of them. An interrupted run continues from there.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

import numpy as np

from drethtr.base import config
from drethtr.base.errors import ConfigError
from drethtr.base.files import atomic_write, make_folders, remove_unfinished
from drethtr.base.links import refuse_link
from drethtr.base.locks import claimed
from drethtr.datasets.parquet import store_parquet
from drethtr.datasets.sample import Sample, page_of
from drethtr.evaluation.metrics import Counts
from drethtr.evaluation.reading import to_read
from drethtr.network.backend import network_of
from drethtr.network.lora import changes_between
from drethtr.recognition.backends import resolve_device
from drethtr.recognition.confidence.record import CalibrationRecord
from drethtr.recognition.model.adapter import Adapter, load_adapted, save_adapter
from drethtr.recognition.model.file import Model, in_8_bits, load_model, save_model, weights_hash, without_record
from drethtr.training.devices import Devices
from drethtr.training.finetuning.effect import (
    SHARES,
    Forgotten,
    LearningCurve,
    Outcome,
    calibrated,
    card_of,
    compared,
    errors_on,
    learning_curve,
)
from drethtr.training.finetuning.interpolation import (
    choose_interpolation,
    interpolate,
    weights_at_start,
    with_language,
    with_rescorer,
)
from drethtr.training.finetuning.material import Material
from drethtr.training.finetuning.run import further_run_of, goes_on, rank_of, run_of
from drethtr.training.loop import LATEST, train
from drethtr.training.optimize import DivergedError
from drethtr.training.run import RunConfig

PLAN, FINISHED = "plan.json", "finished"
VALIDATION = "validation.parquet"
OLD = "old.parquet"
FOLD = "fold_{}"

Report = Callable[[str], object]


@dataclass(frozen=True)
class Trainer:
    """Trains models in a folder, all of them in one precision, so that they are comparable.

    threads  lines to read in parallel on a CPU; torch has its own number of threads
    report   called with a sentence before each step that takes a while
    """

    folder: Path
    device: str
    threads: int | None
    workers: int
    bfloat16: bool
    report: Report

    def train(self, run: RunConfig, folder: Path) -> Model:
        """The best model of a run, which continues if it was interrupted."""
        batches = replace(run.batches, fixed_shapes=self.device.startswith("cuda"))
        run = replace(run, bfloat16=self.bfloat16, batches=batches)
        return load_model(train(run, folder, resume=True, device=self.device, workers=self.workers))


@contextmanager
def open_trainer(
    material: Material,
    output: Path,
    *,
    resume: bool = False,
    force: bool = False,
    device: str = "cpu",
    threads: int | None = None,
    workers: int = 1,
    report: Report = lambda text: None,
) -> Iterator[Trainer]:
    """Lock a result against other programs, and open the folder of its run.

    Args:
        resume: Continue an interrupted run beside `output`.
        force: Otherwise, remove such a run.
        threads: Lines to read in parallel on a CPU; by default one for each free processor.
        workers: Processes that load lines; they do not change the result.
        report: Called with a sentence before each step that takes a while.

    Raises:
        ConfigError: if there is such a run and both are false, or it has other lines or options.
        DataError: if another program is writing it, or has written it and `force` is false.
    """
    folder = folder_of(output)
    own = resume and is_interrupted(output)
    with claimed(output, replace=force or own):
        refuse_link(folder)
        if force and not resume and (folder / PLAN).exists():
            rmtree(folder)
        bfloat16 = open_folder(material, folder, device, resume=resume)
        yield Trainer(folder, resolve_device(device), threads, workers, bfloat16, report)


def finetune(material: Material, output: Path, trainer: Trainer) -> Outcome:
    """Fine-tune a model and, if it became better, write the result to `output`: a model or an adapter."""
    folds = material.folds()
    lines = [line for fold in folds for line in fold.parts.validation]
    pages = list(map(page_of, lines))
    trainer.report(f"reading {len(lines):,} lines with the starting model")
    before = [count for fold in folds for count in errors(fold, material.start, trainer)]
    readers = list(readers_of(folds, trainer))
    trainer.report("reading these lines with the new model")
    after = [count for fold, (reader, _) in zip(folds, readers, strict=True) for count in errors(fold, reader, trainer)]
    # After the model itself, so that an interruption here keeps the most expensive training.
    curve = curve_of(material, after, trainer) if material.plan.learning_curve else None
    outcome = Outcome(readers[0][0], *compared(before, after, pages), curve=curve)
    if outcome.better:
        trained, adapter = readers[0]
        if material.plan.cross_fit:
            trainer.report(f"training on all {len(material.parts.train):,} lines")
            last = train_share(material, 1.0, trainer, found_by(trained))
            trained, adapter = as_saved(material, material.learned, last, trainer)
        elif material.later:
            trained, adapter = as_saved(material, material.learned, with_validation(material, trainer), trainer)
        outcome = replace(outcome, forgotten=forgotten_by(material, trained, trainer))
        trainer.report("calibrating its confidences")
        record = material.start.record
        for fold, (reader, _) in zip(folds, readers, strict=True):
            record = calibrated(reader, record, fold.parts.validation, trainer.device, trainer.threads).record
        # Measured before calibration, which changes confidences but no text.
        model = replace(trained, record=record, card=card_of(material, trained, outcome))
        finish(model, adapter, output, trainer.folder)
        outcome = replace(outcome, model=model)
    else:
        discard(trainer.folder)
    return outcome


def finish(model: Model, adapter: Adapter | None, output: Path, folder: Path) -> None:
    """Write a result: the model, or its adapter with its card and its record; then clear the folder of its run."""
    if adapter is None:
        save_model(model, output, bits=8)
    else:
        save_adapter(replace(adapter, card=model.card, record=model.record), output)
    write_plan(folder, json.loads((folder / PLAN).read_text(encoding="utf-8")), finished=True)
    clear(folder)


def errors(material: Material, model: Model, trainer: Trainer) -> list[Counts]:
    """The errors of a model on each validation line."""
    return errors_on(model, material.parts.validation, trainer.device, trainer.threads)


def forgotten_by(material: Material, trained: Model, trainer: Trainer) -> Forgotten | None:
    """The change of the error rate on old lines; None without old lines."""
    lines = material.remembered
    if not lines:
        return None
    trainer.report(f"reading {len(lines):,} old lines with both models")
    return Forgotten.between(material.start, trained, lines, trainer.device, trainer.threads)


def folder_of(output: Path) -> Path:
    """The folder for the intermediate files of a result."""
    return output.with_suffix(".run")


def is_interrupted(output: Path) -> bool:
    """Whether the run beside a result was stopped before it wrote it, or before it removed its weights, see `clear`."""
    plan = folder_of(output) / PLAN
    # Earlier versions did not write whether a run is finished; most are.
    finished = json.loads(plan.read_text(encoding="utf-8")).get(FINISHED, True) if plan.exists() else True
    return not finished or any(plan.parent.rglob("*.safetensors"))


def write_plan(folder: Path, settings: Mapping[str, Any], *, finished: bool) -> None:
    """Write the settings of a run, and whether its result is written."""
    with atomic_write(folder / PLAN) as unfinished:
        made = json.dumps({**settings, FINISHED: finished}, indent=1)  # in ASCII: names need not be UTF-8
        unfinished.write_text(made, encoding="utf-8")


def open_folder(material: Material, folder: Path, device: str, *, resume: bool) -> bool:
    """Create the folder of a run, or check that an existing one has the same lines and options.

    Returns:
        Whether to train in bfloat16, which was measured when the folder was created.
    """
    for place in (folder, *folder.glob("**/*_lines")):
        remove_unfinished(place)
    plan = folder / PLAN
    wanted = {"plan": config.to_dict(material.plan), "lines": material.fingerprint()}
    if not plan.exists():
        make_folders(folder)
        bfloat16 = Devices.open(device).uses_bfloat16()
        write_plan(folder, wanted | {"bfloat16": bfloat16}, finished=False)
        return bfloat16
    if not resume:
        raise ConfigError(f"{folder} already contains a run; add --resume to continue it, or --force to start over")
    found = json.loads(plan.read_text(encoding="utf-8"))
    settings = dict(found)
    measured: bool = found.pop("bfloat16")
    named = dict.fromkeys(("data", "validation", "old_data"))  # their lines are compared
    before, now = (one["plan"] | named for one in (found, wanted))  # of another version, it may have other options
    if (before, found["lines"]) != (now, wanted["lines"]):
        options = sorted(name for name in before | now if before.get(name) != now.get(name))
        others = f"other options ({', '.join(options)})" if options else "other lines or another starting model"
        raise ConfigError(f"{folder} contains a run with {others}; to start over, use --force instead of --resume")
    write_plan(folder, settings, finished=False)
    return measured


class Found(NamedTuple):
    """Chosen on validation lines: the share of the run after which weights were best, and of the change to keep."""

    effort: float
    part_of_change: float


def readers_of(folds: Sequence[Material], trainer: Trainer) -> Iterator[tuple[Model, Adapter | None]]:
    """A model for each fold that has not learned from it; the first one chooses how long all others learn."""
    found = None
    for number, fold in enumerate(folds):
        own = replace(trainer, folder=trainer.folder / FOLD.format(number + 1)) if len(folds) > 1 else trainer
        best = train_share(fold, 1.0, own, found)
        found = found or found_by(best)
        yield as_saved(fold, fold.parts.train, best, own)


def found_by(best: Model) -> Found:
    """The choices recorded by the training of a model."""
    return Found(*(best.card[name] for name in Found._fields))


def train_share(material: Material, share: float, trainer: Trainer, found: Found | None = None) -> Model:
    """Train on a share of the lines and interpolate; a finished training is not repeated.

    Validation lines choose how long to train and what to keep, unless both were `found` before.
    """
    samples = material.first_lines(share)
    folder = trainer.folder / f"{len(samples)}_lines"
    best, lines = folder.with_suffix(".safetensors"), folder.with_suffix(".parquet")
    if not best.exists():
        store_parquet(samples, lines)
        validation, old = trainer.folder / VALIDATION, trainer.folder / OLD
        for some, file in ((material.parts.validation, validation), (material.old, old)):
            if some:
                store_parquet(some, file)
        run = run_of(
            material,
            len(samples),
            lines,
            validation if found is None else None,
            old if material.old else None,
            effort=1 if found is None else found.effort,
        )
        model = trainer.train(run, folder)
        last = load_model(folder / LATEST).card  # of the whole training; the best weights were found before its end
        start = weights_at_start(run.start, model)
        if found is None:
            trainer.report("interpolating between old and new weights")
            read, decoder = to_read(material.parts.validation, run.validation.lines), run.validation.decoder
            chosen, fraction = choose_interpolation(start, model, read, decoder, trainer.device, trainer.threads)
        else:
            chosen, fraction = interpolate(start, model, found.part_of_change), found.part_of_change
        kept = Found(model.card["samples"] / run.samples, fraction)
        # This file says that the training is finished, so it is written last.
        save_model(replace(chosen, card={**last, **kept._asdict()}), best)
    return load_model(best)


def with_validation(material: Material, trainer: Trainer) -> Model:
    """A model that has learned the validation lines, too: that of the training lines, or its average with another."""
    first = train_share(material, 1.0, trainer)  # trained before
    if goes_on(material):
        trainer.report(f"learning {len(material.later):,} validation lines, too")
        last = train_further(material, trainer)
    else:
        trainer.report(f"training a second model, on all {len(material.learned):,} lines")
        everything = replace(material, parts=replace(material.parts, train=material.learned))
        second = train_share(everything, 1.0, trainer, found_by(first))
        last = interpolate(first.weights, second, 0.5)
    both = {name: first.card[name] + last.card[name] for name in ("samples", "hours")}
    return replace(last, card={**first.card, **both})


def train_further(material: Material, trainer: Trainer) -> Model:
    """Train the model of all training lines on with those of validation; a finished training is not repeated."""
    measured, folder = (trainer.folder / f"{len(some)}_lines" for some in (material.parts.train, material.learned))
    start, best = (one.with_suffix(".safetensors") for one in (measured, folder))
    lines = folder.with_suffix(".parquet")
    if not best.exists():
        store_parquet(material.learned, lines)
        old = trainer.folder / OLD if material.old else None
        save_model(trainer.train(further_run_of(material, start, lines, old), folder), best)
    return load_model(best)


def as_saved(
    material: Material, learned: Sequence[Sample], best: Model, trainer: Trainer
) -> tuple[Model, Adapter | None]:
    """A model with its weights rounded as in its file, so that the measured model is the saved one.

    Its n-grams and its rescorer, if it has them, also learn the lines it has `learned`; an adapter keeps those of its
    base model. It uses the decoder of the starting model, because few lines do not show which one is better.
    """
    record = CalibrationRecord(strategy=material.start.record.strategy)
    if not material.plan.adapter:
        texts = [sample.text for sample in learned]
        return replace(in_8_bits(knowing_texts(best, texts, trainer) if texts else best), record=record), None
    # The interpolated model is a full one again; its change is brought back to low rank for the file.
    changes = changes_between(network_of(material.start), network_of(best), rank_of(material.start))
    path = Path(material.plan.model)
    halved = {name: change.numpy().astype(np.float16) for name, change in changes.items()}
    start = material.start
    adapter = Adapter(halved, weights_hash(start.weights), path.name, best.card, record, without_record(start))
    return load_adapted(adapter, [path]), adapter


def knowing_texts(model: Model, texts: Sequence[str], trainer: Trainer) -> Model:
    """The model whose language models have learned the texts of its lines, unless its rescorer diverges."""
    worded = with_language(model, texts)
    try:
        kept = found_by(model).part_of_change
        return with_rescorer(worded, texts, kept, trainer.device, bfloat16=trainer.bfloat16)
    except DivergedError:  # it matters less than the rest
        trainer.report("the rescorer diverged on these lines, so it stays as it was")
        return worded


def curve_of(material: Material, after: list[Counts], trainer: Trainer) -> LearningCurve:
    """The learning curve; `after` are the errors of the model trained on all lines."""
    fewer = []
    for share in SHARES[:-1]:
        model, _ = as_saved(material, material.first_lines(share), train_share(material, share, trainer), trainer)
        fewer.append(errors(material, model, trainer))
    lines = [len(material.first_lines(share)) for share in SHARES]
    return learning_curve(lines, [*fewer, after], list(map(page_of, material.parts.validation)))


def clear(folder: Path) -> None:
    """Remove weights that are no longer needed; the lines and metrics of the runs stay.

    The results of trainings go last: if this is interrupted, a resumed run finds them, or trains from the beginning.
    """
    for pattern in ("**/*_lines/*.safetensors", "**/*_lines.safetensors"):
        for path in folder.glob(pattern):
            path.unlink()


def discard(folder: Path) -> None:
    """Remove a run that did not improve the model, so that the command can be repeated with more lines."""
    for place in (*folder.glob(FOLD.format("*")), folder):
        for run in place.glob("*_lines"):
            rmtree(run)
        for path in (*place.glob("*_lines.*"), place / VALIDATION, place / OLD, place / PLAN):
            path.unlink(missing_ok=True)
        with suppress(OSError):  # it contains something else
            place.rmdir()
