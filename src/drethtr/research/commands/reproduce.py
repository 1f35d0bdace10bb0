"""`drethtr reproduce`: reproduce the paper's tables, row by row."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drethtr.base.config import named
from drethtr.base.files import make_folder, write_text
from drethtr.cli.choices import DeviceName, ForceResults, Threads, Workers
from drethtr.cli.outputs import refuse_results

if TYPE_CHECKING:
    from drethtr.research.tables.scale import Scale
    from drethtr.research.tables.table import PaperTable


NEEDS = {"torch": "train"}


def reproduce(
    table: Annotated[str | None, typer.Argument(metavar="TABLE", help="Table to reproduce; default: list all.")] = None,
    row: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only this row; repeatable.")] = None,
    scale: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="full: as published. small: minutes per row on two cores. smoke: seconds, no data."
        ),
    ] = "small",
    data: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STEM", help="Lines: STEM.train.parquet, STEM.val.parquet, STEM.test.parquet; NAME=STEM for a set."
        ),
    ] = None,
    fonts: Annotated[str | None, typer.Option(metavar="FOLDER", help="Handwriting fonts, for pretraining.")] = None,
    text: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="Text for synthetic lines; repeatable.")
    ] = None,
    seeds: Annotated[int, typer.Option(metavar="N", min=1, help="Number of runs, with seeds from 0.")] = 1,
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for models and results.")] = Path("reproduced"),
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write all results of the folder, with pictures, to this .html file."),
    ] = None,
    force: ForceResults = False,
    workers: Workers = 1,
    device: DeviceName = "auto",
    threads: Threads = None,
) -> None:
    """Train and evaluate the paper's systems, and print the results beside the published ones.

    Results are kept: a finished row is not run again, and an interrupted one resumes. --report collects all of them in
    one page with pictures.
    """
    from drethtr.lines.urls import identity
    from drethtr.research.commands.bench.choices import opened
    from drethtr.research.tables.comparison import sheet
    from drethtr.research.tables.material import PaperData
    from drethtr.research.tables.report import write_report
    from drethtr.research.tables.reproduce import finished, with_material
    from drethtr.research.tables.reproduce import reproduce as run_rows
    from drethtr.research.tables.stage import Conditions

    refuse_results(report, force=force)
    size, where = scale_named(scale), opened(device, threads)
    if table is not None:
        chosen = table_named(table)
        rows = chosen.chosen(row or ())
        given = PaperData.given(data or (), fonts, text or ())
        make_folder(output)
        folder = Path(identity(str(output)))  # so that a run can be resumed from another working folder
        conditions = with_material(
            Conditions(size, given, folder, where, workers, lambda words: typer.echo(words, err=True))
        )
        run_rows(chosen, rows, seeds, conditions)
        typer.echo(sheet(chosen, finished(conditions.folder, chosen)).markdown())
    if report is not None:
        write_text(report, write_report(output / size.name, where))
        typer.echo(f"{report}: all results in {output / size.name}")
    if table is None and report is None:
        typer.echo(listing())


def listing() -> str:
    """The tables and their rows."""
    from drethtr.research.tables.paper import TABLES

    parts = []
    for table in TABLES.values():
        parts.append(f"{table.name}: {table.title} ({table.source})")
        parts += [f"    {row.name}" for row in table.rows]
    return "\n".join([*parts, "", "Run one with: drethtr reproduce TABLE [--row NAME] --data STEM"])


def table_named(name: str) -> "PaperTable":
    """Look up a table by name.

    Raises:
        ConfigError: if the name is unknown.
    """
    from drethtr.research.tables.paper import TABLES

    return named("table", name, TABLES)


def scale_named(name: str) -> "Scale":
    """Look up a scale by name.

    Raises:
        ConfigError: if the name is unknown.
    """
    from drethtr.research.tables.scale import Full, Small, Smoke

    known = {kind.name: kind for kind in (Full, Small, Smoke)}
    return named("scale", name, known)()
