"""`drethtr bench`: how fast things are on this machine."""

from pathlib import Path
from typing import Annotated

import typer

from drethtr.cli.choices import DeviceName, device_named

app = typer.Typer(no_args_is_help=True, help="Measure how fast things are on this machine.")


@app.callback()
def bench() -> None:
    """Measure how fast things are on this machine."""


@app.command()
def training(
    run: Annotated[Path | None, typer.Argument(metavar="RUN.toml", help="Whose network to train.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="a.b=c", help="Change a setting of the run file; repeatable.")
    ] = None,
    lines: Annotated[int, typer.Option(min=1, help="How many lines to train on.")] = 1500,
    workers: Annotated[int, typer.Option(min=0, help="Processes that load lines.")] = 1,
    device: DeviceName = "auto",
) -> None:
    """Lines per second in training, and the share of the time spent waiting for lines.

    The lines are made up, 64 pixels high and 800 wide on average. Without a run file, the network is COMPACT.
    """
    from drethtr import config
    from drethtr.benchmarks.training import default_run, measure
    from drethtr.training.run import RunConfig

    wanted = config.load(RunConfig, run, settings or ()) if run is not None else default_run()
    speed = measure(wanted, lines=lines, workers=workers, device=device_named(device))
    typer.echo(
        f"{speed.lines_per_second:.1f} lines/s over {speed.lines:,} lines, {speed.mean_width:.0f} pixels wide on "
        f"average; {speed.loading:.1%} of the time spent waiting for lines"
    )
