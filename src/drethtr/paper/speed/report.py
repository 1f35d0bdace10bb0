"""Benchmark reports: as a Markdown table, as JSON, and as a chart."""

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from drethtr.base.version import __version__
from drethtr.paper.speed.race import Race, Spread
from drethtr.pictures.chart import Mark, Panel, curves, ranges


def ratio_chart(title: str, races: Sequence[Race]) -> str:
    """A chart of ratios to the first contender, which is at 1."""
    rows: list[tuple[str, dict[str, Mark]]] = [
        (race.work, {name: race.ratio(name) for name in race.figures}) for race in races
    ]
    first = next(iter(races[0].figures))
    return ranges(title, f"times {first}", rows)


def curve_chart(title: str, axis: str, races: Sequence[Race]) -> str:
    """A chart of medians over the x values of races, with a panel per unit."""
    panels = []
    for unit in dict.fromkeys(race.unit for race in races):
        own = [race for race in races if race.unit == unit]
        lines = {
            name: [(race.at, race.spread(name).median) for race in own if race.at is not None]
            for name in own[0].figures
        }
        panels.append(Panel(unit, axis, lines))
    return curves(title, panels)


@dataclass(frozen=True)
class BenchmarkReport:
    """The races of a benchmark on a device, with notes that explain the figures.

    axis  what the x values of the races count, if they are points of curves
    """

    title: str
    notes: Sequence[str]
    races: Sequence[Race]
    device: torch.device
    axis: str | None = None

    def table(self) -> str:
        """All figures in Markdown: median [range], and the ratio to the first contender of each race."""
        head = ("work", "", "median [range]", "ratio [range]")
        rows = [row for race in self.races for row in rows_of(race)]
        return "\n".join([f"## {self.title}", "", *(f"{note}\n" for note in self.notes), markdown_table(head, rows)])

    def to_json(self) -> dict[str, Any]:
        """All results, including single figures and the machine."""
        return {
            "title": self.title,
            "notes": list(self.notes),
            "machine": machine(self.device),
            "races": [
                {
                    "work": race.work,
                    "unit": race.unit,
                    "facts": dict(race.facts),
                    "at": race.at,
                    "contenders": [
                        {
                            "name": name,
                            "figures": list(figures),
                            "median": race.spread(name).median,
                            "ratio": race.ratio(name)._asdict(),
                        }
                        for name, figures in race.figures.items()
                    ],
                }
                for race in self.races
            ],
        }

    def plot(self) -> str:
        """The chart as SVG."""
        if self.axis is None:
            return ratio_chart(self.title, self.races)
        return curve_chart(self.title, self.axis, self.races)


def rows_of(race: Race) -> list[tuple[str, str, str, str]]:
    """The table rows of a race: its contenders, then its facts."""
    rows = []
    for number, name in enumerate(race.figures):
        ratio = shown(race.ratio(name)) if number else ""
        rows.append((race.work if not number else "", name, f"{shown(race.spread(name))} {race.unit}", ratio))
    return rows + [("", f"*{name}*", readable(value), "") for name, value in race.facts.items()]


def shown(spread: Spread) -> str:
    """A median with its range, if there is more than one figure."""
    if spread.low == spread.high:
        return readable(spread.median)
    return f"{readable(spread.median)} [{readable(spread.low)}, {readable(spread.high)}]"


def readable(value: float) -> str:
    """Format a number with three significant digits, or all digits before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def machine(device: torch.device) -> dict[str, Any]:
    """The machine and software that produced figures on a device."""
    return {
        "processor": processor(),
        "threads": torch.get_num_threads(),
        "device": str(device),
        "gpu": torch.cuda.get_device_name(device) if device.type == "cuda" else None,
        "system": platform.platform(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "drethtr": __version__,
    }


def processor() -> str:
    """The name of the processor, if the system knows it."""
    names = Path("/proc/cpuinfo")
    if names.exists():
        for line in names.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format a table with aligned columns."""
    widths = [max(3, *(len(row[column]) for row in [head, *rows])) for column in range(len(head))]
    rule = ["-" * width for width in widths]
    return "\n".join(
        "| " + " | ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)) + " |"
        for row in [head, rule, *rows]
    )
