"""Which split a file, folder or line belongs to, by its name or by lists of names."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from drethtr.data.importers.importer import Entry, LeftOut
from drethtr.data.sources.table import rows_of
from drethtr.errors import DataError

SPLIT_WORDS: Mapping[str, tuple[str, ...]] = {
    "train": ("train", "training", "trainset", "trainlines", "tr"),
    "val": ("val", "valid", "validation", "validationset1", "validationset2", "validationlines", "dev", "va"),
    "test": ("test", "testing", "testset", "testlines", "te", "eval"),
}
LISTS = (".uttlist", ".lst", ".ln", ".txt")


def split_named(name: str) -> str:
    """The split that a name speaks of, such as `iam.train.parquet` or `ValidationLines.lst`; "" if of none."""
    words = set(re.findall(r"[a-z0-9]+", name.lower()))
    return next((split for split, known in SPLIT_WORDS.items() if words.intersection(known)), "")


def split_of_path(path: Path, source: Path) -> str:
    """The split that a file's name or, from the nearest, one of its folders below the source speaks of."""
    parts = path.relative_to(source).parts if path != source else (path.name,)
    return next((split for part in reversed(parts) if (split := split_named(part))), "")


def read_lists(folder: Path) -> dict[str, str]:
    """Names of lines or pages with the split they belong to, from lists such as `train.uttlist` or `testset.txt`.

    Raises:
        DataError: if the folder holds no lists, or a name stands in two splits.
    """
    found: dict[str, str] = {}
    for path in sorted(folder.iterdir()):
        split = split_named(path.stem)
        if path.suffix not in LISTS or not split:
            continue
        for number, row in rows_of(path):
            name = Path(row.split()[0]).name.removesuffix(".png").removesuffix(".xml")
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
        page = sample.page or ""
        split = lists.get(line_name(sample.key)) or lists.get(page) or lists.get(Path(page).name)
        yield entry._replace(split=split) if split else LeftOut(sample.key, "on none of the lists of splits")


def line_name(key: str) -> str:
    """The name by which lists know a line: that of its image file, without folder and ending."""
    return Path(key).stem
