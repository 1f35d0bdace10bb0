"""The folders for results: one for all files, or a tree that mirrors their folders."""

from collections.abc import Mapping, Sequence
from os.path import commonpath
from pathlib import Path

from drethtr.base.archive import as_unpacked_beside, is_archive
from drethtr.documents.beside import page_stem


def result_folders(
    files: Sequence[Path], output: Path, inputs: Sequence[str | Path] = (), *, recursive: bool = False
) -> Mapping[Path, Path]:
    """The folder for the results of each file: `output`, or a folder below it.

    With `recursive`, subfolders of the inputs are mirrored. If files with one name in several folders would share a
    result, all folders are mirrored from their common parent. A ZIP file counts as a folder with its name, so that the
    next run, which unpacks it elsewhere, finds the results.
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
    """The path of a folder relative to its nearest root; `.` if it is below none."""
    inside = [folder.relative_to(root) for root in roots if folder.is_relative_to(root)]
    return min(inside, key=lambda place: len(place.parts), default=Path())


def share_results(places: Mapping[Path, Path]) -> bool:
    """Whether files from different folders would have the same result."""
    owners: dict[Path, Path] = {}
    results = ((place / page_stem(file), file.parent) for file, place in places.items())
    return any(owners.setdefault(result, folder) != folder for result, folder in results)
