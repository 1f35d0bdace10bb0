"""`drethtr model train` and `train-layout`: train a model, or a line detector, from a run file."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from drethtr.base import config
from drethtr.base.errors import DataError, require
from drethtr.base.files import make_folder
from drethtr.cli.options import DeviceName, Settings, TrainingThreads, Workers, output_option, with_options
from drethtr.cli.progress import stopping_run
from drethtr.cli.screen import echo
from drethtr.recognition.backends import resolve_device


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """The options of both commands."""

    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run file (TOML): the network, the data, the schedule.")]
    output: Annotated[Path, output_option("FOLDER", "Folder for models, snapshots and metrics.")]
    settings: Settings = None
    resume: Annotated[bool, typer.Option("--resume", help="Resume the run in the folder.")] = False
    minutes: Annotated[
        float | None, typer.Option(metavar="N", min=0, help="Stop after N minutes; resume with --resume.")
    ] = None
    workers: Workers = 1
    device: DeviceName = "auto"
    threads: TrainingThreads = None

    def trained(self, train: Callable[..., Path], kind: type[Any]) -> Path | None:
        """Do a run of this kind, and return its best model; None, after a message, if it was not validated yet."""
        from drethtr.training.devices import limit_threads

        run: Any = config.load(kind, self.run, self.settings or ())
        open_output(self.output, resume=self.resume)
        limit_threads(self.threads)
        device = resolve_device(self.device)
        with stopping_run(self.output):
            best = train(
                run, self.output, resume=self.resume, device=device, workers=self.workers, minutes=self.minutes
            )
        if best.exists():
            return best
        report("stopped before the first validation")
        return None


@with_options("options", TrainOptions)
def train(*, options: TrainOptions) -> None:
    """Train a model from scratch, or from another model, as a run file says."""
    require("torch", "train")
    from drethtr.training import loop
    from drethtr.training.run import RunConfig

    if (best := options.trained(loop.train, RunConfig)) is not None:
        report(f"the best model so far: {best}; calibrate it: drethtr model calibrate {best} DATA --force")


@with_options("options", TrainOptions)
def train_layout(*, options: TrainOptions) -> None:
    """Train the line detector, from the included one or another, as a run file says."""
    require("torch", "train")
    from drethtr.training.layout import loop
    from drethtr.training.layout.run import LayoutRun

    if (best := options.trained(loop.train_layout, LayoutRun)) is not None:
        report(f"the best model so far: {best}; find lines with it: drethtr segment SCANS --lines {best}")


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
        report(f"drethtr: nothing to resume in {output}; starting from the beginning", err=True)


def report(words: str, *, err: bool = False) -> None:
    """Print a message; of the processes of torchrun only the first does, since all of them run the command."""
    if os.environ.get("RANK", "0") == "0":
        echo(words, err=err)
