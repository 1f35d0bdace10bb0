"""On what a system learns: on real lines alone, on synthetic ones, or on the one after the other."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from drethtr.research.tables import published
from drethtr.research.tables.material import Lines, Material
from drethtr.research.tables.scale import Scale
from drethtr.research.tables.stage import Stage
from drethtr.training.run import RunConfig

Change: TypeAlias = Callable[[RunConfig], RunConfig]
"""What a row does differently."""


@dataclass(frozen=True)
class Plan:
    """A row's change, at a scale, with a seed."""

    change: Change
    scale: Scale
    seed: int

    def stage(self, run: RunConfig, after: Stage | None = None) -> Stage:
        """A run of the paper as this row has it."""
        return Stage(replace(self.change(self.scale.fit(run)), seed=self.seed), after)


class Course(ABC):
    """Which runs make a model of some lines; `alphabet` are the files whose characters pretraining is to know."""

    @abstractmethod
    def stage(self, plan: Plan, lines: Lines, alphabet: Sequence[str], material: Material) -> Stage:
        """The last of them."""


@dataclass(frozen=True)
class RealOnly(Course):
    """Real lines, from random weights: "IAM" in the paper."""

    def stage(self, plan: Plan, lines: Lines, alphabet: Sequence[str], material: Material) -> Stage:
        return plan.stage(published.training(lines))


@dataclass(frozen=True)
class SyntheticOnly(Course):
    """Synthetic lines: "zero-shot" in the paper."""

    def stage(self, plan: Plan, lines: Lines, alphabet: Sequence[str], material: Material) -> Stage:
        return plan.stage(published.pretraining(lines, alphabet, material.made()))


@dataclass(frozen=True)
class SyntheticFirst(Course):
    """Synthetic lines, then real ones: "IAM + Synth" in the paper."""

    def stage(self, plan: Plan, lines: Lines, alphabet: Sequence[str], material: Material) -> Stage:
        pretrained = SyntheticOnly().stage(plan, lines, alphabet, material)
        return plan.stage(published.fine_tuning(lines), after=pretrained)
