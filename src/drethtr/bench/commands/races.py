"""Benchmarks with a table and a chart: networks, decoders and other recognizers compared."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drethtr.base.config import named
from drethtr.base.errors import require
from drethtr.base.files import make_folder, write_text
from drethtr.bench.commands.choices import (
    BATCHES,
    BEAMS,
    DECODERS,
    LENGTHS,
    NETWORKS,
    Batches,
    Beams,
    Count,
    Data,
    Decoders,
    KrakenModel,
    Networks,
    PlotFile,
    Quick,
    deliver,
    grid,
    numbers,
    parts,
    read_lines,
    refuse_outputs,
    rounds,
    strategies_named,
)
from drethtr.cli.options import (
    DeviceName,
    ForceResults,
    JSONFile,
    PrecisionName,
    Threads,
)
from drethtr.cli.outputs import refuse_results

if TYPE_CHECKING:
    import torch

    from drethtr.paper.speed.report import BenchmarkReport

app = typer.Typer()


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
    """Compare retention with a key-value cache and the published algorithm, with random weights."""
    require("torch", "train")
    from drethtr.network.device import open_device
    from drethtr.paper.speed.decoding import measure

    refuse_outputs(json_file, plot_file, force=force)
    tasks = grid(networks, batches, beams, quick).tasks(open_device(device, threads))
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
    """Compare the peak memory of these, each in its own process."""
    require("torch", "train")
    from drethtr.network.device import open_device
    from drethtr.paper.speed.memory import measure

    refuse_outputs(json_file, plot_file, force=force)
    tasks = grid(networks, batches, beams, quick).tasks(open_device(device, threads))
    return deliver(measure(tasks), json_file, plot_file)


@app.command()
def length(
    network: Annotated[
        str, typer.Option(metavar="NAME", help="Size of the network: compact, small or base.")
    ] = "small",
    beams: Annotated[int, typer.Option(metavar="N", min=1, help="Number of beams, reordered at every step.")] = 10,
    lengths: Annotated[str, typer.Option(metavar="N,M", help="Numbers of tokens before the measured one.")] = LENGTHS,
    quick: Quick = False,
    json_file: JSONFile = None,
    plot_file: PlotFile = None,
    force: ForceResults = False,
    device: DeviceName = "auto",
    threads: Threads = None,
) -> Any:
    """Compare the cost of the next token after N tokens: retention and a key-value cache."""
    require("torch", "train")
    from drethtr.network.device import open_device
    from drethtr.paper.speed.length import measure

    refuse_outputs(json_file, plot_file, force=force)
    task = grid(network, "1", str(beams), quick).tasks(open_device(device, threads))[-1]
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
    """Compare the decoders of the included model, on real lines."""
    require("torch", "train")
    from drethtr.network.device import open_device
    from drethtr.paper.speed.strategies import measure
    from drethtr.recognition.network import precision_named

    refuse_outputs(json_file, plot_file, force=force)
    report = measure(
        [known.line for known in read_lines(data, 2 if quick else count)],
        strategies_named(decoders),
        numbers(batches),
        rounds(quick),
        open_device(device, threads),
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
        str,
        typer.Option("--peers", metavar="A,B", help="Compare with trocr (slow), rapidocr, tesseract."),
    ] = "trocr,rapidocr,tesseract",
    kraken_model: KrakenModel = None,
    quick: Quick = False,
    json_file: JSONFile = None,
    plot_file: PlotFile = None,
    force: ForceResults = False,
    precision: Annotated[str, typer.Option(metavar="A,B", help="One or more of float32, int8, bfloat16.")] = "float32",
    device: DeviceName = "auto",
    threads: Threads = None,
) -> Any:
    """Compare the included model with TrOCR, rapidocr, Tesseract and kraken, where installed, on real lines."""
    require("torch", "train")
    from drethtr.network.device import open_device
    from drethtr.paper.speed.peers import PEERS, check_kraken, measure
    from drethtr.recognition.network import precision_named

    chosen = [named("peer", name, {peer: peer for peer in PEERS}) for name in parts(others)]
    refuse_outputs(json_file, plot_file, force=force)
    if kraken_model is not None:
        check_kraken(kraken_model)
    known = read_lines(data, 2 if quick else count)
    report = measure(
        known,
        strategies_named(decoders),
        numbers(batches),
        rounds(quick),
        open_device(device, threads),
        [precision_named(name) for name in parts(precision)],
        chosen,
        kraken_model,
    )
    return deliver(report, json_file, plot_file)


@app.command("all")
def everything(
    data: Data,
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Where results.md, JSON files and charts go.")],
    quick: Quick = False,
    force: ForceResults = False,
    device: DeviceName = "auto",
    threads: Threads = None,
) -> None:
    """Run the five benchmarks above; write tables, JSON and charts to a folder (an hour on two cores)."""
    require("torch", "train")
    from drethtr.network.device import open_device

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
    check_all(data, open_device(device, threads))
    tables = ["# Figures of `drethtr bench all`"]
    for name, command in commands.items():
        chart = output / f"{name}.svg"
        files = {"json_file": output / f"{name}.json", "plot_file": chart}
        report: BenchmarkReport = command(quick=quick, force=force, device=device, threads=threads, **files)
        tables.append(f"{report.table()}\n\n![{report.title}]({chart.name})")
        write_text(output / "results.md", "\n\n".join(tables) + "\n")


def check_all(data: Sequence[str], device: "torch.device") -> None:
    """Fail at once, not after half an hour, if lines are unreadable, memory is unmeasurable or a package is missing."""
    from drethtr.paper.speed.peak import PeakMemory
    from drethtr.paper.speed.peers import check_transformers

    read_lines(data, 1)
    PeakMemory(device)
    check_transformers()
