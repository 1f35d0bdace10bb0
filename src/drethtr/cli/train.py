"""`drethtr train`: from a run file to a model."""

from pathlib import Path
from typing import Annotated

import typer

from drethtr.cli.choices import DeviceName, device_named
from drethtr.errors import DataError


def train(
    run: Annotated[Path, typer.Argument(metavar="RUN.toml", help="What to train, on what, how long.")],
    output: Annotated[Path, typer.Option(help="The folder for models, snapshots and figures.")],
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="a.b=c", help="Change a setting of the run file; repeatable.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where the run in the folder stopped.")] = False,
    minutes: Annotated[float | None, typer.Option(min=0, help="Stop, ready to resume, after so long.")] = None,
    workers: Annotated[int, typer.Option(min=0, help="Processes that load lines; they do not change results.")] = 1,
    device: DeviceName = "auto",
) -> None:
    """Train a model."""
    from drethtr import config
    from drethtr.training import loop
    from drethtr.training.run import RunConfig

    if output.suffix == ".safetensors" and not output.is_dir():
        raise DataError(
            f"{output}: --output is the folder of the run; the model will be {output.with_suffix('') / loop.BEST}, so "
            f"give --output {output.with_suffix('')}"
        )
    wanted = config.load(RunConfig, run, settings or ())
    best = loop.train(wanted, output, resume=resume, device=device_named(device), workers=workers, minutes=minutes)
    if best.exists():
        typer.echo(
            f"the best model so far: {best}; calibrate it before others use it: drethtr calibrate {best} DATA --force"
        )
    else:
        typer.echo("stopped before the first validation")
