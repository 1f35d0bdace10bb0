"""Select the files to read, their pages, and the folders for their results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from drethtr.base.errors import DataError
from drethtr.base.files import refuse_file
from drethtr.pages.inputs import find_inputs
from drethtr.pages.mirror import result_folders
from drethtr.pages.ranges import PageChooser, PageRanges


@dataclass(frozen=True)
class Selection:
    """Files to read.

    unreadable  errors of other inputs
    folders     the folder for the results of each file; empty if nothing is written
    chooser     chooses their pages
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
    """Find the files to read.

    Args:
        inputs: Names of files and folders, and patterns.
        output: A folder for results.
        endings: Extensions of those results.
        pages: Only these: pages of files with several, else files by their position in their folder.
        recursive: Include subfolders, and mirror them in `output`.

    Raises:
        ConfigError: if the page ranges are invalid.
        DataError: if `output` is a file.
    """
    ranges = PageRanges.parse(pages) if isinstance(pages, str) else pages
    if output is not None:
        refuse_file(output)
    files, errors = find_inputs([str(name) for name in inputs], output, endings, recursive=recursive)
    folders = {} if output is None else result_folders(files, output, inputs, recursive=recursive)
    return Selection(tuple(files), tuple(errors), folders, PageChooser(ranges, files))
