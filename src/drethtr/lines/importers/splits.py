"""Which split a file, folder or line belongs to, by its name or by lists of names."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PureWindowsPath

from drethtr.base.errors import DataError
from drethtr.documents.beside import DESCRIPTION, IMAGES
from drethtr.lines.importers.importer import Entry
from drethtr.lines.sample import LeftOut
from drethtr.lines.sources.table import rows_of
from drethtr.lines.split_names import split_named

LISTS = (".uttlist", ".lst", ".ln", ".txt")

BEHIND_NAME = re.compile(rf"(?:{'|'.join(map(re.escape, (*IMAGES, DESCRIPTION)))})(?!\S)|\t", re.IGNORECASE)
"""What ends the name of a line or page, which may hold spaces and dots: the ending of its file, or a tab."""


def split_of_path(path: Path, source: Path) -> str:
    """The split that a file's name or, from the nearest, one of its folders below the source speaks of."""
    parts = path.relative_to(source).parts if path != source else (path.name,)
    return next((split for part in reversed(parts) if (split := split_named(part))), "")


def read_lists(folder: Path) -> dict[str, str]:
    """Names of lines or pages with the split they belong to, from lists such as `train.uttlist` or `testset.txt`.

    Raises:
        DataError: if there is no such folder, it holds no lists, or a name stands in two splits.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder; name one that holds lists of splits, such as train{LISTS[0]}")
    found: dict[str, str] = {}
    for path in sorted(folder.iterdir()):
        split = split_named(path.stem)
        if path.suffix not in LISTS or not split:
            continue
        for number, row in rows_of(path):
            name = name_in(row)
            if (before := found.setdefault(name, split)) != split:
                raise DataError(f"{path} line {number}: {name} is in {before} and in {split}; keep it in one of them")
    if not found:
        raise DataError(f"{folder}: holds no lists of splits, such as train{LISTS[0]}, validation.lst, testset.txt")
    return found


def by_lists(entries: Iterable[Entry], lists: Mapping[str, str]) -> Iterator[Entry]:
    """The entries with the splits that lists give to their line or page; what is on none is left out by name.

    Where a list names folders, too, they must be those that the line or page lies in. A name that no entry has is told
    at the end.
    """
    met: set[str] = set()
    for entry in entries:
        if isinstance(entry, LeftOut):
            yield entry
            continue
        sample = entry.sample
        names = (*tails(str(Path(sample.key).absolute())), *tails(sample.page or ""))
        named = [name for name in names if name in lists]
        met.update(named)
        yield entry._replace(split=lists[named[0]]) if named else LeftOut(sample.key, "on none of the lists of splits")
    for name in sorted(lists.keys() - met):
        yield LeftOut(name, "on a list of splits, but not in the source")


def name_in(row: str) -> str:
    """The name of a line or page in a list: that of its file, without its ending, behind the folders it is given.

    Folders from the root on are left off: they are those of another computer.
    """
    path = without_ending(row)
    return path.name if path.anchor else path.as_posix()


def tails(path: str) -> Iterator[str]:
    """By what a list may name a file: its path, then less and less of its folders."""
    parts = without_ending(path).parts
    return ("/".join(parts[first:]) for first in range(len(parts)))


def without_ending(path: str) -> PureWindowsPath:
    """The name of a file without its ending; either slash, or a drive, may stand before it."""
    return PureWindowsPath(BEHIND_NAME.split(path, maxsplit=1)[0].strip())
