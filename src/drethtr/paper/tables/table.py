"""A table of the paper: its rows, the experiment behind each, their published figures, and our results in files.

A finished row is never run again, an interrupted one is resumed.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Self

from drethtr.base.config import hint
from drethtr.base.errors import ConfigError, DataError
from drethtr.base.files import write_text
from drethtr.evaluation.metrics import Counts
from drethtr.paper.speed.report import machine
from drethtr.paper.tables.stage import Conditions
from drethtr.training.devices import Devices

CER, WER, MEAN_OF_BATCHES, LINES = "CER %", "WER %", "CER %, mean of batches", "test lines"
NATS, PARAMETERS, SECONDS, GIGABYTES = "nats per character", "parameters, million", "seconds", "GB"
MEASURES = (CER, MEAN_OF_BATCHES, WER, NATS, LINES, PARAMETERS, SECONDS, GIGABYTES)
"""The measures, in display order."""
BATCH = 16
"""Lines per batch in the paper."""


@dataclass(frozen=True)
class Share:
    """A line's contribution to a rate; `sum(shares, Share())` adds them up."""

    part: float = 0.0
    whole: int = 0

    def __add__(self, other: "Share") -> "Share":
        return Share(self.part + other.part, self.whole + other.whole)

    @property
    def rate(self) -> float:
        """The part divided by the whole."""
        return self.part / max(self.whole, 1)


@dataclass(frozen=True)
class LineResult:
    """The result of a test line: origin, correct text, reading, and the nats of the text."""

    key: str
    page: str
    text: str
    read: str
    counts: Counts
    nats: float | None = None

    @property
    def nats_per_character(self) -> Share:
        """Nats of the text and its end."""
        return Share() if self.nats is None else Share(self.nats, len(self.text) + 1)


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """Figures by `MEASURES`; for a trained system also its model and decoder, the lines it read, and their files."""

    figures: Mapping[str, float]
    lines: tuple[LineResult, ...] = ()
    files: tuple[str, ...] = ()
    model: str = ""
    decoder: str = ""


@dataclass(frozen=True, kw_only=True)
class Result:
    """The outcome of a row and seed, with the `fingerprint` of all settings that affect it, and the machine."""

    table: str
    row: str
    seed: int
    fingerprint: str
    outcome: Measurement
    machine: Mapping[str, Any] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """Write the file atomically.

        Raises:
            DataError: if it cannot be written.
        """
        write_text(path, json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n")

    @classmethod
    def load(cls, path: Path) -> Self:
        """The inverse of `save`.

        Raises:
            DataError: if the file does not contain a result.
        """
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            outcome = found.pop("outcome")
            lines = tuple(LineResult(**line | {"counts": Counts(**line["counts"])}) for line in outcome.pop("lines"))
            files = tuple(outcome.pop("files"))
            return cls(outcome=Measurement(lines=lines, files=files, **outcome), **found)
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise DataError(f"not a result ({error}); delete it to run the row again", path) from error


def mean_of_batches(counts: Sequence[Counts]) -> float:
    """The paper's own measure: the mean CER of batches of test lines, in order (spec, Sec. 3)."""
    batches = [sum(counts[start : start + BATCH], Counts()) for start in range(0, len(counts), BATCH)]
    return fmean(of_batch.cer for of_batch in batches if of_batch.characters)


class Experiment(ABC):
    """The work for a row with a seed."""

    @abstractmethod
    def fingerprint(self, conditions: Conditions, seed: int) -> str:
        """A digest of the settings and lines.

        Raises:
            ConfigError: if required data were not given.
        """

    @abstractmethod
    def prepare(self, conditions: Conditions, seed: int) -> None:
        """Train what is missing; all processes of torchrun take part."""

    @abstractmethod
    def measure(self, conditions: Conditions, seed: int) -> Measurement:
        """Measure what was prepared, in one process."""


@dataclass(frozen=True)
class TableRow:
    """A system, the experiment that measures it, and its published figures by `MEASURES`."""

    name: str
    experiment: Experiment
    paper: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class PaperTable:
    """Rows, of which the first is the baseline; `source` names the table in the paper."""

    name: str
    title: str
    source: str
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...] = ()

    def chosen(self, names: Sequence[str]) -> tuple[TableRow, ...]:
        """The rows with the given names, or all if none are given.

        Raises:
            ConfigError: if there is no such row.
        """
        known = {row.name: row for row in self.rows}
        for name in names:
            if name not in known:
                raise ConfigError(
                    f"table {self.name} has no row {name!r}{hint(name, known)}; it has: {'; '.join(known)}"
                )
        return tuple(known[name] for name in dict.fromkeys(names)) or self.rows


