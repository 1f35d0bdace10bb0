"""`drethtr bench`: how fast drethtr is on this machine, and how much memory it takes."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drethtr.base.config import named
from drethtr.base.errors import ConfigError, require
from drethtr.base.outputs import make_folder, write_text
from drethtr.base.processors import free_processors
from drethtr.cli.choices import (
    DecoderName,
    DeviceName,
    ForceResults,
    JSONFile,
    ModelFile,
    PrecisionName,
    Settings,
    Threads,
    Workers,
    device_named,
)
from drethtr.cli.outputs import refuse_ending, refuse_results, write_json

if TYPE_CHECKING:
    import torch

    from drethtr.recognition.search.strategy import Strategy
    from drethtr.research.benchmarks.decoding import Grid
    from drethtr.research.benchmarks.peers import KnownLine
    from drethtr.research.benchmarks.race import Rounds
    from drethtr.research.benchmarks.report import BenchmarkReport

app = typer.Typer(no_args_is_help=True)

Data = Annotated[list[str], typer.Argument(metavar="DATA", help="Lines with text, as for `drethtr evaluate`.")]
Count = Annotated[int, typer.Option(metavar="N", min=1, help="How many lines to read, the first of the data.")]
Networks = Annotated[str, typer.Option(metavar="A,B", help="Shapes of networks: compact, small, base.")]
Batches = Annotated[str, typer.Option(metavar="N,M", help="How many lines to read at a time.")]
Beams = Annotated[str, typer.Option(metavar="N,M", help="How many beams to keep.")]
Decoders = Annotated[str, typer.Option(metavar="A,B", help="Decoders; the first is the baseline.")]
Quick = Annotated[bool, typer.Option("--quick", help="Just enough to show that it works, about a minute.")]
PlotFile = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Also draw a chart, as .svg.")]
KrakenModel = Annotated[Path | None, typer.Option(metavar="FILE", help="The model that kraken reads with.")]

NETWORKS, BATCHES, BEAMS, DECODERS = "compact,small,base", "1,8", "1,5,10", "greedy,verified,ctc,joint,beam:10"
LENGTHS = "64,94,128,256,512,1000,2000,5000,10000"


@app.callback()
def bench() -> None:
    """Measure how fast drethtr is on this machine, and how much memory it takes."""


@app.command()
def decoding(
    networks: Networks = NETWORKS,
    batches: Batches = BATCHES,
    beams: Beams = BEAMS,
    quick: Quick = False,
    json_file: JSONFile = None,
    plot_file: PlotFile = None,
    force: ForceResults = False,
    device: DeviceName = "auto",
    threads: Threads = None,
) -> Any:
    """Retention against a key-value cache and the published algorithm, with random weights."""
    require("torch", "train")
    from drethtr.research.benchmarks.decoding import measure

    refuse_ending(plot_file, ".svg")
    refuse_results(json_file, plot_file, force=force)
    tasks = grid(networks, batches, beams, quick).tasks(opened(device, threads))
    return deliver(measure(tasks, rounds(quick)), json_file, plot_file)


@app.command()
def memory(
    networks: Networks = "compact,small",
    batches: Batches = "16",
    beams: Beams = "1,10",
    quick: Quick = False,
    json_file: JSONFile = None,
    plot_file: PlotFile = None,
    force: ForceResults = False,
    device: DeviceName = "auto",
    threads: Threads = None,
) -> Any:
    """Peak memory of retention, a key-value cache and the published algorithm, each in a process of its own."""
    require("torch", "train")
    from drethtr.research.benchmarks.memory import measure

    refuse_ending(plot_file, ".svg")
    refuse_results(json_file, plot_file, force=force)
    tasks = grid(networks, batches, beams, quick).tasks(opened(device, threads))
    return deliver(measure(tasks), json_file, plot_file)


@app.command()
def length(
    network: Annotated[
        str, typer.Option(metavar="NAME", help="The shape of the network: compact, small, base.")
    ] = "small",
    beams: Annotated[int, typer.Option(metavar="N", min=1, help="How many beams change places at every step.")] = 10,
    lengths: Annotated[str, typer.Option(metavar="N,M", help="Tokens written before.")] = LENGTHS,
    quick: Quick = False,
    json_file: JSONFile = None,
    plot_file: PlotFile = None,
    force: ForceResults = False,
    device: DeviceName = "auto",
    threads: Threads = None,
) -> Any:
    """What the next token costs behind a text of N: retention against a key-value cache."""
    require("torch", "train")
    from drethtr.research.benchmarks.length import measure

    refuse_ending(plot_file, ".svg")
    refuse_results(json_file, plot_file, force=force)
    task = grid(network, "1", str(beams), quick).tasks(opened(device, threads))[-1]
    return deliver(measure(task, numbers(lengths)[: 2 if quick else None], rounds(quick)), json_file, plot_file)


@app.command()
def strategies(
    data: Data,
    decoders: Decoders = DECODERS,
    batches: Batches = BATCHES,
    count: Count = 40,
    quick: Quick = False,
    json_file: JSONFile = None,
    plot_file: PlotFile = None,
    force: ForceResults = False,
    precision: PrecisionName = "float32",
    device: DeviceName = "auto",
    threads: Threads = None,
) -> Any:
    """The shipped model with every decoder, on real lines."""
    require("torch", "train")
    from drethtr.recognition.recognizer import precision_named
    from drethtr.research.benchmarks.strategies import measure

    refuse_ending(plot_file, ".svg")
    refuse_results(json_file, plot_file, force=force)
    report = measure(
        [known.line for known in read_lines(data, 2 if quick else count)],
        strategies_named(decoders),
        numbers(batches),
        rounds(quick),
        opened(device, threads),
        precision_named(precision),
    )
    return deliver(report, json_file, plot_file)


@app.command()
def peers(
    data: Data,
    decoders: Decoders = DECODERS,
    batches: Batches = BATCHES,
    count: Count = 24,
    others: Annotated[
        str, typer.Option("--peers", metavar="A,B", help="Which others: trocr (slow), rapidocr, tesseract.")
    ] = "trocr,rapidocr,tesseract",
    kraken_model: KrakenModel = None,
    quick: Quick = False,
    json_file: JSONFile = None,
    plot_file: PlotFile = None,
    force: ForceResults = False,
    precision: Annotated[str, typer.Option(metavar="A,B", help="float32, int8, bfloat16: one or several.")] = "float32",
    device: DeviceName = "auto",
    threads: Threads = None,
) -> Any:
    """The shipped model against TrOCR, and rapidocr, tesseract and kraken where installed, on real lines."""
    require("torch", "train")
    from drethtr.base.config import named
    from drethtr.recognition.recognizer import precision_named
    from drethtr.research.benchmarks.peers import PEERS, check_kraken, measure

    refuse_ending(plot_file, ".svg")
    chosen = [named("peer", name, {peer: peer for peer in PEERS}) for name in parts(others)]
    refuse_results(json_file, plot_file, force=force)
    if kraken_model is not None:
        check_kraken(kraken_model)
    known = read_lines(data, 2 if quick else count)
    report = measure(
        known,
        strategies_named(decoders),
        numbers(batches),
        rounds(quick),
        opened(device, threads),
        [precision_named(name) for name in parts(precision)],
        chosen,
        kraken_model,
    )
    return deliver(report, json_file, plot_file)


@app.command()
def training(
    run: Annotated[Path | None, typer.Argument(metavar="RUN", help="A TOML file: whose network to train.")] = None,
    settings: Settings = None,
    count: Annotated[int, typer.Option(metavar="N", min=1, help="How many lines to train on.")] = 1500,
    workers: Workers = 1,
    json_file: JSONFile = None,
    force: ForceResults = False,
    device: DeviceName = "auto",
    threads: Threads = None,
) -> None:
    """Lines per second in training, the share of the time spent waiting for lines, and the memory it takes.

    The lines are made up, 64 pixels high and 800 wide on average. Without a run file, the network is COMPACT.
    """
    require("torch", "train")
    from drethtr.base import config
    from drethtr.research.benchmarks.training import default_run, measure
    from drethtr.training.run import RunConfig

    refuse_results(json_file, force=force)
    wanted = config.load(RunConfig, run, settings or ()) if run is not None else default_run()
    speed = measure(wanted, lines=count, workers=workers, device=opened(device, threads))
    peak = f"; {speed.peak_bytes / 1e6:,.0f} MB at the peak" if speed.peak_bytes else ""
    typer.echo(
        f"{speed.lines_per_second:.1f} lines/s over {speed.lines:,} lines, {speed.mean_width:.0f} pixels wide on "
        f"average; {speed.loading:.1%} of the time spent waiting for lines{peak}"
    )
    if json_file is not None:
        write_json(json_file, speed._asdict())


@app.command()
def pages(
    data: Annotated[list[str], typer.Argument(metavar="DATA", help="PAGE or ALTO files with marked lines.")],
    lines: Annotated[
        str, typer.Option(metavar="NAME", help="What finds the lines: rapid, projection, kraken.")
    ] = "rapid",
    json_file: JSONFile = None,
    force: ForceResults = False,
    device: DeviceName = "auto",
    threads: Threads = None,
) -> None:
    """How many marked lines of pages are found, the seconds that each stage takes, and the memory of a large scan."""
    require("torch", "train")
    from drethtr.evaluation.whole_pages import open_references
    from drethtr.layout.finders import finder_named
    from drethtr.recognition.recognizer import Recognizer
    from drethtr.research.benchmarks.pages import measure, peak_bytes, table, to_json

    refuse_results(json_file, force=force)
    originals, finder = open_references(data), finder_named(lines)
    figures = measure(originals, Recognizer.load(device=device, threads=threads), finder)
    peak = peak_bytes(originals[0], finder, threads)
    typer.echo(table(figures, peak))
    if json_file is not None:
        write_json(json_file, to_json(figures, peak))


@app.command()
def editor(
    pages: Annotated[int, typer.Option(metavar="N", min=1, help="Pages of the folder.")] = 500,
    lines: Annotated[int, typer.Option(metavar="N", min=1, help="Lines of each page.")] = 40,
    json_file: JSONFile = None,
    force: ForceResults = False,
) -> None:
    """How long requests to drethtr edit take in a large folder, which is made for that."""
    from drethtr.recognition.recognizer import Recognizer
    from drethtr.research.benchmarks.editor import measure, table

    refuse_results(json_file, force=force)
    figures = measure(pages, lines, Recognizer.load(device="cpu"))
    typer.echo(table(figures))
    if json_file is not None:
        write_json(json_file, {"figures": [figure._asdict() for figure in figures]})


@app.command()
def search(
    index: Annotated[Path, typer.Argument(metavar="INDEX", help="A file that drethtr index has made.")],
    queries: Annotated[list[str], typer.Argument(metavar="QUERY", help="What to search for; each is a query.")],
    lines: Annotated[
        int, typer.Option(metavar="N", min=1, help="Repeat the pages of the index until it has so many lines.")
    ] = 100_000,
    json_file: JSONFile = None,
    force: ForceResults = False,
    threads: Threads = None,
) -> None:
    """How long queries take in an index of many lines."""
    from drethtr.research.benchmarks.searching import measure, table

    refuse_results(json_file, force=force)
    found, figures = measure(index, queries, lines, threads)
    typer.echo(table(found, figures))
    if json_file is not None:
        write_json(json_file, {"lines": found, "figures": [figure._asdict() for figure in figures]})


@app.command()
def drift(
    data: Data,
    model: ModelFile = None,
    decoder: DecoderName = None,
    count: Count = 40,
    json_file: JSONFile = None,
    force: ForceResults = False,
    precision: PrecisionName = "float32",
    device: DeviceName = "auto",
    threads: Threads = None,
) -> None:
    """How far the parallel and the recurrent form of a model's decoder are apart on the texts that it reads."""
    require("torch", "train")
    from drethtr.recognition.adapter_file import load_named
    from drethtr.recognition.model_file import SHIPPED
    from drethtr.recognition.recognizer import precision_named
    from drethtr.recognition.search.strategies import strategy_named
    from drethtr.research.drift import TOLERANCE, measure

    refuse_results(json_file, force=force)
    strategy = None if decoder is None else strategy_named(decoder)
    lines = [known.line for known in read_lines(data, count)]
    where, exactness = opened(device, threads), precision_named(precision)
    drifts = measure(load_named(model or SHIPPED, None), strategy, lines, where, exactness)
    most = max(drifts)
    typer.echo(
        f"log-probabilities differ by at most {most:.1e} on {len(lines):,} lines, by {median(drifts):.1e} on a typical "
        f"one; {'more than' if most > TOLERANCE else 'within'} the tolerated {TOLERANCE:g}"
    )
    if most > TOLERANCE:
        typer.echo(
            "warning: the text may depend on the decoder's form; compare --decoder greedy and verified", err=True
        )
    if json_file is not None:
        write_json(json_file, {"drifts": drifts, "tolerance": TOLERANCE})


