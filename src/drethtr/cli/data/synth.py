"""`drethtr data synth`: write lines of synthetic handwriting to a file or folder."""

from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

from drethtr.base.errors import DataError
from drethtr.base.wording import counted
from drethtr.cli.outputs import refuse_ending, refuse_existing, refuse_places, write_png
from drethtr.cli.screen import echo
from drethtr.datasets.layouts.folder import store_folder
from drethtr.datasets.parquet import store_parquet
from drethtr.pictures.contact_sheet import contact_sheet
from drethtr.synthesis.synthetic import Synthetic

SHOWN = 40  # lines on the contact sheet


def synth(
    output: Annotated[Path, typer.Argument(metavar="OUT", help="Output: a .parquet file or a folder.")],
    fonts: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of handwriting fonts (.ttf, .otf, .woff2).")],
    text: Annotated[
        list[Path], typer.Option(metavar="FILE", help="UTF-8 text, .txt or .txt.xz, a paragraph per line; repeatable.")
    ],
    count: Annotated[int, typer.Option(metavar="N", min=1, help="How many lines.")] = 1000,
    height: Annotated[int, typer.Option(metavar="N", help="Height of the lines in pixels.")] = 64,
    alphabet: Annotated[
        str, typer.Option(metavar="TEXT", help="Characters to use; default: all that the fonts have.")
    ] = "",
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="The same seed gives the same lines.")] = 0,
    sheet: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a picture of the first lines with their texts (.png).")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace existing files; in a folder, all numbered lines.")
    ] = False,
) -> None:
    """Generate lines of synthetic handwriting from texts and handwriting fonts."""
    as_parquet = output.suffix.lower() == ".parquet"
    if output.suffix and not (as_parquet or output.is_dir()):
        raise DataError("must end in .parquet, or be a folder name without extension", output)
    refuse_places(sheet, output if as_parquet else None)
    refuse_ending(sheet, ".png")
    refuse_existing(output, sheet, force=force)
    config = Synthetic(fonts=str(fonts), texts=tuple(map(str, text)), alphabet=alphabet, height=height)
    synthesizer = config.build()
    samples = (synthesizer.render(index, seed) for index in range(count))
    store = store_parquet if as_parquet else store_folder
    store(tqdm(samples, total=count, unit="line", disable=None), output)
    echo(f"{output}: {counted(count, 'line')}")
    if sheet is not None:
        first = [synthesizer.render(index, seed) for index in range(min(count, SHOWN))]
        captioned = [(sample.line(), f"{sample.text}   [{sample.hand}]") for sample in first]
        write_png(sheet, contact_sheet(captioned))
        echo(f"{sheet}: {counted(len(first), 'line')} of them")
