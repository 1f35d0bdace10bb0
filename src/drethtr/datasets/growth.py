"""Refuse Parquet files that grow without bounds: a few bytes may stand for gigabytes.

Images hardly shrink in a table, so that the size of a file bounds what it can honestly become. Its footer is asked
first. It may lie, and dictionaries and deltas repeat values without mention there, so a small file is decoded once in a
process with limits before it is decoded in this one.
"""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drethtr.base.errors import DataError
from drethtr.base.sandbox import Answer, sandboxed
from drethtr.base.urls import is_url

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

FREE, GROWTH = 32 << 20, 64
"""What each file may become: so many bytes, and so many more for each of its own."""

SMALL = 16 << 20
"""Largest file that is decoded before, in bytes; larger ones cost an attacker what they cost us."""

ROWS_TOGETHER = 32

ROW, NUMBER = 256, 32
"""Bytes that a row, and a number in it, take in Python beside texts and images."""


def refuse_growth(file: "ParquetFile", name: str, size: int) -> None:
    """Refuse an open Parquet file that becomes much larger than its `size` in bytes.

    Raises:
        DataError: if it does, or a small one cannot be decoded.
    """
    groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
    if file.metadata.num_rows * ROW + sum(group.total_byte_size for group in groups) > most(size):
        raise grown(name, size)
    if not is_url(name) and size <= SMALL:
        refuse_small(name, size, Path(name).stat().st_mtime_ns)


@lru_cache(maxsize=1024)
def refuse_small(name: str, size: int, changed: int) -> None:
    """Decode a file in a process with limits; once for each size and time of change.

    Raises:
        DataError: if it becomes too large, or cannot be decoded.
    """
    try:
        fits, _ = sandboxed(name, decode, name, most(size))
    except DataError as error:
        if error.reason.startswith("takes more than"):
            raise grown(name, size) from error
        raise
    if not fits:
        raise grown(name, size)


def most(size: int) -> int:
    """The bytes that a file may become."""
    return FREE + GROWTH * size


def grown(name: str, size: int) -> DataError:
    """The error of a file that grows."""
    return DataError(
        f"has {size:,} bytes that become more than {most(size):,}; rewrite it with fewer repetitions", name
    )


def decode(name: str, limit: int) -> Answer:
    """Whether all cells of a file together take at most `limit` bytes; runs in the child."""
    import pyarrow
    from pyarrow.parquet import ParquetFile

    pyarrow.set_memory_pool(pyarrow.system_memory_pool())  # others reserve more address space than the child has
    total = 0
    try:
        with ParquetFile(name, pre_buffer=False) as file:
            for batch in file.iter_batches(ROWS_TOGETHER, use_threads=False):
                total += ROW * batch.num_rows
                for column in batch.columns:
                    for cell in column:
                        total += bytes_of(cell)
                        if total > limit:
                            return False, b""
    except MemoryError:
        raise
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"cannot be read as Parquet: {error}", name) from error
    return True, b""


def bytes_of(cell: Any) -> int:
    """The bytes of an Arrow scalar in Python; a text that is not UTF-8 is refused where it is used."""
    try:
        return size_of(cell.as_py())
    except UnicodeDecodeError:
        return NUMBER


def size_of(value: Any) -> int:
    """The bytes of a value and of those in it."""
    if isinstance(value, bytes | str):
        return len(value)
    if isinstance(value, dict | list):
        return sum(map(size_of, value.values() if isinstance(value, dict) else value), NUMBER)
    return NUMBER
