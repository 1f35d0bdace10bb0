"""Measure the resources of a server, memory, descriptors and temporary files, and detect growth (Linux)."""

import os
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

MORE_MEMORY, MORE = 1.1, 8
"""Tolerated growth: a tenth of the memory, and a few descriptors and temporary files."""

TICKS = os.sysconf("SC_CLK_TCK")


class Held(NamedTuple):
    """The resources of an idle server and its children."""

    megabytes: int
    descriptors: int
    processes: int
    temporary: int


def family(process: int) -> list[int]:
    """A process and its descendants."""
    children = Path(f"/proc/{process}/task").glob("*/children")
    return [process, *(one for found in children for child in found.read_text().split() for one in family(int(child)))]


def held(process: int, temporary: Path) -> Held:
    """Measure the resources of a server; `temporary` is its folder for temporary files."""
    processes = family(process)
    pages = sum(int(Path(f"/proc/{one}/statm").read_text().split()[1]) for one in processes)
    descriptors = sum(len(list(Path(f"/proc/{one}/fd").iterdir())) for one in processes)
    megabytes = pages * os.sysconf("SC_PAGE_SIZE") >> 20
    return Held(megabytes, descriptors, len(processes), sum(1 for _ in temporary.rglob("*")))


def seconds(process: int) -> float:
    """Processor time of a process and its children, including those that have ended."""
    fields = [Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split() for one in family(process)]
    return sum(int(ticks) for row in fields for ticks in row[11:15]) / TICKS


def grown(minutes: Sequence[Held]) -> list[str]:
    """Resources that grew from the second to the last third of the minutes; the first third is for warming up."""
    third = len(minutes) // 3
    if not third:
        return []
    found = []
    for name in Held._fields:
        before, after = (
            median(getattr(one, name) for one in part) for part in (minutes[third : 2 * third], minutes[-third:])
        )
        if after > (before * MORE_MEMORY if name == "megabytes" else before + MORE):
            found.append(f"{name}: {before:.0f}, later {after:.0f}")
    return found
