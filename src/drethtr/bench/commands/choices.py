"""Options shared by several benchmarks, and their parsing."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drethtr.base.config import named
from drethtr.base.errors import ConfigError, require
from drethtr.base.files import write_text
from drethtr.cli.options import DeviceName, ForceResults, JSONFile, Threads, with_options
from drethtr.cli.outputs import refuse_ending, refuse_results, write_json
from drethtr.cli.screen import echo

if TYPE_CHECKING:
    import torch

    from drethtr.paper.speed.decoding import Task
    from drethtr.paper.speed.peers import KnownLine
    from drethtr.paper.speed.race import Rounds
    from drethtr.paper.speed.report import BenchmarkReport
    from drethtr.recognition.decoding.strategies import Strategy

Data = Annotated[list[str], typer.Argument(metavar="DATA", help="Transcribed lines, as for `drethtr evaluate`.")]
Count = Annotated[int, typer.Option(metavar="N", min=1, help="Number of lines to read, from the start of the data.")]
Networks = Annotated[str | None, typer.Option(metavar="A,B", help="Network sizes: compact, small, base.")]
Batches = Annotated[str, typer.Option(metavar="N,M", help="Batch sizes, in lines.")]
AnyBatches = Annotated[str | None, typer.Option(metavar="N,M", help="Batch sizes, in lines.")]
Beams = Annotated[str | None, typer.Option(metavar="N,M", help="Beam widths.")]
Decoders = Annotated[str, typer.Option(metavar="A,B", help="Decoders to compare; the first is the baseline.")]

SMALLEST = "compact", "1", "1,2"
"""Networks, batches and beams of a quick check."""


@dataclass(frozen=True, kw_only=True)
class RaceOptions:
    """The options of every benchmark with a table and a chart; `with_race_options` gives them to a command."""

    quick: Annotated[bool, typer.Option("--quick", help="A quick check that it works, about a minute.")] = False
    json_file: JSONFile = None
    plot_file: Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Also draw a chart (.svg).")] = None
    force: ForceResults = False
    device: DeviceName = "auto"
    threads: Threads = None

    def open(self) -> "torch.device":
        """The device, if torch is installed and the outputs can be written.

        Raises:
            MissingExtraError: if torch is not installed.
            ConfigError: naming a chart that is not .svg, or, without `force`, an existing output.
        """
        require("torch", "train")
        from drethtr.network.devices import open_device

        refuse_ending(self.plot_file, ".svg")
        refuse_results(self.json_file, self.plot_file, force=self.force)
        return open_device(self.device, self.threads)

    @property
    def rounds(self) -> "Rounds":
        """The number of rounds."""
        from drethtr.paper.speed.race import QUICK, Rounds

        return QUICK if self.quick else Rounds()

    def tasks(self, given: Sequence[str | None], usual: Sequence[str]) -> "list[Task]":
        """Decoding tasks for all combinations of networks, batch sizes and beams.

        Missing choices are the usual ones or, if quick, the smallest.
        """
        device = self.open()  # first, because what follows imports torch
        from drethtr.paper.speed.decoding import tasks_of
        from drethtr.recognition.model.architecture import PRESETS

        others = SMALLEST if self.quick else usual
        networks, batches, beams = (other if own is None else own for own, other in zip(given, others, strict=True))
        for name in parts(networks):
            named("network", name, PRESETS)
        return tasks_of(parts(networks), numbers(batches), numbers(beams), device)

    def deliver(self, report: "BenchmarkReport") -> "BenchmarkReport":
        """Print a report, and write the requested files."""
        echo(report.table() + "\n")
        if self.json_file is not None:
            write_json(self.json_file, report.to_json())
        if self.plot_file is not None:
            write_text(self.plot_file, report.plot())
        return report


with_race_options = with_options("race", RaceOptions)


def numbers(text: str) -> list[int]:
    """Parse positive integers, separated by commas.

    Raises:
        ConfigError: if it is anything else.
    """
    found = parts(text)
    if not all(part.isdecimal() and int(part) for part in found):
        raise ConfigError(f"{text!r} is not a list of positive integers such as 1,8,32")
    return [int(part) for part in found]


def strategies_named(decoders: str) -> list[tuple[str, "Strategy"]]:
    """Parse names of strategies, separated by commas."""
    from drethtr.recognition.decoding.strategies import strategy_named

    return [(name, strategy_named(name)) for name in parts(decoders)]


def parts(text: str) -> list[str]:
    """Split a list at commas."""
    return [part.strip() for part in text.split(",")]


def first_lines(data: Sequence[str], count: int) -> list["KnownLine"]:
    """The first lines of the data, with decoded images and texts."""
    from drethtr.datasets.open import open_all
    from drethtr.paper.speed.peers import KnownLine

    return [KnownLine(sample.line(), sample.text) for sample in open_all(data)[:count]]
