"""The folders for the results of files: one for all, or a tree that mirrors theirs."""

from collections.abc import Mapping, Sequence
from os.path import commonpath
from pathlib import Path

from drethtr.base.archive import as_unpacked_beside, is_archive
from drethtr.documents.beside import page_stem


def result_folders(
    files: Sequence[Path], output: Path, inputs: Sequence[str | Path] = (), *, recursive: bool = False
) -> Mapping[Path, Path]:
    """Where the results of each file go: into `output`, or below it.

    With `recursive` the folders below those given as inputs are mirrored. If files of one name in several folders would
    share a result, the folders of all are mirrored below the one that they have in common. A ZIP file counts as a
    folder of its name, so that the next run, which unpacks it elsewhere, finds the results.
    """
    folders = {file: as_unpacked_beside(file).parent for file in files}
    roots = [root for name in inputs if (root := root_of(Path(name))) is not None] if recursive else []
    places = {file: place_below(folder, roots) for file, folder in folders.items()}
    if share_results(places):
        try:
            common = Path(commonpath([folder.absolute() for folder in folders.values()]))
        except ValueError:  # on several drives
            return dict.fromkeys(files, output)
        places = {file: folder.absolute().relative_to(common) for file, folder in folders.items()}
    return {file: output / place for file, place in places.items()}


def root_of(path: Path) -> Path | None:
    """The folder that an input is mirrored from; None if it is neither a folder nor a ZIP file."""
    if path.is_dir():
        return path
    return path.with_suffix("") if is_archive(path) else None


def place_below(folder: Path, roots: Sequence[Path]) -> Path:
    """A folder as seen from the nearest of some above it; `.` if it is below none."""
    inside = [folder.relative_to(root) for root in roots if folder.is_relative_to(root)]
    return min(inside, key=lambda place: len(place.parts), default=Path())


def share_results(places: Mapping[Path, Path]) -> bool:
    """Whether files of different folders have the same name at the same place."""
    owners: dict[Path, Path] = {}
    results = ((place / page_stem(file), file.parent) for file, place in places.items())
    return any(owners.setdefault(result, folder) != folder for result, folder in results)
