"""Parquet files of line sets: ours, and those of the Hugging Face Hub, as by Teklia and CATMuS.

On the Hub, files are named `data/train-00000-of-00003.parquet` and the like; the split is in the name of the file or
its folder. They are read in batches of rows, since a set may be larger than memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from drethtr.base.errors import DataError
from drethtr.datasets.layouts.layout import Layout
from drethtr.datasets.parquet import entry_of, open_parquet, rows_in
from drethtr.datasets.sample import Entry, Sample
from drethtr.datasets.splits import collection_of, set_at, split_of_path
from drethtr.documents.beside import visible_below
from drethtr.text.normalize import as_written


@dataclass(frozen=True)
class HuggingFace(Layout):
    """Every row of a Parquet file, or of all in a folder; handwritten, printed and typed lines are separate sets."""

    name = "hugging-face"
    description = ".parquet files with the columns image or im, and text"
    known: ClassVar = {
        (6482, 976, 2915): "Teklia/IAM-line",
        (10188, 1138, 778): "Teklia/RIMES-2011-line",
    }

    def recognizes(self, source: Path) -> bool:
        return bool(files_of(source))

    def entries(self, source: Path) -> Iterator[Entry]:
        files = files_of(source)
        if not files:
            raise DataError("contains no .parquet file", source)
        whole = collection_of(source)
        named_after = whole.parent / whole.stem if source.is_dir() else set_at(source)
        for file in files:
            yield from rows_at(str(file), named_after, split_of_path(file, source))


def files_of(source: Path) -> list[Path]:
    """The Parquet files at or below a source."""
    files = visible_below(source) if source.is_dir() else [source]
    return [file for file in files if file.suffix.lower() == ".parquet"]


def rows_at(file: str, named_after: Path, split: str) -> Iterator[Entry]:
    """The rows of a file or URL; the set of rows that name none is named after a place.

    The column `image` is binary, `struct{bytes, path}` or a path relative to the file.

    Raises:
        DataError: for a file that is not Parquet, or a missing column.
    """
    with open_parquet(file) as opened:
        for number, row in enumerate(rows_in(opened, file)):
            entry = entry_of(row, file, number, named_after, as_written)
            yield replace(entry, split=split) if isinstance(entry, Sample) else entry
