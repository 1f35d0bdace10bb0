"""The folders for the results of files: one for all, or a tree that mirrors theirs."""

from collections.abc import Mapping, Sequence
from os.path import commonpath
from pathlib import Path

from drethtr.documents.beside import page_stem


def result_folders(
    files: Sequence[Path], output: Path, inputs: Sequence[str | Path] = (), *, recursive: bool = False
) -> Mapping[Path, Path]:
    """Where the results of each file go: into `output`, or below it.

    With `recursive` the folders below those given as inputs are mirrored. If files of one name in several folders would
    share a result, the folders of all are mirrored below the one that they have in common.
    """
    roots = [Path(name) for name in inputs if Path(name).is_dir()] if recursive else []
    places = {file: place_below(file, roots) for file in files}
    if share_results(places):
        try:
            common = Path(commonpath([file.parent.absolute() for file in files]))
        except ValueError:  # on several drives
            return dict.fromkeys(files, output)
        places = {file: file.parent.absolute().relative_to(common) for file in files}
    return {file: output / place for file, place in places.items()}


def place_below(file: Path, roots: Sequence[Path]) -> Path:
    """The folder of a file below the nearest of some folders; `.` if it is below none."""
    inside = [file.parent.relative_to(root) for root in roots if file.parent.is_relative_to(root)]
    return min(inside, key=lambda place: len(place.parts), default=Path())


def share_results(places: Mapping[Path, Path]) -> bool:
    """Whether files of different folders have the same name at the same place."""
    owners: dict[Path, Path] = {}
    results = ((place / page_stem(file), file.parent) for file, place in places.items())
    return any(owners.setdefault(result, folder) != folder for result, folder in results)
