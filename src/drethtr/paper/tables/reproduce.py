"""Run rows and store their results: a finished row is never run again, an interrupted one is resumed."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from drethtr.base.errors import ConfigError
from drethtr.paper.speed.report import machine
from drethtr.paper.tables.result import Result
from drethtr.paper.tables.stage import Conditions
from drethtr.paper.tables.table import PaperTable, TableRow
from drethtr.training.devices import Devices


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
    check_kept(table, conditions)
    wanted = [(row, seed) for seed in range(seeds) for row in rows]
    for row, seed in wanted:
        row.experiment.fingerprint(conditions, seed)  # fails at once if data are missing
    missing = [(row, seed) for row, seed in wanted if not result_path(conditions.folder, table, row, seed).exists()]
    for number, (row, seed) in enumerate(missing, start=1):
        conditions.say(f"[{number}/{len(missing)}] {table.name}: {row.name}, seed {seed}")
        run_row(table, row, seed, conditions)


def check_kept(table: PaperTable, conditions: Conditions) -> None:
    """Check that all results of a table are comparable; those that cannot be checked are reported.

    Raises:
        ConfigError: naming results with other settings or data.
    """
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
    row.experiment.prepare(conditions, seed)
    devices = Devices.open(conditions.device)
    if devices.is_main:
        outcome = row.experiment.measure(conditions, seed)
        fingerprint = row.experiment.fingerprint(conditions, seed)
        result = Result(
            table=table.name, row=row.name, seed=seed, fingerprint=fingerprint, outcome=outcome, machine=machine()
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
