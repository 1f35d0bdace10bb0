"""PyLaia's tables, as written by Transkribus and Teklia.

    train.txt, val.txt, test.txt     image name, then the characters separately: `train/im01 d e t <space> t i l`
    syms.txt                         the alphabet
    images/train/im01.jpg            or beside the tables

Source: PyLaia wiki, "Train your own model".
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from drethtr.base.errors import DataError
from drethtr.base.files import is_file
from drethtr.datasets.layouts.layout import Layout, within
from drethtr.datasets.sample import Entry, LeftOut, Sample
from drethtr.datasets.splits import split_named
from drethtr.datasets.text_files import rows_of
from drethtr.documents.beside import IMAGES

SYMBOLS = "syms.txt"
SPACE = "<space>"
FOLDERS = ("images", ".", "imgs", "lines")
ENDINGS = ("", *sorted(IMAGES), *sorted(ending.upper() for ending in IMAGES))
"""Possible extensions of an image name in a table; cameras and scanners write upper case."""


@dataclass(frozen=True)
class PyLaia(Layout):
    """The tables whose names are exactly that of a split."""

    name = "pylaia"
    description = f"{SYMBOLS}, train.txt and images/"

    def recognizes(self, source: Path) -> bool:
        return within(source, SYMBOLS) is not None and bool(tables_of(source))

    def entries(self, source: Path) -> Iterator[Entry]:
        tables = tables_of(source)
        if not tables:
            raise DataError("has no train.txt, val.txt or test.txt", source)
        named_after = source.resolve()
        for split, table in tables.items():
            for number, row in rows_of(table):
                yield entry(fields_of(row), source, split, named_after, f"{table} line {number}")


def tables_of(source: Path) -> dict[str, Path]:
    """The table of each split; `train_ids.txt` and `train_text.txt` contain nothing more."""
    found = {
        split: path
        for path in sorted(source.glob("*.txt"))
        if (split := split_named(path.stem)) and path.stem.isalpha()
    }
    return {split: found[split] for split in ("train", "val", "test") if split in found}


def fields_of(row: str) -> list[str]:
    """An image name and its tokens, separated only by plain spaces and tabs, since U+00A0 and the like are tokens."""
    return [field for field in row.replace("\t", " ").split(" ") if field]


def entry(fields: list[str], source: Path, split: str, named_after: Path, where: str) -> Entry:
    """One row."""
    names = [f"{folder}/{fields[0]}{ending}" for folder in FOLDERS for ending in ENDINGS]
    image = next((source / place for place in names if is_file(source / place)), None)
    if image is None:
        return LeftOut(f"{where}: {fields[0]}", "no image")
    text = "".join(" " if token == SPACE else token for token in fields[1:])
    key, of_set = str(image), named_after.name
    return Sample(image, text, of_set, key=key, id=fields[0], split=split, named_after=named_after)
