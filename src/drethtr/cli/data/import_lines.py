"""`drethtr data import`: import transcribed lines of a known layout."""

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

from drethtr.base.archive import as_given, is_archive, unpack_once
from drethtr.base.errors import DataError
from drethtr.base.wording import counted
from drethtr.cli.options import WITHOUT_PAGES, ImagesFolder, OutlinesName, refuse_unused
from drethtr.cli.outputs import refuse_among_tables, refuse_ending, refuse_places, refuse_results, write_json
from drethtr.cli.progress import left_out_of, remarks_of
from drethtr.cli.screen import echo
from drethtr.datasets.layouts import layout_for
from drethtr.datasets.layouts.layout import Layout
from drethtr.datasets.layouts.pages import UNCONFIRMED, Pages
from drethtr.datasets.parquet import ParquetStore
from drethtr.datasets.sample import Entry, LeftOut, Tally, checked
from drethtr.datasets.splits import by_lists, read_lists
from drethtr.layout.given import outlines_named
from drethtr.pages.selection import image_folder
from drethtr.text.normalize import nfc

SPLITS = ("train", "val", "test", "")
NO_SPLITS = "none"
SHOWN = 3  # lines listed per reason, and pages; --json has all


def import_lines(
    ctx: typer.Context,
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="The folder, file or ZIP export to import.")],
    output: Annotated[
        Path, typer.Argument(metavar="OUT", help="OUT.parquet; OUT.train.parquet and so on where there are splits.")
    ],
    layout: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Layout of SOURCE, such as iam-xml; default: detect it."),
    ] = None,
    splits: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder with lists of line or page names: train.txt, val.lst, test.uttlist; none: no splits, "
            "whatever files and folders are called.",
        ),
    ] = None,
    outlines: OutlinesName = "auto",
    images: ImagesFolder = None,
    set_name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the data set; default: the layout's.")
    ] = None,
    language: Annotated[
        str | None, typer.Option("--lang", metavar="LANGUAGE", help="Language of the lines, such as de.")
    ] = None,
    unconfirmed: Annotated[
        bool,
        typer.Option("--unconfirmed", help="From a folder of drethtr edit, also import unconfirmed lines."),
    ] = False,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Also write what was imported and left out to this file."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace existing files, including those of all splits.")
    ] = False,
) -> None:
    """Import line images and texts of a known layout to Parquet files; images are copied as they are where possible."""
    refuse_ending(output, ".parquet")
    outputs = [file_of(output, split) for split in SPLITS]
    refuse_places(output, *outputs)  # output first, since errors should name what was typed
    refuse_results(*outputs, json_file, force=force, inputs=[str(source)])
    folder = unpack_once(source) if is_archive(source) else source
    found = layout_for(folder, layout)
    if isinstance(found, Pages):
        of, beside = outlines_named(outlines), image_folder(images)
        found = replace(found, unconfirmed=unconfirmed, outlines=of, images=beside)
    else:
        refuse_unused(ctx, WITHOUT_PAGES, "outlines", "images", "unconfirmed")
    refuse_among_tables(output, source, found)
    echo(f"Layout {found.name}: {found.description}.")
    entries: Iterable[Entry] = found.entries(folder)
    if splits == NO_SPLITS:
        entries = (entry if isinstance(entry, LeftOut) else replace(entry, split="") for entry in entries)
    elif splits is not None:
        entries = by_lists(entries, read_lists(Path(splits)))
    tally = Tally()
    write_lines(entries, output, tally, set_name, language)
    left_out = {reason: list(map(as_given, keys)) for reason, keys in tally.left_out.items()}
    tally = replace(tally, left_out=left_out)
    if tally.lines:
        echo(summary(found, tally, output))
        remove_earlier(output, tally)
    if json_file is not None:
        write_json(json_file, {"layout": found.name, "convention": found.convention, **vars(tally)})
    if not tally.lines:
        cure = "; confirm lines in drethtr edit, or add --unconfirmed" if UNCONFIRMED in tally.left_out else ""
        raise DataError(f"no line could be imported{cure}{reasons(tally)}", source)


def write_lines(
    entries: Iterable[Entry], output: Path, tally: Tally, set_name: str | None, language: str | None
) -> None:
    """Write every entry to the file of its split, and count it."""
    stores: dict[str, ParquetStore] = {}
    with ExitStack() as stack:
        for entry in map(checked, tqdm(entries, unit="line", disable=None)):
            tally.count(entry)
            if isinstance(entry, LeftOut):
                continue
            if entry.split not in stores:
                stores[entry.split] = stack.enter_context(ParquetStore(file_of(output, entry.split)))
            changed = replace(
                entry, text=nfc(entry.text), set=set_name or entry.set, language=language or entry.language
            )
            stores[entry.split].add(changed)


def remove_earlier(output: Path, tally: Tally) -> None:
    """Remove the files of splits that an earlier import had and this one, which replaces it, has not."""
    for split in SPLITS:
        if split not in tally.lines and (earlier := file_of(output, split)).exists():
            earlier.unlink()
            echo(f"{earlier}: removed, since it belonged to the import that this one replaces")


def file_of(output: Path, split: str) -> Path:
    """The output file of a split."""
    return output.with_suffix(f".{split}.parquet") if split else output


def summary(layout: Layout, tally: Tally, output: Path) -> str:
    """A summary of an import."""
    lines = []
    for split in SPLITS:
        if split in tally.lines:
            lines.append(f"{file_of(output, split)}: {counted(tally.lines[split], 'line')}")
            folders = tally.folders[split] if split else {}  # what made the split, so that the user can judge it
            lines += [f"  from {as_given(folder)}: {number:,}" for folder, number in list(folders.items())[:SHOWN]]
            lines += [f"  and {len(folders) - SHOWN:,} more folders"] if len(folders) > SHOWN else []
    sizes = tuple(tally.lines.get(split, 0) for split in SPLITS[:3])
    if layout.known and not tally.lines.keys() - set(SPLITS[:3]):
        known = layout.known.get(sizes)
        found = "{:,} train, {:,} val, {:,} test: not a published split".format(*sizes)
        lines.append(f"Split: {known or found}.")
    if tally.unclean:
        number = counted(tally.unclean, "line")
        lines.append(f"{number} with editorial marks, never used for training or evaluation; see data check.")
    lines += remarks_of(tally, SHOWN)
    return "\n".join([*lines, f"Convention: {layout.convention}.{reasons(tally)}"])


def reasons(tally: Tally) -> str:
    """What was left out and why, as text."""
    return "".join(f"\n{row}" for row in left_out_of(tally, SHOWN))
