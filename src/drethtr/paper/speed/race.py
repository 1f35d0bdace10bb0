"""Races: benchmarks of several ways to do the same work, in time or peak memory.

Time: all are prepared and warmed up first; then they take turns, so that other load on the machine slows all equally.
Each round gives a ratio for any two, in which that load cancels out; the range over n rounds contains the true median
with probability 1 - 2^(1-n).

Memory: beyond what was allocated before. On a GPU, it is what torch allocates. On a CPU, it is the resident memory
reported by Linux, measured in a separate process, so that memory freed earlier cannot hide what is needed.
"""

import ctypes
import gc
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import NamedTuple

import torch

from drethtr.base.errors import ConfigError
from drethtr.network.devices import open_device

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
        """The baseline's figures divided by a contender's, round by round: 2 for one that takes half the time."""
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
            # At least a few rounds, however long they take: a range over one round means nothing.
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
        # The order rotates, so that a different contender runs first each round, when the clock rate is high or the
        # cache empty.
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


MEGABYTE = 1e6
STATUS = Path("/proc/self/status")
RESET = Path("/proc/self/clear_refs")
RESET_PEAK = "5"  # man 5 proc
M_MMAP_THRESHOLD = -3  # man 3 mallopt
RETURNED_AT_ONCE = 65_536  # bytes; larger blocks are returned to the system when freed


class PeakMemory:
    """Tracks the memory of this process on a device, starting with its creation.

    Raises:
        ConfigError: if this system cannot measure it.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        gc.collect()
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
            self.before = torch.cuda.memory_allocated(device)
        elif can_measure(device):
            RESET.write_text(RESET_PEAK)
            self.before = resident("VmRSS")
        else:
            raise ConfigError(f"the peak memory of {device.type} cannot be measured on this system; use Linux or CUDA")

    def taken(self) -> int:
        """Peak bytes since the start, minus those at the start."""
        if self.device.type == "cuda":
            return torch.cuda.max_memory_allocated(self.device) - self.before
        return resident("VmHWM") - self.before


def can_measure(device: torch.device) -> bool:
    """Whether this system can measure the peak memory of a device."""
    return device.type == "cuda" or (device.type == "cpu" and RESET.exists())


def resident(field: str) -> int:
    """A field of this process's status in bytes."""
    for line in STATUS.read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024
    raise ConfigError(f"{STATUS} has no {field}: memory cannot be measured on this system")


def memory_race(work: str, contenders: Sequence[Contender], device: torch.device, facts: Mapping[str, float]) -> Race:
    """Measure peak megabytes of the contenders one by one, each in its own process.

    Raises:
        ConfigError: if the system killed a contender.
    """
    figures = {}
    for contender in contenders:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            taken = pool.submit(peak_of, contender, device, torch.get_num_threads())
            try:
                figures[contender.name] = (taken.result() / MEGABYTE,)
            except BrokenProcessPool as error:
                raise ConfigError(
                    f"{contender.name} was killed by the system, probably out of memory; measure a smaller "
                    "batch or fewer beams",
                    work,
                ) from error
    return Race(work, "MB", figures, facts)


def peak_of(contender: Contender, device: torch.device, threads: int) -> int:
    """Peak bytes of a contender's second run; on a GPU of both, as what the first one keeps there counts."""
    if sys.platform == "linux":
        # Otherwise glibc keeps freed blocks, which would count for the next contender.
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, RETURNED_AT_ONCE)
    # On a GPU, workspaces of cuBLAS would also count, of which a captured step has several.
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":16:8"
    open_device(str(device), threads)
    run = contender.prepare()
    peak = PeakMemory(device)
    run()
    if device.type == "cpu":
        peak = PeakMemory(device)  # without the code that the first run has loaded
    run()
    return peak.taken()
