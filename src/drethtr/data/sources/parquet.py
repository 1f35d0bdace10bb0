"""Samples from Parquet files, with images as Hugging Face `datasets` stores them."""

from pathlib import Path
from typing import Any

from drethtr.data.sample import Sample
from drethtr.errors import DataError, MissingExtraError
from drethtr.text.normalize import Spelling, nfc

REQUIRED = ("image", "text")
OPTIONAL = ("set", "lang", "page", "hand", "clean")


def read_parquet(path: Path, spelling: Spelling = nfc) -> list[Sample]:
    """One sample per row; the encoded images stay in memory.

    The column `image` is binary or `struct{bytes, path}`; where `bytes` is null, `path` is relative to the file.
    `text` is required; `set` (else the file's name), `lang`, `page`, `hand` and `clean` are used where present.

    Raises:
        DataError: for a file that is not Parquet, a missing column, or a row without image or text.
    """
    try:
        import pyarrow
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise MissingExtraError("pyarrow", "train") from error
    try:
        with ParquetFile(path) as file:
            present = file.schema_arrow.names
            if missing := [name for name in REQUIRED if name not in present]:
                raise DataError(f"{path}: no column {', '.join(missing)}; it has {', '.join(present)}")
            rows = file.read([*REQUIRED, *(name for name in OPTIONAL if name in present)]).to_pylist()
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"{path}: cannot be read as Parquet: {error}") from error
    return [sample_of(row, path, number, spelling) for number, row in enumerate(rows)]


def sample_of(row: dict[str, Any], path: Path, number: int, spelling: Spelling) -> Sample:
    """Make a sample of one row, counted from 0."""
    key = f"{path} row {number}"
    if not isinstance(row["text"], str):
        raise DataError(f"{key}: text is {row['text']!r}, not a string")
    clean = row.get("clean")
    return Sample(
        image=image_of(row["image"], path.parent, key),
        text=spelling(row["text"]),
        set=row.get("set") or path.stem,
        language=row.get("lang"),
        page=row.get("page"),
        hand=row.get("hand"),
        clean=True if clean is None else clean,
        key=key,
    )


def image_of(cell: Any, folder: Path, key: str) -> bytes | Path:
    """The encoded image in a cell, or the file that the cell names."""
    encoded = cell.get("bytes") if isinstance(cell, dict) else cell
    if isinstance(encoded, bytes):
        return encoded
    name = cell.get("path") if isinstance(cell, dict) else None
    if not name:
        raise DataError(f"{key}: no image")
    path = folder / str(name)
    if not path.is_file():
        raise DataError(f"{key}: image {path} does not exist")
    return path
