"""`drethtr model train`: train a model from a run file."""

from pathlib import Path
from typing import Annotated

import typer

from drethtr.base import config
from drethtr.base.errors import DataError, require
from drethtr.base.files import make_folder
from drethtr.cli.options import DeviceName, Settings, TrainingThreads, Workers
from drethtr.cli.progress import RESUME, stopping
from drethtr.recognition.backends import resolve_device


def train(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run file (TOML): the network, the data, the schedule.")],
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for models, snapshots and metrics.")],
    settings: Settings = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume the run in the folder.")] = False,
    minutes: Annotated[
        float | None, typer.Option(metavar="N", min=0, help="Stop after N minutes; resume with --resume.")
    ] = None,
    workers: Workers = 1,
    device: DeviceName = "auto",
    threads: TrainingThreads = None,
) -> None:
    """Train a model from scratch, or from another model, as a run file says."""
    require("torch", "train")
    from drethtr.training import loop
    from drethtr.training.devices import limit_threads
    from drethtr.training.run import RunConfig

    if output.suffix == ".safetensors" and not output.is_dir():
        raise DataError(
            f"--output is the folder of the run; give --output {output.with_suffix('')}, and the model will "
            f"be {output.with_suffix('') / loop.BEST}",
            output,
        )
    wanted = config.load(RunConfig, run, settings or ())
    make_folder(output)
    if resume and not (output / loop.SNAPSHOT).exists():
        typer.echo(f"drethtr: nothing to resume in {output}; starting from the beginning", err=True)
    limit_threads(threads)
    with stopping(RESUME):
        best = loop.train(
            wanted, output, resume=resume, device=resolve_device(device), workers=workers, minutes=minutes
        )
    if best.exists():
        typer.echo(f"the best model so far: {best}; calibrate it: drethtr model calibrate {best} DATA --force")
    else:
        typer.echo("stopped before the first validation")
