"""Races: benchmarks of several ways to do the same work, in turns.

All are prepared and warmed up first; then they take turns, so that other load on the machine slows all equally. Each
round gives a ratio for any two, in which that load cancels out; the range over n rounds contains the true median with
probability 1 - 2^(1-n).
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

import torch

Work = Callable[[], object]
"""The work to measure, after all preparation."""


class Contender(NamedTuple):
    """One way to do the work, which `prepare` returns; it must be picklable."""

    name: str
    prepare: Callable[[], Work]


class Spread(NamedTuple):
    """The median and range of figures."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, figures: Sequence[float]) -> "Spread":
        """The spread of at least one figure."""
        return cls(median(figures), min(figures), max(figures))


@dataclass(frozen=True)
class Race:
    """The result: one figure per contender and round; the first contender is the baseline.

    work     the task
    unit     unit of the figures
    figures  figures by contender, one per round
    facts    further figures in the same unit, by formula
    at       the x value, if the race is a point of a curve
    """

    work: str
    unit: str
    figures: Mapping[str, tuple[float, ...]]
    facts: Mapping[str, float] = field(default_factory=dict)
    at: float | None = None

    def spread(self, name: str) -> Spread:
        """Median and range of a contender's figures."""
        return Spread.of(self.figures[name])

    def ratio(self, name: str) -> Spread:
        """The baseline's figures divided by a contender's, round by round."""
        first = next(iter(self.figures.values()))
        return Spread.of([other / own for own, other in zip(first, self.figures[name], strict=True)])


@dataclass(frozen=True)
class Rounds:
    """The length of a race: at least `least` rounds, then more for up to `seconds`, but at most `most`."""

    least: int = 3
    most: int = 7
    seconds: float = 10.0

    def __iter__(self) -> Iterator[int]:
        begun = time.perf_counter()
        for number in range(self.most):
            if number >= self.least and time.perf_counter() - begun > self.seconds:
                return
            yield number


QUICK = Rounds(least=2, most=2)
"""Only to see that everything runs; the figures mean little."""


def time_race(
    work: str,
    contenders: Sequence[Contender],
    rounds: Rounds,
    device: torch.device,
    *,
    unit: str = "s",
    per: float = 1.0,
    at: float | None = None,
) -> Race:
    """Time contenders in turns, each round starting with the next one; figures are seconds divided by `per`."""
    ready = {contender.name: contender.prepare() for contender in contenders}
    for run in ready.values():
        run()
    figures: dict[str, list[float]] = {name: [] for name in ready}
    names = list(ready)
    for number in rounds:
        first = number % len(names)
        for name in names[first:] + names[:first]:
            figures[name].append(seconds(ready[name], device) / per)
    return Race(work, unit, {name: tuple(found) for name, found in figures.items()}, at=at)


def seconds(work: Work, device: torch.device) -> float:
    """Time some work, until the device has finished."""
    wait(device)
    begun = time.perf_counter()
    work()
    wait(device)
    return time.perf_counter() - begun


def wait(device: torch.device) -> None:
    """Wait until a GPU has finished."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
