"""A job: what is to be read, how, and what of it is there already."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drethtr.base import config
from drethtr.base.errors import ConfigError, MissingExtraError
from drethtr.base.version import __version__
from drethtr.bulk.engine import Engine
from drethtr.bulk.output import JOB, Output, columns
from drethtr.bulk.plan import BulkPlan, Columns, Part, files_of, make_plan
from drethtr.bulk.reader import PartOutcome, Work
from drethtr.lines.urls import beside, locate
from drethtr.recognition.recognizer import Recognizer

ROWS_PER_PART = 1000

OTHERS = {
    "model": "another model",
    "drethtr": "another version of drethtr",
    "decoder": "another decoder",
    "precision": "another precision",
    "rows_per_part": "other rows per part",
    "carry": "other carried columns",
    "inputs": "other inputs",
}
"""What decides the results, in words for where it is not the same."""


@dataclass(frozen=True)
class Job:
    """All parts, where their results go, and those that were left to read when it was opened.

    caution  what makes them slow to read, if anything does
    """

    output: Output
    parts: tuple[Part, ...]
    left: tuple[Part, ...]
    model: str
    caution: str

    @property
    def rows(self) -> int:
        """Rows of all inputs."""
        return sum(part.rows.count for part in self.parts)

    @property
    def rows_left(self) -> int:
        """Rows of the parts that are left."""
        return sum(part.rows.count for part in self.left)

    def missing(self) -> tuple[Part, ...]:
        """The parts that are not in the output now."""
        return missing(self.parts, self.output)

    def run(self, engine: Engine, load: Callable[[], Recognizer]) -> Iterator[PartOutcome]:
        """Read what is left; `load` makes each worker's recognizer, like that of the job.

        What killed workers left is removed at the end, if all parts are there: before, another run of the same job may
        be writing.

        Raises:
            DrethtrError: if no worker can begin, or results cannot be written.
        """
        yield from engine.run(self.left, Work(load, self.output, self.model, __version__))
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
    """Begin a job, or go on with one: the folder `output` then holds what was asked for.

    Args:
        inputs: Paths, URLs and patterns of Parquet files, of line images, and of folders of either.
        output: A folder, by path or URL; if several machines read, all must reach it.
        recognizer: Says what the workers' recognizers are like.
        force: Throw away what this job or another one has written there.

    Raises:
        DataError: if an input cannot be used.
        ConfigError: if the folder holds the results of other inputs or settings, or, even with `force`, other files.
        MissingExtraError: without pyarrow.
    """
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtraError("pyarrow", "batch") from error
    which = which._replace(carry=tuple(dict.fromkeys(which.carry)))  # named twice, a column is meant once
    if taken := sorted(set(which.carry).intersection(columns(pyarrow.schema([])).names)):
        raise ConfigError(f"column {taken[0]!r} cannot be carried along: the output has one of its own")
    files = files_of(inputs)
    plan = make_plan(files, which)
    folder = Output(output, columns(plan.carried))
    check_apart(folder, files)
    settings = settings_of(plan, recognizer, which, rows_per_part)
    if force:
        folder.clear(everything=True)
    if (before := folder.job()) is not None:
        check_same(folder, before, settings)
    else:
        folder.write(json.dumps(settings, ensure_ascii=False, indent=1).encode(), JOB)
    parts = tuple(plan.cut(rows_per_part))
    return Job(folder, parts, missing(parts, folder), recognizer.model.hash, plan.caution(rows_per_part))


def missing(parts: Sequence[Part], folder: Output) -> tuple[Part, ...]:
    """Those parts that are not in a folder."""
    there = folder.parts()
    return tuple(part for part in parts if part.name not in there)


def settings_of(plan: BulkPlan, recognizer: Recognizer, which: Columns, rows_per_part: int) -> dict[str, Any]:
    """Everything that decides the results, as plain values."""
    return {
        "model": recognizer.model.hash,
        "drethtr": __version__,
        "decoder": config.to_dict(recognizer.strategy),
        "precision": recognizer.precision.value,
        "rows_per_part": rows_per_part,
        "carry": list(which.carry),
        "inputs": [rows.identity() for rows in plan.inputs],
    }


def check_apart(folder: Output, files: Sequence[str]) -> None:
    """Refuse a folder in which others' files are, even by force: they would be removed, or taken for results.

    Raises:
        ConfigError: if inputs lie in it, or Parquet files that no job has written.
    """
    own = folder.at(JOB).path
    if any(locate(place).path == own for place in {beside(file, JOB) for file in files}):
        raise ConfigError(f"inputs lie in {folder.folder}; choose another --output, results need a folder of their own")
    if folder.job() is None and folder.parts():
        raise ConfigError(f"{folder.folder} holds Parquet files that are no results; choose another --output")


def check_same(folder: Output, before: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Refuse a folder with results of other settings."""
    if other := [words for name, words in OTHERS.items() if before.get(name) != settings[name]]:
        raise ConfigError(
            f"{folder.folder} holds results of {', '.join(other)}; choose another --output, "
            "or give --force to throw them away and begin anew"
        )
