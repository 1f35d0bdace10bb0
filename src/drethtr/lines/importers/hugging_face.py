"""Parquet files of line sets on the Hugging Face Hub: Teklia's (`image`, `text`), CATMuS (`im`, `text`, ...).

Files are named `data/train-00000-of-00003.parquet` and the like; the split is in the name of the file or its folder.
They are read by row group, since a set may be larger than memory.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from drethtr.base.errors import DataError
from drethtr.documents.beside import visible_below
from drethtr.lines.importers.importer import Entry, ImportedLine, Importer
from drethtr.lines.importers.splits import split_of_path
from drethtr.lines.sample import LeftOut, Sample
from drethtr.lines.sources.parquet import is_clean, open_parquet, word
from drethtr.lines.split_names import set_named
from drethtr.text.normalize import nfc

COLUMNS = {
    "image": ("image", "im"),
    "text": ("text",),
    "language": ("language", "lang"),
    "page": ("page",),
    "hand": ("hand", "shelfmark"),
    "kind": ("writing_type",),
    "set": ("set",),
    "id": ("id",),
    "clean": ("clean",),
}
"""Possible names of each column. A shelfmark is used as the hand, the closest information in CATMuS."""

ROWS_TOGETHER = 256


@dataclass(frozen=True)
class HuggingFace(Importer):
    """Every row of every Parquet file in a folder; handwritten, printed and typed lines become separate sets."""

    name = "hugging-face"
    layout = "Hugging Face: .parquet files with the columns image or im, and text"
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
            split = split_of_path(file, source)
            for number, row in enumerate(rows(file)):
                yield entry(row, split, name, f"{file} row {number}")


def files_of(source: Path) -> list[Path]:
    """The Parquet files at or below a source."""
    files = visible_below(source) if source.is_dir() else [source]
    return [file for file in files if file.suffix == ".parquet"]


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file, with columns renamed to ours."""
    with open_parquet(str(path)) as file:
        present = file.schema_arrow.names
        named = {name: next((c for c in known if c in present), None) for name, known in COLUMNS.items()}
        if missing := [name for name in ("image", "text") if named[name] is None]:
            raise DataError(f"no column {' or '.join(COLUMNS[missing[0]])}; it has {', '.join(present)}", path)
        chosen = {name: column for name, column in named.items() if column is not None}
        classes = class_names(file.schema_arrow.metadata or {})
        for batch in file.iter_batches(ROWS_TOGETHER, columns=list(chosen.values()), use_threads=False):
            for row in batch.to_pylist():
                yield {name: named_class(row[column], classes.get(column, ())) for name, column in chosen.items()}


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


def entry(row: dict[str, Any], split: str, name: str, key: str) -> Entry:
    """One row."""
    image = row["image"].get("bytes") if isinstance(row["image"], dict) else row["image"]
    if not isinstance(image, bytes):
        return LeftOut(key, "no image bytes")
    if not isinstance(row["text"], str):
        return LeftOut(key, "no text")
    name, kind = word(row.get("set")) or name, word(row.get("kind"))
    sample = Sample(
        image,
        nfc(row["text"]),
        f"{name}_{kind}" if kind else name,
        word(row.get("language")),
        word(row.get("page")),
        word(row.get("hand")),
        clean=is_clean(row.get("clean"), key),
        key=key,
        id=word(row.get("id")),
    )
    return ImportedLine(split, sample)