@app.command("all")
def everything(
    data: Data,
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Where results.md, JSON files and charts go.")],
    quick: Quick = False,
    force: ForceResults = False,
    device: DeviceName = "auto",
    threads: Threads = None,
) -> None:
    """All of these but training, pages and drift: tables, JSON and charts in a folder, in an hour on two cores."""
    require("torch", "train")
    commands: dict[str, Callable[..., Any]] = {
        "decoding": partial(decoding, batches="1,8,32"),
        "memory": memory,
        "length": length,
        "strategies": partial(strategies, data),
        "peers": partial(peers, data),
    }
    make_folder(output)
    results = [output / f"{name}{ending}" for name in commands for ending in (".json", ".svg")]
    refuse_results(output / "results.md", *results, force=force)
    check_all(data, opened(device, threads))
    tables = ["# Figures of `drethtr bench all`"]
    for name, command in commands.items():
        chart = output / f"{name}.svg"
        files = {"json_file": output / f"{name}.json", "plot_file": chart}
        report: BenchmarkReport = command(quick=quick, force=force, device=device, threads=threads, **files)
        tables.append(f"{report.table()}\n\n![{report.title}]({chart.name})")
        write_text(output / "results.md", "\n\n".join(tables) + "\n")


def check_all(data: Sequence[str], device: "torch.device") -> None:
    """Fail at once, not after half an hour, for unreadable lines, unmeasurable memory or a missing package."""
    from drethtr.research.benchmarks.peak import PeakMemory
    from drethtr.research.benchmarks.peers import check_transformers

    read_lines(data, 1)
    PeakMemory(device)
    check_transformers()


