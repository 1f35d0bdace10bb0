"""learn_own_readings(material, output, trainer): learn a hand that nobody has transcribed (self-training).

A model that learns what it reads itself becomes surer of its mistakes. So two models teach each other: each learns the
readings of one half of the pages and then reads the other half, from which the next two start again. Their mistakes
differ, and the language models of the careful search correct some of them before they are learned.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from drethtr.base.errors import DataError
from drethtr.datasets.layouts.pages import Pages
from drethtr.datasets.open import AS_FOUND, open_all
from drethtr.datasets.sample import Sample, with_distinct_sets
from drethtr.evaluation.calibrate import as_sure_as, precisions
from drethtr.evaluation.metrics import Counts, score
from drethtr.evaluation.reading import read_lines
from drethtr.recognition.backends import CPU
from drethtr.recognition.model.file import Model, load_model
from drethtr.recognition.recognizer import Recognizer
from drethtr.training.finetuning.effect import Forgotten, rates_of, trained_card
from drethtr.training.finetuning.finetune import (
    Found,
    Report,
    Trainer,
    as_saved,
    finish,
    forgotten_by,
    train_share,
)
from drethtr.training.finetuning.material import Material, divided, joined, material_of, shuffled_pages, starting_model
from drethtr.training.finetuning.plan import Plan

ROUNDS = 2
"""A third one gains a twentieth at most (LOG.md, 2026-11-30, evening)."""

LEAST, MOST = 200, 500
"""Lines to learn from and to set confidences by, of random pages. More were not tried; with 95 lines of three hands,
those of others were read with 13 instead of 9 % CER (LOG.md, 2026-11-30, evening)."""

HALF = "round_{}_half_{}"

WHOLE = Found(effort=1.0, part_of_change=1.0)
"""Without transcriptions, nothing can be chosen."""


@dataclass(frozen=True)
class Learned:
    """The result of learning own readings.

    changed    the characters of lines it has not learned that it reads otherwise than its start
    forgotten  the changes on old lines that were not trained on; None without `--old-data`
    """

    model: Model
    changed: Counts
    forgotten: Forgotten | None


def gather_readings(
    plan: Plan,
    samples: Sequence[Sample],
    pages: Pages = AS_FOUND,
    *,
    device: str = CPU,
    threads: int | None = None,
    report: Report = lambda text: None,
) -> Material:
    """The material of a plan for own readings: some of the lines, with the starting model's readings as their texts.

    Args:
        pages: How PAGE and ALTO files of the old data are read.
        report: Called with a sentence before the lines are read.

    Raises:
        CheckpointError: if the model cannot be used.
        DataError: if lines cannot be used, or there are too few.
        MissingExtraError: if a package required for training is not installed.
    """
    start = starting_model(plan)
    lines, older = with_distinct_sets(samples, open_all(plan.old_data, pages) if plan.old_data else [])
    drawn = joined(shuffled_pages(lines, plan.seed))[:MOST]
    if len(drawn) < LEAST:
        raise DataError(
            f"--own-readings needs at least {LEAST} lines of one hand or office, but there are {len(drawn)}; give "
            "more, or transcribe 50 and leave out --own-readings"
        )
    report(f"reading {len(drawn):,} lines with the starting model")
    read = with_readings(start, drawn, device, threads)
    material = material_of(plan, start, (), read, older)
    left_out = Counter(material.parts.left_out)
    left_out[f"beyond the {MOST} drawn"] = len(lines) - len(drawn)
    left_out["on which nothing is read"] = len(drawn) - len(read)
    return replace(material, parts=replace(material.parts, left_out=+left_out))


def with_readings(model: Model, samples: Sequence[Sample], device: str, threads: int | None) -> tuple[Sample, ...]:
    """The lines that a model can read, with its most careful readings as their texts.

    Raises:
        DataError: if it can read none.
    """
    careful = None if model.network.ctc is None else "careful"
    fastest = precisions(model, device)[-1]
    recognizer = Recognizer(model, careful, precision=fastest, device=device, threads=threads)
    read = read_lines(recognizer, samples)
    found = tuple(replace(sample, text=reading.text, clean=True) for sample, reading in read if reading.text.strip())
    if not found:
        raise DataError(f"the model reads nothing on {len(samples)} lines; transcribe some to learn from instead")
    return found


def learn_own_readings(material: Material, output: Path, trainer: Trainer) -> Learned:
    """Train a model on its own readings, and write it or an adapter to `output`."""
    every = replace(material, parts=replace(material.parts, train=agreed(material, trainer)))
    trainer.report(f"learning all {len(every.parts.train):,} lines")
    last = train_share(every, 1.0, trainer, WHOLE)
    cards = [load_model(path).card for path in trainer.folder.rglob("*_lines.safetensors")]
    spent = {name: sum(card[name] for card in cards) for name in ("samples", "hours")}
    # Its language models do not learn the readings, by which mistakes would become words.
    trained, adapter = as_saved(every, (), replace(last, card={**last.card, **spent}), trainer)
    forgotten = forgotten_by(material, trained, trainer)
    trainer.report("shifting its confidences to those of the starting model")
    others = every.parts.validation
    record = as_sure_as(material.start, trained, others, device=trainer.device, threads=trainer.threads)
    model = replace(trained, record=record, card=trained_card(every, trained, 0, **rates_of(forgotten)))
    finish(model, adapter, output, trainer.folder)
    return Learned(model, changed_between(material.start, model, others, trainer), forgotten)


def halves_of(material: Material) -> list[tuple[Sample, ...]]:
    """The lines to learn, by whole pages or, if there is only one, every other line."""
    lines = material.parts.train
    halves = divided(lines, 2, seed=material.plan.seed)
    return halves if all(halves) else [lines[::2], lines[1::2]]


def agreed(material: Material, trainer: Trainer) -> tuple[Sample, ...]:
    """The lines with the readings of models that have learned others."""
    halves = halves_of(material)
    for number in range(ROUNDS):
        trainer.report(f"two models learn from each other, round {number + 1} of {ROUNDS}")
        models = [*trained_on(material, halves, trainer, number)]
        halves = [
            with_readings(replace(model, record=material.start.record), half, trainer.device, trainer.threads)
            for model, half in zip(reversed(models), halves, strict=True)
        ]
    return joined(halves)


def trained_on(
    material: Material, halves: Sequence[tuple[Sample, ...]], trainer: Trainer, number: int
) -> Iterator[Model]:
    """A model for each half, trained on it from the start."""
    for name, half in zip("ab", halves, strict=True):
        own = replace(trainer, folder=trainer.folder / HALF.format(number + 1, name))
        yield train_share(replace(material, parts=replace(material.parts, train=half)), 1.0, own, WHOLE)


def changed_between(start: Model, model: Model, samples: Sequence[Sample], trainer: Trainer) -> Counts:
    """The characters that two models read differently."""
    readers = (Recognizer(one, device=trainer.device, threads=trainer.threads) for one in (start, model))
    before, after = ([line.reading.text for line in read_lines(reader, samples)] for reader in readers)
    return sum(score(before, after), Counts())
