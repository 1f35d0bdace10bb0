"""`drethtr model train` and `train-layout`: train a model, or a network that finds lines, from a run file."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from drethtr.base import config
from drethtr.base.errors import DataError, require
from drethtr.base.files import make_folder
from drethtr.cli.options import DeviceName, Settings, TrainingThreads, Workers
from drethtr.cli.progress import RESUME, stopping
from drethtr.recognition.backends import resolve_device

Run = Annotated[Path, typer.Argument(metavar="RUN", help="Run file (TOML): the network, the data, the schedule.")]
Folder = Annotated[Path, typer.Option("--output", metavar="FOLDER", help="Folder for models, snapshots and metrics.")]
Resume = Annotated[bool, typer.Option("--resume", help="Resume the run in the folder.")]
Minutes = Annotated[float | None, typer.Option(metavar="N", min=0, help="Stop after N minutes; resume with --resume.")]


def train(
    run: Run,
    output: Folder,
    settings: Settings = None,
    resume: Resume = False,
    minutes: Minutes = None,
    workers: Workers = 1,
    device: DeviceName = "auto",
    threads: TrainingThreads = None,
) -> None:
    """Train a model from scratch, or from another model, as a run file says."""
    require("torch", "train")
    from drethtr.training import loop
    from drethtr.training.run import RunConfig

    training = partial(loop.train, config.load(RunConfig, run, settings or ()), output)
    best = trained(training, output, resume, minutes, workers, device, threads)
    if best is not None:
        typer.echo(f"the best model so far: {best}; calibrate it: drethtr model calibrate {best} DATA --force")


def train_layout(
    run: Run,
    output: Folder,
    settings: Settings = None,
    resume: Resume = False,
    minutes: Minutes = None,
    workers: Workers = 1,
    device: DeviceName = "auto",
    threads: TrainingThreads = None,
) -> None:
    """Train the network that finds lines, from the included one or another, as a run file says."""
    require("torch", "train")
    from drethtr.training.layout import loop
    from drethtr.training.layout.run import LayoutRun

    training = partial(loop.train_layout, config.load(LayoutRun, run, settings or ()), output)
    best = trained(training, output, resume, minutes, workers, device, threads)
    if best is not None:
        typer.echo(f"the best model so far: {best}; find lines with it: drethtr segment SCANS --lines {best}")


def trained(
    train: Callable[..., Path],
    output: Path,
    resume: bool,
    minutes: float | None,
    workers: int,
    device: str,
    threads: int | None,
) -> Path | None:
    """The best model after a training with these options; None, which is said, if it was not validated yet."""
    from drethtr.training.devices import limit_threads

    open_output(output, resume=resume)
    limit_threads(threads)
    with stopping(RESUME):
        best = train(resume=resume, device=resolve_device(device), workers=workers, minutes=minutes)
    if best.exists():
        return best
    typer.echo("stopped before the first validation")
    return None


def open_output(output: Path, *, resume: bool) -> None:
    """Create the folder of a run, and say if there is nothing in it to resume.

    Raises:
        DataError: if it has the name of a model.
    """
    from drethtr.training.loop import BEST, SNAPSHOT

    if output.suffix == ".safetensors" and not output.is_dir():
        folder = output.with_suffix("")
        raise DataError(
            f"--output is the folder of the run; give --output {folder}, and the model will be {folder / BEST}", output
        )
    make_folder(output)
    if resume and not (output / SNAPSHOT).exists():
        typer.echo(f"drethtr: nothing to resume in {output}; starting from the beginning", err=True)
