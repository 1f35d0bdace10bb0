"""Measure the peak memory of some work, beyond what was allocated before.

On a GPU, it is what torch allocates. On a CPU, it is the resident memory reported by Linux, measured in a separate
process, so that memory freed earlier cannot hide what is needed.
"""

import ctypes
import gc
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

import torch

from drethtr.base.errors import ConfigError
from drethtr.paper.speed.race import Contender, Race

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
    """Peak bytes of a contender's work, after one warm-up run."""
    if sys.platform == "linux":
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, RETURNED_AT_ONCE)
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    run = contender.prepare()
    run()
    peak = PeakMemory(device)
    run()
    return peak.taken()
