"""Samples from Parquet files, with images as Hugging Face `datasets` stores them."""

from collections.abc import Iterator
from contextlib import contextmanager
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drethtr.data.sample import Sample
from drethtr.data.split_names import set_named
from drethtr.data.urls import beside, is_url, open_file
from drethtr.errors import DataError, MissingExtraError
from drethtr.text.normalize import Spelling, nfc

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

REQUIRED = ("image", "text")
OPTIONAL = ("set", "lang", "page", "hand", "clean")

READ_AHEAD = 1 << 20
"""Bytes of a column that are fetched at a time; else whole row groups would be."""


def read_parquet(path: str | Path, spelling: Spelling = nfc) -> list[Sample]:
    """One sample per row of a file or URL; the encoded images stay in memory.

    The column `image` is binary, `struct{bytes, path}` or a path; paths are relative to the file.
    `text` is required; `set` (else the file's name without its split), `lang`, `page`, `hand` and `clean` are used
    where present.

    Raises:
        DataError: for a file that is not Parquet, a missing column, or a row without image or text.
    """
    name = str(path)
    with open_parquet(name) as file:
        rows = file.read(columns_of(file, name), use_threads=False).to_pylist()
    return [sample_of(row, name, number, spelling) for number, row in enumerate(rows)]


@contextmanager
def open_parquet(name: str) -> Iterator["ParquetFile"]:
    """A Parquet file at a path or URL; whatever goes wrong while it is read is said in a `DataError`.

    Read it with `use_threads=False`: beside torch, a process that ends soon after arrow's threads can end in an abort.

    Raises:
        MissingExtraError: without pyarrow.
    """
    try:
        import pyarrow
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise MissingExtraError("pyarrow", "train") from error
    try:
        with open_file(name) as stream, ParquetFile(stream, buffer_size=READ_AHEAD, pre_buffer=False) as file:
            yield file
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"{name}: cannot be read as Parquet: {error}") from error


def columns_of(file: "ParquetFile", name: str) -> list[str]:
    """The columns of a file that samples are made of.

    Raises:
        DataError: naming those it has, if a required one is missing.
    """
    present = file.schema_arrow.names
    if missing := [column for column in REQUIRED if column not in present]:
        raise DataError(f"{name}: no column {', '.join(missing)}; it has {', '.join(present)}")
    return [*REQUIRED, *(column for column in OPTIONAL if column in present)]


def sample_of(row: dict[str, Any], file: str, number: int, spelling: Spelling) -> Sample:
    """Make a sample of one row, counted from 0."""
    key = f"{file} row {number}"
    if not isinstance(row["text"], str):
        raise DataError(f"{key}: text is {row['text']!r}, not a string")
    clean = row.get("clean")
    return Sample(
        image=image_of(row["image"], file, key),
        text=spelling(row["text"]),
        set=word(row.get("set")) or set_named(file),
        language=word(row.get("lang")),
        page=word(row.get("page")),
        hand=word(row.get("hand")),
        clean=True if clean is None else clean,
        key=key,
    )


def word(cell: Any) -> str | None:
    """The name in a cell; pages and classes are often numbers, and whole ones fractions where cells are empty."""
    if isinstance(cell, float):
        cell = None if isnan(cell) else int(cell) if cell.is_integer() else cell
    return None if cell is None else str(cell)


def image_of(cell: Any, file: str, key: str) -> bytes | Path:
    """The encoded image in a cell of a file, or what `image_at` gives for the one that the cell names."""
    encoded = cell.get("bytes") if isinstance(cell, dict) else cell
    if isinstance(encoded, bytes):
        return encoded
    name = cell.get("path") if isinstance(cell, dict) else cell
    if not name:
        raise DataError(f"{key}: no image")
    return image_at(beside(file, str(name)), key)


def image_at(place: str, key: str) -> bytes | Path:
    """The path of an image file; from a URL, its content.

    Raises:
        DataError: if there is no such file.
        OSError: if a URL cannot be read now.
    """
    if not is_url(place):
        path = Path(place)
        if not path.is_file():
            raise DataError(f"{key}: image {path} does not exist")
        return path
    try:
        with open_file(place) as stream:
            return stream.read()
    except FileNotFoundError as error:
        raise DataError(f"{key}: image {place} does not exist") from error
