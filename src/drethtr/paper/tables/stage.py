"""Training stages of a row: one run, or several in sequence, shared by all rows that need the same ones.

A stage has a folder named after a digest of its settings and files. A finished stage keeps only the best model and its
run; an unfinished one can be resumed.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import torch

from drethtr.base import config
from drethtr.base.files import write_text
from drethtr.paper.starts import FinishedImagePart, InPieces
from drethtr.paper.tables.material import PaperData, contents
from drethtr.paper.tables.scale import Scale
from drethtr.recognition.model.file import load_model
from drethtr.training.devices import Devices
from drethtr.training.feed.supply import FileSource, LineSource, Made
from drethtr.training.loop import BEST, LATEST, SNAPSHOT, train
from drethtr.training.run import RunConfig
from drethtr.training.start import FromModel, Start

FINISHED = "run.json"

Say = Callable[[str], object]


@dataclass(frozen=True)
class Conditions:
    """The scale, data, folder and device for running rows; `say` receives progress messages."""

    scale: Scale
    material: PaperData
    output: Path
    device: torch.device
    workers: int = 1
    say: Say = print

    @property
    def folder(self) -> Path:
        """The folder of this scale."""
        return self.output / self.scale.name


@dataclass(frozen=True)
class TrainingStage:
    """A training run; `after` is the stage whose model it starts from, if any."""

    run: RunConfig
    after: "TrainingStage | None" = None

    @property
    def runs(self) -> list[RunConfig]:
        """The runs of all stages up to this one."""
        return [*([] if self.after is None else self.after.runs), self.run]

    @property
    def fingerprint(self) -> str:
        """A digest of settings and lines, independent of file locations."""
        return digest([config.to_dict(as_read(run)) for run in self.runs])

    def on(self, device: torch.device) -> "TrainingStage":
        """The same stage for a device: on a GPU with batches of few shapes, as cuDNN takes seconds for each new one."""
        batches = replace(self.run.batches, fixed_shapes=device.type == "cuda")
        after = None if self.after is None else self.after.on(device)
        return TrainingStage(replace(self.run, batches=batches), after)


def as_read(run: RunConfig) -> RunConfig:
    """A run with digests of its files in place of their paths."""
    return replace(
        run,
        train=tuple(source_as_read(source) for source in run.train),
        validation=replace(run.validation, paths=contents(run.validation.paths)),
        start=start_as_read(run.start),
    )


def source_as_read(source: LineSource) -> LineSource:
    """A source with digests of its files in place of their paths."""
    match source:
        case FileSource():
            return replace(source, paths=contents(source.paths))
        case Made(lines=lines):
            made = replace(lines, fonts=" ".join(contents([lines.fonts])), texts=contents(lines.texts))
            return replace(source, lines=made)
    return source


def start_as_read(start: Start) -> Start:
    """A start with digests of its files in place of their paths."""
    match start:
        case InPieces():
            return replace(start, paths=contents(start.paths), start=start_as_read(start.start))
        case FinishedImagePart():
            return replace(start, path="")  # it has a digest
    return start


def digest(settings: Any) -> str:
    """A short digest of settings."""
    return blake2b(json.dumps(settings, sort_keys=True).encode(), digest_size=6).hexdigest()


def carry_out(stage: TrainingStage, conditions: Conditions) -> Path:
    """Train a stage, resuming an interrupted run, and return the path of the model.

    Raises:
        ConfigError, DataError: if settings are inconsistent, or lines cannot be used.
    """
    folder = conditions.folder / "trainings" / stage.fingerprint
    if (folder / FINISHED).exists():
        return folder / BEST
    run = stage.run
    if stage.after is not None:
        # The path of the model is not part of the fingerprint, but the previous stage is, with its settings and lines.
        run = replace(run, start=FromModel(str(carry_out(stage.after, conditions))))
    conditions.say(f"training {run.samples:,} lines in {folder}")
    best = train(run, folder, resume=True, device=conditions.device, workers=conditions.workers)
    devices = Devices.open(conditions.device)
    devices.barrier()
    if devices.is_main:
        # Written last: a folder with this file needs no snapshot any more, and one without it is resumed.
        record = {"runs": [config.to_dict(run) for run in stage.runs], "card": dict(load_model(best).card)}
        write_text(folder / FINISHED, json.dumps(record, ensure_ascii=False, indent=1) + "\n")
        for name in (SNAPSHOT, LATEST):
            (folder / name).unlink(missing_ok=True)
    devices.barrier()  # so that the others can load what the main process has saved
    return best
