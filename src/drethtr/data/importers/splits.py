"""Which split a file, folder or line belongs to, by its name or by lists of names."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from drethtr.data.importers.importer import Entry
from drethtr.data.sample import LeftOut
from drethtr.data.sources.table import rows_of
from drethtr.data.split_names import split_named
from drethtr.documents.beside import DESCRIPTION, IMAGES
from drethtr.errors import DataError

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
            name = name_of(row)
            if (before := found.setdefault(name, split)) != split:
                raise DataError(f"{path} line {number}: {name} is in {before} and in {split}; keep it in one of them")
    if not found:
        raise DataError(f"{folder}: holds no lists of splits, such as train{LISTS[0]}, validation.lst, testset.txt")
    return found


def by_lists(entries: Iterable[Entry], lists: Mapping[str, str]) -> Iterator[Entry]:
    """The entries with the splits that lists give to their line or page; what is on none is left out by name."""
    for entry in entries:
        if isinstance(entry, LeftOut):
            yield entry
            continue
        sample = entry.sample
        split = lists.get(name_of(sample.key)) or lists.get(name_of(sample.page or ""))
        yield entry._replace(split=split) if split else LeftOut(sample.key, "on none of the lists of splits")


def name_of(row: str) -> str:
    """The name by which lists know a line or page: that of its file, without folder and ending."""
    return Path(BEHIND_NAME.split(row, maxsplit=1)[0].strip()).name
