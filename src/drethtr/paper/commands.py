"""`drethtr reproduce` and `drethtr convert`: the paper's tables row by row, and the authors' weights as model files."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drethtr.base.config import named
from drethtr.base.encoding import decoded
from drethtr.base.errors import CheckpointError, ConfigError, DataError, require
from drethtr.base.files import make_folder, write_text
from drethtr.cli.options import DeviceName, ForceResults, Threads, Workers, output_option, refuse_unused
from drethtr.cli.outputs import refuse_results
from drethtr.cli.screen import echo

if TYPE_CHECKING:
    from drethtr.paper.authors import Conversion


def reproduce(
    ctx: typer.Context,
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
    output: Annotated[Path, output_option("FOLDER", "Folder for models and results.")] = Path("reproduced"),
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
    require("torch", "train")
    from drethtr.base.urls import identity
    from drethtr.network.devices import open_device
    from drethtr.paper.tables.material import PaperData
    from drethtr.paper.tables.paper import TABLES
    from drethtr.paper.tables.report import sheet, write_report
    from drethtr.paper.tables.scale import Full, Small, Smoke
    from drethtr.paper.tables.stage import Conditions
    from drethtr.paper.tables.table import finished, with_material
    from drethtr.paper.tables.table import reproduce as run_rows

    refuse_results(report, force=force)
    if table is None and row:
        raise ConfigError(f"--row is for one table: drethtr reproduce TABLE --row {row[0]!r}")
    if table is None:
        refuse_unused(ctx, "without TABLE nothing is trained", "data", "fonts", "text", "seeds")
    size = named("scale", scale, {kind.name: kind for kind in (Full, Small, Smoke)})()
    if isinstance(size, Smoke):
        refuse_unused(ctx, "--scale smoke generates its lines", "data", "fonts", "text")
    where = open_device(device, threads)
    if table is not None:
        chosen = named("table", table, TABLES)
        rows = chosen.chosen(row or ())
        given = PaperData.given(data or (), fonts, text or ())
        make_folder(output)
        folder = Path(identity(str(output)))  # so that a run can be resumed from another working folder
        conditions = with_material(Conditions(size, given, folder, where, workers, lambda words: echo(words, err=True)))
        run_rows(chosen, rows, seeds, conditions)
        echo(sheet(chosen, finished(conditions.folder, chosen)).markdown())
    if report is not None:
        write_text(report, write_report(output / size.name, where))
        echo(f"{report}: all results in {output / size.name}")
    if table is None and report is None:
        for each in TABLES.values():
            echo(f"{each.name}: {each.title} ({each.source})")
            echo("".join(f"    {row.name}\n" for row in each.rows), nl=False)
        echo("\nRun one with: drethtr reproduce TABLE [--row NAME] --data STEM")


def convert(
    weights: Annotated[Path, typer.Argument(metavar="WEIGHTS", help="A state dict: .pt, .pth or safetensors.")],
    output: Annotated[Path, typer.Argument(metavar="OUT", help="The model file to write.")],
    preset: Annotated[str, typer.Option(metavar="NAME", help="base or small: the published settings to start from.")],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Change a setting, such as network.prior.kind=NoPrior; repeatable."
        ),
    ] = None,
    alphabet: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Text file with the characters of the alphabet; default: those of IAM."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")] = False,
) -> None:
    """Convert the authors' weights to a model.

    Nothing in the file is executed; every weight must be used. The weights do not reveal decay, prior, normalization,
    or retention versus softmax: the published settings are assumed.
    """
    require("torch", "train")
    refuse_results(output, force=force, inputs=[str(weights)])
    from drethtr.paper.authors import convert as make_model
    from drethtr.paper.weights_file import read_weights
    from drethtr.recognition.model.file import save_model

    conversion = wanted(preset, settings or [], alphabet)
    card = {"name": weights.stem, "description": f"The DRetHTR authors' weights of {weights.name}, converted."}
    found = read_weights(weights)
    try:
        model = make_model(found, conversion, card)
    except CheckpointError as error:
        raise error.of(weights) from error
    save_model(model, output)
    size = f"{model.parameter_count:,} parameters, {model.tokenizer.size} tokens"
    echo(f"{output}: {size}, every weight used")
    echo("check that the settings are those of training: drethtr evaluate LINES --model OUT")


def wanted(preset: str, settings: list[str], alphabet: Path | None) -> "Conversion":
    """Build the settings of a conversion.

    Raises:
        ConfigError: for an unknown preset or setting.
        DataError: if the alphabet cannot be read.
    """
    from drethtr.base import config
    from drethtr.paper.authors import PRESETS, Conversion

    default = config.named("preset", preset, PRESETS)
    data: dict[str, object] = {}
    config.set_values(data, settings)
    if alphabet is not None:
        data["alphabet"] = characters_of(alphabet)
    return config.from_dict(Conversion, data, default=default)


def characters_of(path: Path) -> str:
    """The distinct characters in a text file, without line breaks."""
    try:
        text = decoded(path.read_bytes(), path)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from error
    return "".join(sorted(set(text) - {"\n", "\r"}))
