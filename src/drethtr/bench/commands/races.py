"""Benchmarks with a table and a chart: networks, decoders and other recognizers compared."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from drethtr.base.config import named
from drethtr.base.errors import require
from drethtr.base.files import make_folder, write_text
from drethtr.bench.commands.choices import (
    AnyBatches,
    Batches,
    Beams,
    Count,
    Data,
    Decoders,
    Networks,
    RaceOptions,
    first_lines,
    numbers,
    parts,
    strategies_named,
    with_race_options,
)
from drethtr.cli.options import DeviceName, ForceResults, PrecisionName, Threads, output_option
from drethtr.cli.outputs import refuse_results

if TYPE_CHECKING:
    from drethtr.paper.speed.report import BenchmarkReport

BATCHES, DECODERS = "1,8", "greedy,verified,ctc,joint,beam:10"
LENGTHS = "64,94,128,256,512,1024,2000,5000,10000"

app = typer.Typer()


@app.command()
@with_race_options
def decoding(networks: Networks = None, batches: AnyBatches = None, beams: Beams = None, *, race: RaceOptions) -> Any:
    """Compare retention with a key-value cache and the published algorithm, with random weights.

    By default of all sizes, with batches of 1 and 8, and 1, 5 and 10 beams.
    """
    tasks = race.tasks((networks, batches, beams), ("compact,small,base", BATCHES, "1,5,10"))
    from drethtr.paper.speed.decoding import measure

    return race.deliver(measure(tasks, race.rounds))


@app.command()
@with_race_options
def memory(networks: Networks = None, batches: AnyBatches = None, beams: Beams = None, *, race: RaceOptions) -> Any:
    """Compare the peak memory of the same three, each in its own process.

    By default of compact and small, with batches of 16, and 1 and 10 beams.
    """
    tasks = race.tasks((networks, batches, beams), ("compact,small", "16", "1,10"))
    from drethtr.paper.speed.decoding import measure_memory

    return race.deliver(measure_memory(tasks))


@app.command()
@with_race_options
def length(
    network: Annotated[
        str | None, typer.Option(metavar="NAME", help="Size of the network: compact, small or base.")
    ] = None,
    beams: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Number of beams, reordered at every step.")
    ] = None,
    lengths: Annotated[str, typer.Option(metavar="N,M", help="Numbers of tokens before the measured one.")] = LENGTHS,
    *,
    race: RaceOptions,
) -> Any:
    """Compare the cost of the next token after N tokens: retention and a key-value cache.

    By default of small with 10 beams.
    """
    task = race.tasks((network, "1", None if beams is None else str(beams)), ("small", "1", "10"))[-1]
    from drethtr.paper.speed.length import measure

    return race.deliver(measure(task, numbers(lengths)[: 2 if race.quick else None], race.rounds))


@app.command()
@with_race_options
def strategies(
    data: Data,
    decoders: Decoders = DECODERS,
    batches: Batches = BATCHES,
    count: Count = 40,
    precision: PrecisionName = "float32",
    *,
    race: RaceOptions,
) -> Any:
    """Compare the decoders of the included model, on real lines."""
    device = race.open()
    from drethtr.paper.speed.peers import measure_strategies
    from drethtr.recognition.protocol import precision_named

    lines = [known.line for known in first_lines(data, 2 if race.quick else count)]
    chosen = strategies_named(decoders), numbers(batches), race.rounds, device, precision_named(precision)
    return race.deliver(measure_strategies(lines, *chosen))


@app.command()
@with_race_options
def peers(
    data: Data,
    decoders: Decoders = DECODERS,
    batches: Batches = BATCHES,
    count: Count = 24,
    others: Annotated[
        str,
        typer.Option("--peers", metavar="A,B", help="Compare with trocr (slow), rapidocr, tesseract."),
    ] = "trocr,rapidocr,tesseract",
    kraken_model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Model for kraken; without it kraken is left out.")
    ] = None,
    precision: Annotated[str, typer.Option(metavar="A,B", help="One or more of float32, int8, bfloat16.")] = "float32",
    *,
    race: RaceOptions,
) -> Any:
    """Compare the included model with TrOCR, rapidocr, Tesseract and kraken, where installed, on real lines."""
    device = race.open()
    from drethtr.paper.speed.peers import PEERS, check_kraken, measure
    from drethtr.recognition.protocol import precision_named

    chosen = [named("peer", name, {peer: peer for peer in PEERS}) for name in parts(others)]
    if kraken_model is not None:
        check_kraken(kraken_model)
    report = measure(
        first_lines(data, 2 if race.quick else count),
        strategies_named(decoders),
        numbers(batches),
        race.rounds,
        device,
        [precision_named(name) for name in parts(precision)],
        chosen,
        kraken_model,
    )
    return race.deliver(report)


@app.command("all")
def everything(
    data: Data,
    output: Annotated[Path, output_option("FOLDER", "Where results.md, JSON files and charts go.")],
    quick: Annotated[bool, typer.Option("--quick", help="A quick check that it works, a minute for each.")] = False,
    force: ForceResults = False,
    device: DeviceName = "auto",
    threads: Threads = None,
) -> None:
    """Run decoding, memory, length, strategies and peers; write tables, JSON and charts (an hour on two cores)."""
    require("torch", "train")
    from drethtr.network.devices import open_device
    from drethtr.paper.speed.peers import check_transformers
    from drethtr.paper.speed.race import PeakMemory

    commands: dict[str, Callable[..., Any]] = {
        "decoding": partial(decoding, batches=None if quick else "1,8,32"),
        "memory": memory,
        "length": length,
        "strategies": partial(strategies, data),
        "peers": partial(peers, data),
    }
    make_folder(output)
    results = [output / f"{name}{ending}" for name in commands for ending in (".json", ".svg")]
    refuse_results(output / "results.md", *results, force=force)
    # Fail now rather than after half an hour: for unreadable lines, unmeasurable memory, or a missing package.
    first_lines(data, 1)
    PeakMemory(open_device(device, threads))
    check_transformers()
    tables = ["# Figures of `drethtr bench all`"]
    for name, command in commands.items():
        chart = output / f"{name}.svg"
        files = {"json_file": output / f"{name}.json", "plot_file": chart}
        report: BenchmarkReport = command(quick=quick, force=force, device=device, threads=threads, **files)
        tables.append(f"{report.table()}\n\n![{report.title}]({chart.name})")
        write_text(output / "results.md", "\n\n".join(tables) + "\n")
