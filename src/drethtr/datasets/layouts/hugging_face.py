"""Parquet files of line sets: ours, and those of the Hugging Face Hub, as by Teklia and CATMuS.

On the Hub, files are named `data/train-00000-of-00003.parquet` and the like; the split is in the name of the file or
its folder. They are read in batches of rows, since a set may be larger than memory.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from drethtr.base.credentials import without_credentials
from drethtr.base.errors import DataError
from drethtr.datasets.layouts.layout import Layout
from drethtr.datasets.parquet import open_parquet, sample_of, word
from drethtr.datasets.sample import Entry, LeftOut
from drethtr.datasets.splits import set_named, split_of_path
from drethtr.documents.beside import visible_below
from drethtr.text.normalize import as_written

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

COLUMNS = {
    "image": ("image", "im"),
    "text": ("text",),
    "lang": ("language", "lang"),
    "page": ("page",),
    "hand": ("hand", "shelfmark"),
    "kind": ("writing_type",),
    "set": ("set",),
    "id": ("id",),
    "clean": ("clean",),
}
"""Possible names of each column. A shelfmark is used as the hand, the closest information in CATMuS."""

ROWS_TOGETHER = 256  # in memory at a time; an image of a line takes some ten kB


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
        name = source.resolve().stem if source.is_dir() else set_named(source)
        for file in files:
            yield from rows_at(str(file), name, split_of_path(file, source))


def files_of(source: Path) -> list[Path]:
    """The Parquet files at or below a source."""
    files = visible_below(source) if source.is_dir() else [source]
    return [file for file in files if file.suffix.lower() == ".parquet"]


def rows_at(file: str, name: str, split: str) -> Iterator[Entry]:
    """The rows of a file or URL; `name` is the set of rows that name none.

    The column `image` is binary, `struct{bytes, path}` or a path relative to the file.

    Raises:
        DataError: for a file that is not Parquet, or a missing column.
    """
    with open_parquet(file) as opened:
        columns = columns_in(opened, file)
        classes = class_names(opened.schema_arrow.metadata or {})
        number = 0
        # Without threads: beside torch, a process that ends soon after those of arrow may abort.
        for batch in opened.iter_batches(ROWS_TOGETHER, columns=list(columns.values()), use_threads=False):
            for cells in batch.to_pylist():
                row = {name: named_class(cells[column], classes.get(column, ())) for name, column in columns.items()}
                row["set"] = "_".join(filter(None, (word(row.get("set")) or name, word(row.get("kind")))))
                try:
                    yield replace(sample_of(row, file, number, as_written), split=split)
                except DataError as error:
                    key = without_credentials(f"{file} row {number}")
                    yield LeftOut(key, "unusable row", error.reason.removeprefix(f"{key}: "))
                number += 1


def columns_in(file: "ParquetFile", name: str) -> dict[str, str]:
    """The names that a file gives to our columns.

    Raises:
        DataError: if a required column is missing, naming the existing ones, or if one occurs twice.
    """
    present = file.schema_arrow.names
    for column in (column for names in COLUMNS.values() for column in names):
        if present.count(column) > 1:
            raise DataError(f"has several columns {column!r}; rename all but one of them", name)
    found = {ours: next((column for column in names if column in present), "") for ours, names in COLUMNS.items()}
    if missing := [ours for ours in ("image", "text") if not found[ours]]:
        raise DataError(f"no column {' or '.join(COLUMNS[missing[0]])}; it has {', '.join(present)}", name)
    return {ours: column for ours, column in found.items() if column}


def class_names(metadata: Mapping[bytes, bytes]) -> dict[str, Sequence[str]]:
    """The class names of integer-coded columns, if the file was written by `datasets`."""
    try:
        features = json.loads(metadata[b"huggingface"])["info"]["features"]
        named = {column: feature["names"] for column, feature in features.items() if "names" in feature}
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return {}
    return {column: names for column, names in named.items() if isinstance(names, list)}


def named_class(cell: Any, names: Sequence[str]) -> Any:
    """The name of the class of an integer-coded cell, or the cell itself."""
    return names[cell] if isinstance(cell, int) and 0 <= cell < len(names) else cell
