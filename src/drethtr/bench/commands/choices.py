"""Options shared by several benchmarks, and their parsing."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drethtr.base.config import named
from drethtr.base.errors import ConfigError
from drethtr.base.files import write_text
from drethtr.cli.outputs import refuse_ending, refuse_results, write_json

if TYPE_CHECKING:
    from drethtr.paper.speed.decoding import Grid
    from drethtr.paper.speed.peers import KnownLine
    from drethtr.paper.speed.race import Rounds
    from drethtr.paper.speed.report import BenchmarkReport
    from drethtr.recognition.decoding.strategies import Strategy

Data = Annotated[list[str], typer.Argument(metavar="DATA", help="Transcribed lines, as for `drethtr evaluate`.")]
Count = Annotated[int, typer.Option(metavar="N", min=1, help="Number of lines to read, from the start of the data.")]
Networks = Annotated[str, typer.Option(metavar="A,B", help="Network sizes: compact, small, base.")]
Batches = Annotated[str, typer.Option(metavar="N,M", help="Batch sizes, in lines.")]
Beams = Annotated[str, typer.Option(metavar="N,M", help="Beam widths.")]
Decoders = Annotated[str, typer.Option(metavar="A,B", help="Decoders to compare; the first is the baseline.")]
Quick = Annotated[bool, typer.Option("--quick", help="A quick check that it works, about a minute.")]
PlotFile = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Also draw a chart (.svg).")]
KrakenModel = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Model for kraken; without it kraken is left out.")
]

NETWORKS, BATCHES, BEAMS, DECODERS = "compact,small,base", "1,8", "1,5,10", "greedy,verified,ctc,joint,beam:10"
LENGTHS = "64,94,128,256,512,1000,2000,5000,10000"


def refuse_outputs(json_file: Path | None, plot_file: Path | None, *, force: bool) -> None:
    """Refuse a chart that is not .svg, and, without `force`, existing outputs.

    Raises:
        ConfigError: naming the file.
    """
    refuse_ending(plot_file, ".svg")
    refuse_results(json_file, plot_file, force=force)


def deliver(report: "BenchmarkReport", json_file: Path | None, plot_file: Path | None) -> "BenchmarkReport":
    """Print a report, and write the requested files."""
    typer.echo(report.table() + "\n")
    if json_file is not None:
        write_json(json_file, report.to_json())
    if plot_file is not None:
        write_text(plot_file, report.plot())
    return report


def rounds(quick: bool) -> "Rounds":
    """The number of rounds."""
    from drethtr.paper.speed.race import QUICK, Rounds

    return QUICK if quick else Rounds()


def grid(networks: str, batches: str, beams: str, quick: bool) -> "Grid":
    """Parse the options for a grid of tasks; if quick, use the smallest ones.

    Raises:
        ConfigError: for an unknown network.
    """
    from drethtr.paper.speed.decoding import Grid
    from drethtr.recognition.model.architecture import PRESETS

    names = parts(networks)
    for name in names:
        named("network", name, PRESETS)
    return Grid(("compact",), (1,), (1, 2)) if quick else Grid(names, numbers(batches), numbers(beams))


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


def read_lines(data: Sequence[str], count: int) -> list["KnownLine"]:
    """The first lines of the data, with decoded images and texts."""
    from drethtr.datasets.open import open_all
    from drethtr.paper.speed.peers import KnownLine

    return [KnownLine(sample.line(), sample.text) for sample in open_all(data)[:count]]
