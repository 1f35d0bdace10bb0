"""Courses of training: on real lines, synthetic lines, or both in sequence."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from drethtr.paper.tables import published
from drethtr.paper.tables.material import DataFiles, PaperData
from drethtr.paper.tables.scale import Scale
from drethtr.paper.tables.stage import TrainingStage
from drethtr.training.run import RunConfig

Change: TypeAlias = Callable[[RunConfig], RunConfig]
"""A row's change of a run."""


@dataclass(frozen=True)
class Variation:
    """A row's change with a scale and seed."""

    change: Change
    scale: Scale
    seed: int

    def stage(self, run: RunConfig, after: TrainingStage | None = None) -> TrainingStage:
        """Adapt a run of the paper to this row."""
        return TrainingStage(replace(self.change(self.scale.fit(run)), seed=self.seed), after)


class Course(ABC):
    """The runs that train a model; `alphabet` lists files whose characters pretraining must know."""

    @abstractmethod
    def stage(
        self, variation: Variation, lines: DataFiles, alphabet: Sequence[str], material: PaperData
    ) -> TrainingStage:
        """The last stage, which refers to the previous ones."""


@dataclass(frozen=True)
class RealOnly(Course):
    """Real lines, from random weights: "IAM" in the paper."""

    def stage(
        self, variation: Variation, lines: DataFiles, alphabet: Sequence[str], material: PaperData
    ) -> TrainingStage:
        return variation.stage(published.training(lines))


@dataclass(frozen=True)
class SyntheticOnly(Course):
    """Synthetic lines: "zero-shot" in the paper."""

    def stage(
        self, variation: Variation, lines: DataFiles, alphabet: Sequence[str], material: PaperData
    ) -> TrainingStage:
        return variation.stage(published.pretraining(lines, alphabet, material.made()))


@dataclass(frozen=True)
class SyntheticFirst(Course):
    """Synthetic lines, then real ones: "IAM + Synth" in the paper."""

    def stage(
        self, variation: Variation, lines: DataFiles, alphabet: Sequence[str], material: PaperData
    ) -> TrainingStage:
        pretrained = SyntheticOnly().stage(variation, lines, alphabet, material)
        return variation.stage(published.fine_tuning(lines), after=pretrained)