def deliver(report: "BenchmarkReport", json_file: Path | None, plot_file: Path | None) -> "BenchmarkReport":
    """Print a report, and write the files that were asked for."""
    typer.echo(report.table() + "\n")
    if json_file is not None:
        write_json(json_file, report.to_json())
    if plot_file is not None:
        write_text(plot_file, report.plot())
    return report


def opened(device: str, threads: int | None) -> "torch.device":
    """The device of a name, with torch and all that it is compared with on so many threads.

    Raises:
        ConfigError: if there is no such device.
    """
    import torch

    from drethtr.network.device import device_called

    torch.set_num_threads(threads or free_processors())
    torch.set_flush_denormal(True)  # arithmetic with denormal numbers is many times slower
    return device_called(device_named(device))


def rounds(quick: bool) -> "Rounds":
    """How long to measure."""
    from drethtr.research.benchmarks.race import QUICK, Rounds

    return QUICK if quick else Rounds()


def grid(networks: str, batches: str, beams: str, quick: bool) -> "Grid":
    """The tasks of some names; if quick, the smallest ones.

    Raises:
        ConfigError: for an unknown network.
    """
    from drethtr.recognition.architecture import PRESETS
    from drethtr.research.benchmarks.decoding import Grid

    names = parts(networks)
    for name in names:
        named("network", name, PRESETS)
    return Grid(("compact",), (1,), (1, 2)) if quick else Grid(names, numbers(batches), numbers(beams))


def numbers(text: str) -> list[int]:
    """Whole numbers above 0, separated by commas.

    Raises:
        ConfigError: if there is anything else.
    """
    found = parts(text)
    if not all(part.isdecimal() and int(part) for part in found):
        raise ConfigError(f"{text!r} is not understood; expected whole numbers above 0, as in 1,8,32")
    return [int(part) for part in found]


def strategies_named(decoders: str) -> list[tuple[str, "Strategy"]]:
    """Strategies by their names, separated by commas."""
    from drethtr.recognition.search.strategies import strategy_named

    return [(name, strategy_named(name)) for name in parts(decoders)]


def parts(text: str) -> list[str]:
    """The parts of a list separated by commas."""
    return [part.strip() for part in text.split(",")]


def read_lines(data: Sequence[str], count: int) -> list["KnownLine"]:
    """The first lines of some data, decoded, with their texts."""
    from drethtr.lines.sources import open_all
    from drethtr.research.benchmarks.peers import KnownLine

    return [KnownLine(sample.line(), sample.text) for sample in open_all(data)[:count]]
