"""`drethtr index`: index pages for search."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

from drethtr.base.errors import ConfigError, DataError
from drethtr.base.wording import counted
from drethtr.bulk.indexing import index_batch, is_batch
from drethtr.cli.options import (
    READING,
    ImagesFolder,
    Lines,
    OutlinesName,
    Pages,
    ReadingOptions,
    output_option,
    refuse_idle_layout,
    refuse_unused,
    with_reading_options,
)
from drethtr.cli.outputs import refuse_places
from drethtr.cli.progress import CONTINUE, report_skipped, say, stopping
from drethtr.cli.screen import echo
from drethtr.pages.segmentation import segmentation_named
from drethtr.pages.selection import select
from drethtr.search.build import Builder, open_builder, refuse_passing
from drethtr.search.store import Store
from drethtr.search.targets import Target, target_named


@with_reading_options()
def index(
    ctx: typer.Context,
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT",
            help="Images of pages, PDFs, PAGE or ALTO files, folders of them, patterns; or the results of one "
            "drethtr batch --posteriors.",
        ),
    ],
    output: Annotated[Path, output_option("FILE", "Index file to create or update.")] = Path("archive.drethtr.sqlite"),
    to: Annotated[
        str | None,
        typer.Option(
            metavar="TARGET",
            help="Also update a copy: parquet, a table beside the index; or a database shared by several machines, "
            "such as postgresql://user@host/name.",
        ),
    ] = None,
    lines: Lines = "auto",
    outlines: OutlinesName = "auto",
    images: ImagesFolder = None,
    pages: Pages = None,
    recursive: Annotated[bool, typer.Option("--recursive", "-r", help="Include subfolders.")] = False,
    *,
    reading: ReadingOptions,
    force: Annotated[bool, typer.Option("--force", help="Discard the index and read all pages again.")] = False,
) -> None:
    """Index pages for drethtr search, which also finds words that were misread.

    Repeat the command to resume or update: only new and changed scans are read, deleted ones are removed. Lines with
    text in PAGE or ALTO keep it; text without confidences counts as written by a person and as certain.
    """
    refuse_places(output)
    target = None if to is None else target_named(to, output)
    if any(map(is_batch, inputs)):
        of_pages = ("lines", "outlines", "images", "pages", "recursive")
        refuse_unused(ctx, "the lines of a batch are already found and read", *READING, *of_pages)
        index_results(inputs, output, rebuild=force)
        update(target, output)
        return
    reading.refuse_decoder()
    refuse_idle_layout(ctx, lines)
    segmentation = segmentation_named(lines, outlines=outlines)
    selection = select(inputs, pages=pages, recursive=recursive, images=images)
    refuse_passing(selection)
    errors: list[DataError] = []
    originals = list(selection.originals(errors.append))
    for error in errors:
        report_skipped(error)
    for words in selection.remarks:
        say(words)
    failed = len(errors)
    if not originals and not output.exists():
        raise typer.Exit(2)
    recognizer = reading.load(posteriors=True)
    read = 0
    with stopping(CONTINUE), open_builder(output, recognizer, segmentation, rebuild=force) as builder:
        waiting = list(builder.waiting(originals))
        with tqdm(total=len(waiting), unit="page", disable=None if waiting else True) as bar:
            for original in waiting:
                try:
                    prepared = segmentation.prepare(original)
                    for words in prepared.remarks(builder.read(prepared)):
                        say(words)
                    read += 1
                except DataError as error:
                    report_skipped(error)
                    failed += 1
                bar.update()
        echo(summary(builder, output, read, builder.remove_deleted(), failed))
    update(target, output)
    if failed:
        raise typer.Exit(1 if read or len(originals) > len(waiting) else 2)


def index_results(inputs: Sequence[str], output: Path, *, rebuild: bool) -> None:
    """Index the results of a batch.

    Raises:
        ConfigError: if there are other inputs.
        DataError: if they cannot be indexed.
    """
    if len(inputs) > 1:
        raise ConfigError(
            "give the results of one batch and nothing else: an index holds lines of one model and one origin"
        )
    added = index_batch(inputs[0], output, rebuild=rebuild)
    with Store.read(output) as store:
        echo(f"{output}: {counted(store.size()[1], 'line')}; {added:,} added now")


def update(target: Target | None, output: Path) -> None:
    """Update a target from the index.

    Raises:
        DataError: if it cannot be written.
    """
    if target is not None:
        with Store.read(output) as store:
            echo(target.update(store))


def summary(builder: Builder, output: Path, read: int, removed: int, failed: int) -> str:
    """What the index contains now, as text."""
    pages, lines = builder.store.size()
    parts = [f"{output}: {counted(pages, 'page')} with {counted(lines, 'line')}", f"{read:,} read now"]
    parts += [f"{removed:,} removed, because their scans are gone"] if removed else []
    if missing := len(builder.missing()):
        parts.append(
            f"{missing:,} kept from folders that are missing or empty: connect their drive, "
            "or rebuild the index without them (--force)"
        )
    parts += [f"{failed:,} could not be read"] if failed else []
    return "; ".join(parts)
