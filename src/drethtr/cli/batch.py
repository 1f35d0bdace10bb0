"""`drethtr batch`: read millions of line images into one table."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

from drethtr.base.config import named
from drethtr.base.credentials import without_credentials
from drethtr.base.errors import ConfigError
from drethtr.base.files import refuse_file
from drethtr.base.processors import free_processors
from drethtr.base.urls import is_url
from drethtr.base.wording import counted
from drethtr.bulk.inputs import Columns, Part
from drethtr.bulk.job import ROWS_PER_PART, Job, open_job
from drethtr.bulk.local import Local
from drethtr.bulk.on_ray import Ray
from drethtr.bulk.worker import Engine
from drethtr.cli.options import ReadingOptions, output_option, with_reading_options
from drethtr.cli.progress import CONTINUE, stopping
from drethtr.cli.screen import echo
from drethtr.recognition.backends import CPU, devices_named, resolve_device

ON_ONE_GPU = 12
"""Maximum number of processes that read on each GPU by default: each takes 0.25 to 0.4 GB of its memory."""


@with_reading_options(without=["threads"])
def batch(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT",
            help="Parquet files, line images, folders of either: paths, URLs (s3://, gs://, hf://) and patterns.",
        ),
    ],
    output: Annotated[
        str, output_option("FOLDER", "Folder for the results, a path or URL; a job found there is resumed.")
    ],
    engine: Annotated[str, typer.Option(metavar="NAME", help="local (processes on this machine) or ray.")] = "local",
    workers: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Number of workers; default: one per usable processor, with Ray one fewer."
        ),
    ] = None,
    column: Annotated[
        str,
        typer.Option(metavar="COLUMN", help="Column with images or their paths; default: image, im, path or file."),
    ] = "",
    carry: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Copy this column to the results; repeatable.")
    ] = None,
    rows_per_part: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Rows per output file; default: 1,000.")
    ] = None,
    posteriors: Annotated[
        bool,
        typer.Option("--posteriors", help="Also store the posteriors of each line, which drethtr index needs."),
    ] = False,
    *,
    reading: ReadingOptions,
    force: Annotated[bool, typer.Option("--force", help="Discard the results in the folder and start over.")] = False,
) -> None:
    """Read any number of line images into Parquet files, one output row per input row.

    Repeat the command to resume. For rows that cannot be read, the output and _quarantine give the reason; the exit
    code is 1 if rows are missing because a file or a worker failed.
    """
    if not is_url(output):
        refuse_file(Path(output))
    engines: dict[str, Callable[[int | None, str], Engine]] = {"local": on_this_machine, "ray": on_ray}
    chosen = named("engine", engine, engines)(workers, reading.device)
    load = partial(replace(reading, threads=1).load, posteriors=posteriors)
    columns = Columns(column, tuple(carry or ()))
    cut = rows_per_part or ROWS_PER_PART
    # On this machine the workers' device and precision must work before --force discards results; a cluster may have
    # devices that this machine lacks.
    recognizer = load() if engine == "local" else load(device="cpu")
    job = open_job(inputs, output, recognizer, columns, rows_per_part=cut, force=force)
    del recognizer  # with its memory on a GPU
    if job.caution:
        echo(f"drethtr: {job.caution}", err=True)
    read = flagged = 0
    with (
        stopping(CONTINUE),
        tqdm(total=job.rows, initial=job.rows - job.rows_left, unit="row", disable=None) as bar,
    ):
        for outcome in job.run(chosen, load):
            bar.update(outcome.rows)
            read, flagged = read + outcome.rows, flagged + outcome.flagged
            if outcome.failure:
                bar.write(f"drethtr: {outcome.failure}", file=sys.stderr)
    missing = job.missing()
    echo(summary(job, missing))
    if flagged:
        echo(f"{flagged:,} of the {counted(read, 'row')} read now {are(flagged)} flagged; see the column flags")
    if missing:
        raise typer.Exit(1)


def on_this_machine(workers: int | None, device: str) -> Engine:
    """Processes on this machine; by default one per processor, also on GPUs, which one process each could not feed."""
    processors, where = free_processors(), resolve_device(device)
    if where == CPU:
        return Local(workers or processors)
    devices = devices_named(where)
    return Local(workers or min(processors, ON_ONE_GPU * len(devices)), devices)


def on_ray(workers: int | None, device: str) -> Engine:
    """Actors of Ray Data, on GPUs unless --device is cpu.

    Raises:
        ConfigError: if the device is one of several: each actor sees a single GPU.
    """
    if ":" in device:
        raise ConfigError(
            f"Ray gives each worker a GPU of its own; use --device {device.partition(':')[0]}, not {device}"
        )
    return Ray(workers, gpus=device != "cpu")


def summary(job: Job, missing: Sequence[Part]) -> str:
    """What the output contains now, in a few lines."""
    done, bad = job.rows - sum(part.rows.count for part in missing), job.output.quarantined()
    folder = without_credentials(job.output.folder)
    lines = [f"{done:,} of {counted(job.rows, 'row')} {are(done)} in {folder}"]
    if bad:
        lines.append(f"{bad:,} of them could not be read; {folder}/_quarantine says why")
    if missing:
        lines.append(f"{len(missing)} of {len(job.parts)} parts failed; repeat the command to retry them")
    return "\n".join(lines)


def are(number: int) -> str:
    """`is` or `are`, to agree with a number."""
    return "is" if number == 1 else "are"
