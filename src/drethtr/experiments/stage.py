"""What a row has to train: one run, or several one after the other, shared by all rows that need the very same.

A stage lies in a folder named after its settings and the content of its files. When it is finished only the best model
stays there, with the run it came from; until then it can be gone on with.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import torch

from drethtr import config
from drethtr.atomic import atomic_write
from drethtr.checkpoint import load_model
from drethtr.data.supply import Made, Real
from drethtr.experiments.material import Material, contents
from drethtr.experiments.scale import Scale
from drethtr.training.devices import Devices
from drethtr.training.loop import BEST, LATEST, SNAPSHOT, train
from drethtr.training.run import RunConfig
from drethtr.training.start import FromModel

FINISHED = "run.json"

Say = Callable[[str], object]


@dataclass(frozen=True)
class Conditions:
    """Where rows are run, on what, and how large; `say` is told what is going on."""

    scale: Scale
    material: Material
    output: Path
    device: torch.device
    workers: int = 1
    say: Say = print

    @property
    def folder(self) -> Path:
        """Where everything of this scale is kept."""
        return self.output / self.scale.name


@dataclass(frozen=True)
class Stage:
    """A training run; if it goes on from the model of another stage, that is `after`."""

    run: RunConfig
    after: "Stage | None" = None

    @property
    def settings(self) -> list[Any]:
        """The runs of all stages up to this one, as JSON has them, each with the digests of its files."""
        before = [] if self.after is None else self.after.settings
        return [*before, config.to_dict(self.run), contents(files_of(self.run))]

    @property
    def fingerprint(self) -> str:
        """The same for the same settings and lines."""
        return digest(self.settings)


def files_of(run: RunConfig) -> list[str]:
    """The files of a run: lines to train on, what others are made of, and lines to choose the best by."""
    paths: list[str] = []
    for source in run.train:
        if isinstance(source, Real):
            paths += source.paths
        elif isinstance(source, Made):
            paths += (source.lines.fonts, *source.lines.texts)
    return [*paths, *run.validation.paths]


def digest(settings: Any) -> str:
    """A short name for some settings."""
    return blake2b(json.dumps(settings, sort_keys=True).encode(), digest_size=6).hexdigest()


def carry_out(stage: Stage, conditions: Conditions) -> Path:
    """Train what is not trained yet, going on where it stopped, and return the path of the model.

    Raises:
        ConfigError, DataError: if a setting does not fit, or lines cannot be used.
    """
    folder = conditions.folder / "trainings" / stage.fingerprint
    if (folder / FINISHED).exists():
        return folder / BEST
    run = stage.run
    if stage.after is not None:
        run = replace(run, start=FromModel(str(carry_out(stage.after, conditions))))
    conditions.say(f"training {run.samples:,} lines in {folder}")
    best = train(run, folder, resume=True, device=conditions.device, workers=conditions.workers)
    devices = Devices.open(conditions.device)
    wait_for_all(devices)
    if devices.leads:
        record = {"settings": stage.settings, "card": dict(load_model(best).card)}
        with atomic_write(folder / FINISHED) as unfinished:
            unfinished.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        for name in (SNAPSHOT, LATEST):
            (folder / name).unlink(missing_ok=True)
    wait_for_all(devices)
    return best


def wait_for_all(devices: Devices) -> None:
    """Until every process is here: what one of them has saved, the others are about to load."""
    devices.agree(False)