def with_material(conditions: Conditions) -> Conditions:
    """Add the data that the scale generates, in one process, to the conditions."""
    devices, made = Devices.open(conditions.device), conditions.folder / "made"
    if devices.is_main:
        conditions.scale.material(conditions.material, made)
    devices.barrier()
    return replace(conditions, material=conditions.scale.material(conditions.material, made))


def reproduce(table: PaperTable, rows: Sequence[TableRow], seeds: int, conditions: Conditions) -> None:
    """Run rows with seeds from 0, one by one; results are stored in the folder of the conditions.

    Raises:
        ConfigError: if data for a row are missing, or the folder has results of the table (for any row) with other
            settings or data.
        DataError: if lines cannot be used.
    """
    # Checked before training: a table must not mix results of different settings.
    check_kept(table, conditions)
    wanted = [(row, seed) for seed in range(seeds) for row in rows]
    for row, seed in wanted:
        row.experiment.fingerprint(conditions, seed)  # fails at once if data are missing
    missing = [(row, seed) for row, seed in wanted if not result_path(conditions.folder, table, row, seed).exists()]
    for number, (row, seed) in enumerate(missing, start=1):
        conditions.say(f"[{number}/{len(missing)}] {table.name}: {row.name}, seed {seed}")
        run_row(table, row, seed, conditions)


def check_kept(table: PaperTable, conditions: Conditions) -> None:
    """Check that all results of a table are comparable; those that cannot be checked are reported."""
    rows, others = {row.name: row for row in table.rows}, []
    for path in sorted((conditions.folder / table.name).glob("*.json")):
        kept = Result.load(path)
        if kept.row not in rows:
            continue
        try:
            if rows[kept.row].experiment.fingerprint(conditions, kept.seed) != kept.fingerprint:
                others.append(str(path))
        except ConfigError as error:
            conditions.say(f"{path}: cannot check that it has the same settings and data: {error}")
    if others:
        raise ConfigError(
            f"{', '.join(others)}: made with other settings, data or another version; choose another --output, or "
            "delete these files to run the rows again"
        )


def run_row(table: PaperTable, row: TableRow, seed: int, conditions: Conditions) -> None:
    """Run a row and store its result; of several processes, one measures and the others wait."""
    # All processes train, but only one measures: the others would disturb its times.
    row.experiment.prepare(conditions, seed)
    devices = Devices.open(conditions.device)
    if devices.is_main:
        outcome = row.experiment.measure(conditions, seed)
        fingerprint = row.experiment.fingerprint(conditions, seed)
        result = Result(
            table=table.name,
            row=row.name,
            seed=seed,
            fingerprint=fingerprint,
            outcome=outcome,
            machine=machine(conditions.device),
        )
        result.save(result_path(conditions.folder, table, row, seed))
    devices.barrier()


def result_path(folder: Path, table: PaperTable, row: TableRow, seed: int) -> Path:
    """The file of a row's result."""
    name = "_".join("".join(c if c.isalnum() or c == "-" else " " for c in row.name).split())
    return folder / table.name / f"{name}.{seed}.json"


def finished(folder: Path, table: PaperTable) -> dict[str, list[Result]]:
    """The results of a table so far, by row, in the order of rows and seeds."""
    results = {}
    for row in table.rows:
        found, seed = [], 0
        while (path := result_path(folder, table, row, seed)).exists():
            found.append(Result.load(path))
            seed += 1
        if found:
            results[row.name] = found
    return results
