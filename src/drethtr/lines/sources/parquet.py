"""Samples from Parquet files, with images stored as in Hugging Face `datasets`."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drethtr.base.errors import DataError, MissingExtraError
from drethtr.lines.sample import Sample
from drethtr.lines.split_names import set_named
from drethtr.lines.urls import beside, is_url, open_file, reaching
from drethtr.text.normalize import Spelling, nfc

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

REQUIRED = ("image", "text")
OPTIONAL = ("set", "lang", "page", "hand", "id", "clean")

READ_AHEAD = 1 << 20
"""Bytes of a column to fetch at a time, instead of whole row groups."""

WAYS = ("EIO", "ESTALE", "EMFILE", "ENFILE", "ENOMEM", "EAGAIN", "EBUSY", "ETIMEDOUT", "EHOSTDOWN", "ENOTCONN")
NOT_NOW = frozenset(getattr(errno, name, 0) for name in WAYS)  # not all of them exist on every system
"""System errors that concern the connection or the system rather than the file."""

MAX_IMAGE_BYTES = 200_000_000
"""Maximum bytes of an encoded image, since a URL may never end. Most lines have a few thousand."""


def read_parquet(path: str | Path, spelling: Spelling = nfc) -> Iterator[Sample | DataError]:
    """One sample per row of a file or URL, or the reason why it cannot be used; the encoded images stay in memory.

    The column `image` is binary, `struct{bytes, path}` or a path; paths are relative to the file.
    `text` is required; `set` (default: the file name without its split), `lang`, `page`, `hand`, `id` and
    `clean` are optional.

    Raises:
        DataError: for a file that is not Parquet, or a missing column.
    """
    name = str(path)
    with open_parquet(name) as file:
        rows = file.read(columns_of(file, name), use_threads=False).to_pylist()
    for number, row in enumerate(rows):
        try:
            yield sample_of(row, name, number, spelling)
        except DataError as error:
            yield error


@contextmanager
def open_parquet(name: str) -> Iterator["ParquetFile"]:
    """A Parquet file at a path or URL; errors while it is read are raised as `DataError`.

    Read it with `use_threads=False`: beside torch, a process that ends soon after arrow's threads may abort.

    Raises:
        MissingExtraError: without pyarrow.
    """
    try:
        import pyarrow
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise MissingExtraError("pyarrow", "batch") from error
    try:
        with (
            reaching(name),
            open_file(name) as stream,
            ParquetFile(stream, buffer_size=READ_AHEAD, pre_buffer=False) as file,
        ):
            yield file
    except UnicodeDecodeError as error:
        raise DataError(f"contains text that is not UTF-8; rewrite the file: {error}", name) from error
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"cannot be read as Parquet: {error}", name) from error


def columns_of(file: "ParquetFile", name: str) -> list[str]:
    """The columns of a file that samples use.

    Raises:
        DataError: if a required column is missing, naming the existing ones, or if one occurs twice.
    """
    present = file.schema_arrow.names
    for column in (*REQUIRED, *OPTIONAL):
        if present.count(column) > 1:
            raise DataError(f"has several columns {column!r}; rename all but one of them", name)
    if missing := [column for column in REQUIRED if column not in present]:
        raise DataError(f"no column {', '.join(missing)}; it has {', '.join(present)}", name)
    return [*REQUIRED, *(column for column in OPTIONAL if column in present)]


def sample_of(row: dict[str, Any], file: str, number: int, spelling: Spelling) -> Sample:
    """The sample of a row, counted from 0.

    Raises:
        DataError: naming the row, if it has no usable image or text.
    """
    key = f"{file} row {number}"
    text = text_of(row["text"], key)
    try:
        image = image_of(row["image"], file, key)
    except OSError as error:
        raise DataError(str(error)) from error
    return Sample(
        image=image,
        text=spelling(text),
        set=word(row.get("set")) or set_named(file),
        language=word(row.get("lang")),
        page=word(row.get("page")),
        hand=word(row.get("hand")),
        clean=is_clean(row.get("clean"), key),
        key=key,
        id=word(row.get("id")),
    )


def text_of(cell: Any, key: str) -> str:
    """The text in a cell.

    Raises:
        DataError: if it is not a string.
    """
    if not isinstance(cell, str):
        raise DataError(f"text is {cell!r}, not a string", key)
    return cell


def is_clean(cell: Any, key: str) -> bool:
    """Whether a cell marks its text as clean; an empty cell does.

    Raises:
        DataError: if it is not a boolean.
    """
    if cell in (None, 0, 1):  # which include false and true in Python
        return cell is None or bool(cell)
    raise DataError(f"clean is {cell!r}; expected true, false, 1, 0 or nothing", key)


def word(cell: Any) -> str | None:
    """The name in a cell; pages and classes are often integers, and floats if the column has empty cells."""
    if isinstance(cell, float):
        cell = None if isnan(cell) else int(cell) if cell.is_integer() else cell
    return None if cell is None else str(cell)


def image_of(cell: Any, file: str, key: str) -> bytes | Path:
    """The encoded image in a cell of a file, or the result of `image_at` if the cell has a path.

    Raises:
        DataError: also if there is no image.
        OSError: as `image_at`.
    """
    encoded = cell.get("bytes") if isinstance(cell, dict) else cell
    if isinstance(encoded, bytes):
        return encoded
    name = cell.get("path") if isinstance(cell, dict) else cell
    if not name:
        raise DataError("no image", key)
    return image_at(beside(file, str(name)), key)


def image_at(place: str, key: str) -> bytes | Path:
    """The path of an image file that can be opened, or the content of a URL.

    Raises:
        DataError: if there is no such file, or it cannot be an image.
        OSError: if it cannot be read now, because of the network or the system.
    """
    if not is_url(place):
        path = Path(place)
        try:
            if not path.is_file():
                raise DataError(f"image {path} does not exist", key)
            with path.open("rb") as file:
                file.read(1)
        except OSError as error:
            if error.errno in NOT_NOW:
                raise OSError(f"{key}: image {path} cannot be read now: {error.strerror}") from error
            raise DataError(f"image {path} cannot be read: {error.strerror}", key) from error
        return path
    content = bytearray()
    try:
        with reaching(place), open_file(place) as stream:
            while len(content) <= MAX_IMAGE_BYTES and (more := stream.read(READ_AHEAD)):
                content += more
    except FileNotFoundError as error:
        raise DataError(f"image {place} does not exist", key) from error
    except OSError as error:
        raise OSError(f"{key}: image {place} cannot be read now: {error}") from error
    if len(content) > MAX_IMAGE_BYTES:
        raise DataError(f"{place} has more than {MAX_IMAGE_BYTES:,} bytes, too many for a line image", key)
    return bytes(content)
