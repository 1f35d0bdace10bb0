"""Random steps: small changes to a line that do not change its text."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from drethtr.base.errors import ConfigError
from drethtr.images.line import Line


class RandomStep(ABC):
    """A random transformation of a line, whose only source of randomness is `rng`; it never modifies its input.

    A step is a dataclass. Its pairs are ranges (low, high) to draw from, which may begin at 0 unless they are in
    `above_zero`; its numbers are sizes above 0.
    """

    above_zero: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, tuple):
                positive = name in self.above_zero
                if len(value) != 2 or not 0 <= value[0] <= value[1] or (positive and value[0] == 0):
                    least = "above 0" if positive else "from 0 up"
                    raise ConfigError(f"{type(self).__name__}.{name} must be (low, high) {least}, not {value}")
            elif not isinstance(value, bool) and value <= 0:
                raise ConfigError(f"{type(self).__name__}.{name} must be above 0, not {value}")

    @abstractmethod
    def __call__(self, line: Line, rng: np.random.Generator) -> Line: ...


@dataclass(frozen=True)
class Sometimes(RandomStep):
    """Apply a step with a given probability."""

    step: RandomStep
    probability: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.probability <= 1:
            raise ConfigError(f"probability must be between 0 and 1, not {self.probability}")

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        return self.step(line, rng) if rng.random() < self.probability else line


def augment(steps: Sequence[RandomStep], line: Line, rng: np.random.Generator) -> Line:
    """Apply the steps one after the other."""
    for step in steps:
        line = step(line, rng)
    return line


def paper_gray(line: Line) -> int:
    """The gray of the paper: the median, because paper covers more area than ink."""
    return int(np.searchsorted(np.bincount(line.ravel()).cumsum(), line.size / 2))


def ink_of(line: Line) -> Line:
    """The darkness of every pixel relative to the paper."""
    paper = np.uint8(paper_gray(line))
    return paper - np.minimum(line, paper)


def lay_ink(line: Line, ink: Line) -> Line:
    """The line darkened by `ink`, down to black."""
    return line - np.minimum(ink, line)
