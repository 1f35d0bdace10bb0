"""The selected files, their pages, and the folders for their results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from drethtr.base.errors import DataError
from drethtr.base.outputs import refuse_file
from drethtr.pages.inputs import find_inputs
from drethtr.pages.mirror import result_folders
from drethtr.pages.ranges import PageChooser, PageRanges


@dataclass(frozen=True)
class Selection:
    """Files to read.

    unreadable  why others cannot be
    folders     where the results of each go; none if nothing is written
    chooser     which of their pages are wanted
    """

    files: tuple[Path, ...]
    unreadable: tuple[DataError, ...]
    folders: Mapping[Path, Path]
    chooser: PageChooser


def select(
    inputs: Sequence[str | Path],
    output: Path | None = None,
    endings: Sequence[str] = (),
    *,
    pages: PageRanges | str | None = None,
    recursive: bool = False,
) -> Selection:
    """Find what is to be read.

    Args:
        inputs: Names of files and folders, and patterns.
        output: A folder for results.
        endings: How those results end.
        pages: Read these only: pages of files that have several, else files by their place in their folder.
        recursive: Also read the folders below those that are named, and mirror them in `output`.

    Raises:
        ConfigError: if the ranges of pages make no sense.
        DataError: if `output` is a file.
    """
    ranges = PageRanges.parse(pages) if isinstance(pages, str) else pages
    if output is not None:
        refuse_file(output)
    files, errors = find_inputs([str(name) for name in inputs], output, endings, recursive=recursive)
    folders = {} if output is None else result_folders(files, output, inputs, recursive=recursive)
    return Selection(tuple(files), tuple(errors), folders, PageChooser(ranges, files))
