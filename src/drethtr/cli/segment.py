"""`drethtr segment`: find lines, regions and reading order of pages, without reading them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

from drethtr.base.archive import archive_of
from drethtr.base.cache import address_of
from drethtr.base.errors import ConfigError, DataError
from drethtr.base.files import is_there
from drethtr.base.wording import counted
from drethtr.cli.options import ImagesFolder, Lines, Pages, TableOrder, format_option, output_option, threads_option
from drethtr.cli.progress import CONTINUE, report_skipped, say, stopping
from drethtr.cli.screen import echo
from drethtr.documents.formats import FORMATS, formats_named
from drethtr.pages.segment import segment_file
from drethtr.pages.segmentation import segmentation_named
from drethtr.pages.selection import select
from drethtr.pages.task import refuse_shared_results, task_for
from drethtr.pages.volume import given_name

WITH_LINES = {name: FORMATS[name] for name in ("page", "alto", "json")}
"""Formats that hold lines without text."""


def segment(
    inputs: Annotated[
        list[str], typer.Argument(metavar="INPUT", help="Images of pages, PDFs, folders and ZIPs of them, patterns.")
    ],
    format: Annotated[str, format_option("Comma-separated: page, alto, json.", WITH_LINES)] = "page",
    output: Annotated[
        Path | None,
        output_option("FOLDER", "Folder for the results; default: beside the scans."),
    ] = None,
    lines: Lines = "auto",
    order: TableOrder = "auto",
    images: ImagesFolder = None,
    pages: Pages = None,
    recursive: Annotated[bool, typer.Option("--recursive", "-r", help="Include subfolders.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace files that drethtr wrote and nobody edited.")] = False,
    threads: Annotated[
        int | None, threads_option("Threads to find lines with; default: one per free processor.")
    ] = None,
) -> None:
    """Find lines, regions, tables and reading order of page scans, without reading them.

    The files open in eScriptorium, Transkribus and other programs, and in drethtr edit; drethtr transcribe reads them
    after corrections. Existing files are kept; the exit code is 1 if a page cannot be used, or 2 if none can.
    """
    formats = formats_named(format.split(","), WITH_LINES)
    segmentation = segmentation_named(lines, order)
    endings = [one.ending for one in formats.values()]
    selection = select(inputs, output, endings, pages=pages, recursive=recursive, images=images)
    if output is None:
        refuse_passing(selection.files)
    failed, done, kept, found = 0, 0, 0, 0

    def skip(error: DataError) -> None:
        nonlocal failed
        failed += 1
        report_skipped(error)

    tasks = [
        task_for(file, originals, formats, selection.folders.get(file, file.parent), update=False)
        for file, originals in selection.opened(skip)
    ]
    refuse_shared_results(tasks)
    with stopping(CONTINUE), tqdm(tasks, unit="file", disable=None) as bar:
        for task in bar:
            number = segment_file(task, formats, segmentation, force=force, threads=threads, report=say, skip=skip)
            done, found = done + (number is not None), found + (number or 0)
            kept += number is None and not force and any(map(is_there, task.wanted))
    for words in selection.remarks:
        say(words)
    where = "; results are beside the scans" if output is None else f"; results are in {output}"
    rest = f"; {counted(kept, 'file')} kept" if kept else ""
    echo(f"{counted(found, 'line')} found in {counted(done, 'file')}{where if done or kept else ''}{rest}")
    if failed:
        raise typer.Exit(1 if done or kept else 2)


def refuse_passing(files: Iterable[Path]) -> None:
    """Refuse files of a ZIP file or from an address: what was unpacked or fetched is in a folder nobody looks into.

    Raises:
        ConfigError: naming the first.
    """
    for file in files:
        archive = archive_of(file)
        if archive is not None or address_of(file) is not None:
            raise ConfigError(
                "results cannot be beside its scans; give a folder as --output", archive or given_name(file)
            )
