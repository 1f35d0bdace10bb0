"""A bulk job: its inputs, settings, and unfinished parts."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drethtr.base import config
from drethtr.base.errors import ConfigError, MissingExtraError
from drethtr.base.links import refuse_link
from drethtr.base.urls import beside, local_path, locate
from drethtr.base.version import __version__
from drethtr.bulk.inputs import BulkPlan, Columns, Part, files_of, make_plan
from drethtr.bulk.output import JOB, QUARANTINE, Output, columns
from drethtr.bulk.worker import Engine, PartOutcome, Work
from drethtr.recognition.recognizer import Recognizer

ROWS_PER_PART = 1000  # lost when a worker is killed; smaller parts are slower, since each one reopens its input file

OTHERS = {
    "model": "another model",
    "drethtr": "another version of drethtr",
    "decoder": "another decoder",
    "precision": "another precision",
    "rows_per_part": "other rows per part",
    "carry": "other carried columns",
    "posteriors": "readings with or without posteriors",
    "inputs": "other inputs",
}
"""The settings that affect the results, each with the words that describe a difference."""


@dataclass(frozen=True)
class Job:
    """All parts, their output folder, and the parts that were unfinished when the job was opened.

    settings  as the folder has them
    caution   a warning about slow inputs, or ""
    """

    output: Output
    parts: tuple[Part, ...]
    left: tuple[Part, ...]
    model: str
    settings: Mapping[str, Any]
    caution: str

    @property
    def rows(self) -> int:
        """Number of rows of all inputs."""
        return sum(part.rows.count for part in self.parts)

    @property
    def rows_left(self) -> int:
        """Number of rows of unfinished parts."""
        return sum(part.rows.count for part in self.left)

    def missing(self) -> tuple[Part, ...]:
        """The parts that the output lacks now."""
        return missing(self.parts, self.output)

    def run(self, engine: Engine, load: Callable[..., Recognizer]) -> Iterator[PartOutcome]:
        """Read the unfinished parts; `load` creates each worker's recognizer, with the model and settings of the job.

        Temporary files of killed workers are removed only when all parts are finished, since another run of the same
        job may still be writing some.

        Raises:
            DrethtrError: if no worker can start, or results cannot be written.
        """
        yield from engine.run(self.left, Work(load, self.output, self.model, __version__, self.settings))
        if not self.missing():
            self.output.clear(everything=False)


def open_job(
    inputs: Sequence[str],
    output: str,
    recognizer: Recognizer,
    which: Columns,
    *,
    rows_per_part: int = ROWS_PER_PART,
    force: bool = False,
) -> Job:
    """Start or continue a job; its settings are stored in the output folder.

    Args:
        inputs: Paths, URLs and patterns of Parquet files, of line images, and of folders of either.
        output: Path or URL of a folder that all machines can access.
        recognizer: A recognizer with the settings of the workers. If it keeps posteriors, so does the output.
        force: Discard results in the folder, of this job or another.

    Raises:
        DataError: if an input cannot be used.
        ConfigError: if the folder contains results of other inputs or settings, or, even with `force`, other files.
        MissingExtraError: without pyarrow.
    """
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtraError("pyarrow", "batch") from error
    which = which._replace(carry=tuple(dict.fromkeys(which.carry)))  # repeated columns count once
    if taken := sorted(set(which.carry).intersection(columns(pyarrow.schema([]), posteriors=True).names)):
        raise ConfigError(f"cannot carry column {taken[0]!r}: the output has its own column of that name")
    files = files_of(inputs)
    plan = make_plan(files, which)
    posteriors = recognizer.pieces.keeps_posteriors
    folder = Output(output, columns(plan.carried, posteriors=posteriors), len(plan.carried))
    check_output(folder, files)
    settings = settings_of(plan, recognizer, which, rows_per_part)
    # Settings are written before any part and removed after all of them, so that a folder with parts always has them.
    if force:
        folder.clear(everything=True)
    if folder.job() is None:
        folder.write(json.dumps(settings, ensure_ascii=False, indent=1).encode(), JOB)
    stored = folder.job() or {}
    check_same(folder, stored, settings)
    parts = tuple(plan.cut(rows_per_part))
    return Job(folder, parts, missing(parts, folder), recognizer.model.hash, stored, plan.caution(rows_per_part))


def missing(parts: Sequence[Part], folder: Output) -> tuple[Part, ...]:
    """The parts that an output folder lacks, or has only the beginning of."""
    finished = folder.parts()
    return tuple(part for part in parts if part.name not in finished or folder.is_cut_short(part.name))


def settings_of(plan: BulkPlan, recognizer: Recognizer, which: Columns, rows_per_part: int) -> dict[str, Any]:
    """All settings that affect the results, as plain values."""
    return {
        "model": recognizer.model.hash,
        "drethtr": __version__,
        "decoder": config.to_dict(recognizer.strategy),
        "precision": recognizer.precision.value,
        "rows_per_part": rows_per_part,
        "carry": list(which.carry),
        **({"posteriors": True} if recognizer.pieces.keeps_posteriors else {}),
        "inputs": [rows.identity() for rows in plan.inputs],
    }


def check_output(folder: Output, files: Sequence[str]) -> None:
    """Refuse a folder with other files, even with `force`: they could be removed, or mistaken for results.

    Raises:
        ConfigError: if it contains inputs, or files not written by a job.
        DataError: if a link would lead results elsewhere.
    """
    if (place := local_path(folder.folder)) is not None:
        refuse_link(place / QUARANTINE)
    own = folder.at(JOB).path
    if any(locate(place).path == own for place in {beside(file, JOB) for file in files}):
        raise ConfigError(f"{folder.folder} contains inputs; choose a separate --output for the results")
    if folder.job() is None and any(not name.startswith((".", "_")) for name in folder.names()):
        raise ConfigError(f"{folder.folder} contains files that are not results; choose another --output")


def check_same(folder: Output, before: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Refuse a folder of a job with other inputs or settings, even without results: another run may be reading them."""
    if other := [words for name, words in OTHERS.items() if before.get(name) != settings.get(name)]:
        if not folder.parts():
            raise ConfigError(
                f"{folder.folder} is for a job with {', '.join(other)}, which has no results so far; choose another "
                "--output, or use --force to begin this one instead"
            )
        raise ConfigError(
            f"{folder.folder} contains results of {', '.join(other)}; choose another --output, "
            "or use --force to discard them and start over"
        )
