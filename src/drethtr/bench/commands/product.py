"""Benchmarks of what users run: training, reading, pages, the editor, search; and how far the decoder drifts."""

from pathlib import Path
from statistics import median
from typing import Annotated

import typer

from drethtr.base.errors import require
from drethtr.bench.commands.choices import Count, Data, first_lines, parts
from drethtr.cli.options import (
    DecoderName,
    DeviceName,
    ForceResults,
    JSONFile,
    ModelFile,
    PrecisionName,
    Settings,
    Threads,
    Workers,
)
from drethtr.cli.outputs import refuse_results, write_json
from drethtr.cli.screen import echo

app = typer.Typer()


@app.command()
def training(
    run: Annotated[Path | None, typer.Argument(metavar="RUN", help="A run file (TOML) with the network.")] = None,
    settings: Settings = None,
    count: Annotated[int, typer.Option(metavar="N", min=1, help="Number of lines to train on.")] = 1500,
    workers: Workers = 1,
    json_file: JSONFile = None,
    force: ForceResults = False,
    device: DeviceName = "auto",
    threads: Threads = None,
) -> None:
    """Measure training: lines per second, the share of time spent waiting for data, and memory.

    The lines are synthetic, 64 pixels high and 800 wide on average. The default network is COMPACT.
    """
    require("torch", "train")
    from drethtr.base import config
    from drethtr.bench.training import default_run, measure
    from drethtr.network.devices import open_device
    from drethtr.training.run import RunConfig

    refuse_results(json_file, force=force)
    where = open_device(device, threads)
    if run is not None:
        wanted = config.load(RunConfig, run, settings or ())
    else:
        changes: dict[str, object] = {}
        config.set_values(changes, settings or ())
        wanted = config.from_dict(RunConfig, changes, default=default_run(fixed_shapes=where.type == "cuda"))
    speed = measure(wanted, lines=count, workers=workers, device=where)
    peak = f"; {speed.peak_bytes / 1e6:,.0f} MB at the peak" if speed.peak_bytes else ""
    echo(
        f"{speed.lines_per_second:.1f} lines/s over {speed.lines:,} lines, {speed.mean_width:.0f} pixels wide on "
        f"average; {speed.loading:.1%} of the time spent waiting for lines{peak}"
    )
    if json_file is not None:
        write_json(json_file, speed._asdict())


@app.command()
def host(
    data: Data,
    model: ModelFile = None,
    decoders: Annotated[str, typer.Option(metavar="A,B", help="Decoders to measure.")] = "ctc,joint",
    count: Count = 96,
    rounds: Annotated[int, typer.Option(metavar="N", min=1, help="Report the fastest of N rounds.")] = 5,
    against: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The --json of another version on this machine; ratios to it are printed."),
    ] = None,
    json_file: JSONFile = None,
    force: ForceResults = False,
    precision: PrecisionName = "int8",
) -> None:
    """Measure processor time per line outside the network, whose recorded results are replayed."""
    require("torch", "train")
    from drethtr.bench.host import earlier, measure
    from drethtr.recognition.recognizer import Recognizer

    refuse_results(json_file, force=force)
    known = {} if against is None else earlier(against)
    lines = [line.line for line in first_lines(data, count)]
    found = {}
    for name in parts(decoders):
        recognizer = Recognizer.load(model, decoder=name, precision=precision, device="cpu", threads=1)
        found[name] = measure(recognizer, lines, rounds)
        ratio = f"; {found[name] / known[name]:.2f} of {against}" if name in known else ""
        echo(f"{name}: {found[name]:.2f} ms of processor time per line outside the network{ratio}")
    if json_file is not None:
        write_json(json_file, {"milliseconds": found, "lines": len(lines), "rounds": rounds, "precision": precision})


@app.command()
def pages(
    data: Annotated[list[str], typer.Argument(metavar="DATA", help="PAGE or ALTO files with their lines.")],
    lines: Annotated[
        str, typer.Option(metavar="NAME", help="Line segmentation: rapid, projection or kraken.")
    ] = "rapid",
    json_file: JSONFile = None,
    force: ForceResults = False,
    device: DeviceName = "auto",
    threads: Threads = None,
) -> None:
    """Measure line segmentation against PAGE or ALTO, seconds per stage, and the memory a large scan takes."""
    require("torch", "train")
    from drethtr.bench.pages import measure, peak_bytes, report, to_json
    from drethtr.evaluation.whole_pages import open_references
    from drethtr.layout.finders import finder_named
    from drethtr.recognition.recognizer import Recognizer

    refuse_results(json_file, force=force)
    originals, recognizer = open_references(data), Recognizer.load(device=device, threads=threads)
    finder = finder_named(lines).with_threads(recognizer.threads)
    figures = measure(originals, recognizer, finder)
    peak = peak_bytes(originals[0], finder, device, threads)
    echo(report(figures, peak))
    if json_file is not None:
        write_json(json_file, to_json(figures, peak))


@app.command()
def editor(
    pages: Annotated[int, typer.Option(metavar="N", min=1, help="Number of pages.")] = 500,
    lines: Annotated[int, typer.Option(metavar="N", min=1, help="Lines per page.")] = 40,
    json_file: JSONFile = None,
    force: ForceResults = False,
) -> None:
    """Measure how long requests to `drethtr edit` take in a large generated folder."""
    from drethtr.bench.editor import measure, table
    from drethtr.recognition.recognizer import Recognizer

    refuse_results(json_file, force=force)
    figures = measure(pages, lines, Recognizer.load(device="cpu"))
    echo(table(figures))
    if json_file is not None:
        write_json(json_file, {"figures": [figure._asdict() for figure in figures]})


@app.command()
def search(
    index: Annotated[Path, typer.Argument(metavar="INDEX", help="An index from `drethtr index`.")],
    queries: Annotated[list[str], typer.Argument(metavar="QUERY", help="Queries to time.")],
    lines: Annotated[
        int, typer.Option(metavar="N", min=1, help="Repeat the pages of the index up to this number of lines.")
    ] = 100_000,
    json_file: JSONFile = None,
    force: ForceResults = False,
    threads: Threads = None,
) -> None:
    """Measure how long queries take in a large index."""
    from drethtr.bench.searching import measure, table

    refuse_results(json_file, force=force)
    found, figures = measure(index, queries, lines, threads)
    echo(table(found, figures))
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
    """Measure how far the parallel and recurrent forms of a model's decoder differ on the texts it reads."""
    require("torch", "train")
    from drethtr.bench.quality.drift import TOLERANCE, measure
    from drethtr.network.devices import open_device
    from drethtr.recognition.decoding.strategies import strategy_named
    from drethtr.recognition.model.adapter import load_named
    from drethtr.recognition.model.file import SHIPPED
    from drethtr.recognition.protocol import precision_named

    refuse_results(json_file, force=force)
    strategy = None if decoder is None else strategy_named(decoder)
    lines = [known.line for known in first_lines(data, count)]
    where, exactness = open_device(device, threads), precision_named(precision)
    drifts = measure(load_named(model or SHIPPED, None), strategy, lines, where, exactness)
    most = max(drifts)
    echo(
        f"log-probabilities differ by at most {most:.1e} on {len(lines):,} lines, by {median(drifts):.1e} in the "
        f"median; {'more than' if most > TOLERANCE else 'within'} the tolerance of {TOLERANCE:g}"
    )
    if most > TOLERANCE:
        echo("warning: results may depend on the form of the decoder; compare --decoder greedy and verified", err=True)
    if json_file is not None:
        write_json(json_file, {"drifts": drifts, "tolerance": TOLERANCE})
