"""Refuse Parquet files that grow without bounds: a few bytes may stand for gigabytes.

Images hardly compress, so the size of a genuine file limits its decoded size. The footer is checked first. But a footer
may lie, and it does not show values repeated by dictionaries and deltas, so a small file is first decoded in a process
with limits.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drethtr.base.errors import DataError
from drethtr.base.sandbox import Answer, sandboxed
from drethtr.base.urls import local_path

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

FREE, GROWTH = 32 << 20, 64
"""Limit of the decoded size of a file: `FREE` bytes, plus `GROWTH` for each byte of the file."""

SMALL = 16 << 20
"""Largest file in bytes that is first decoded with limits; a larger one costs an attacker as much as us."""

ROWS_TOGETHER = 32  # converted to Python objects at a time, before their size is known

ROW, NUMBER = 256, 32
"""Bytes that a row, and a number in it, take in Python, in addition to texts and images."""


def refuse_growth(file: "ParquetFile", name: str, size: int) -> None:
    """Refuse an open Parquet file that becomes much larger than its `size` in bytes.

    Raises:
        DataError: if it does.
    """
    groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
    if file.metadata.num_rows * ROW + sum(group.total_byte_size for group in groups) > size_limit(size):
        raise too_large(name, size)
    path = local_path(name)
    if path is not None and size <= SMALL:
        refuse_small(path, size, path.stat().st_mtime_ns)


@lru_cache(maxsize=1024)
def refuse_small(path: Path, size: int, changed: int) -> None:
    """Decode a file in a process with limits; once for each size and time of change.

    Raises:
        DataError: if it becomes too large.
    """
    try:
        fits, _ = sandboxed(str(path), decode, path, size_limit(size))
    except DataError as error:
        if error.reason.startswith("takes more than"):
            raise too_large(path, size) from error
        raise
    if not fits:
        raise too_large(path, size)


def size_limit(size: int) -> int:
    """The limit of the decoded bytes of a file."""
    return FREE + GROWTH * size


def too_large(name: str | Path, size: int) -> DataError:
    """The error for a file that decodes to too many bytes."""
    return DataError(
        f"has {size:,} bytes that become more than {size_limit(size):,}; rewrite it with fewer repetitions", name
    )


def decode(path: Path, limit: int) -> Answer:
    """Whether all cells of a file together take at most `limit` bytes; runs in the child."""
    import pyarrow
    from pyarrow.parquet import ParquetFile

    pyarrow.set_memory_pool(pyarrow.system_memory_pool())  # others reserve more address space than the child has
    with path.open("rb") as stream, ParquetFile(stream, pre_buffer=False) as file:
        groups, columns = range(file.num_row_groups), file.schema_arrow.names
        try:
            total = bytes_of(file, groups, columns, limit)
        except (pyarrow.ArrowException, OSError):  # damaged somewhere; the readable part counts
            total = 0
            for group, column in product(groups, columns):
                with suppress(pyarrow.ArrowException, OSError):
                    total += bytes_of(file, [group], [column], limit)
    return total <= limit, b""


def bytes_of(file: "ParquetFile", groups: Sequence[int], columns: Sequence[str], limit: int) -> int:
    """The bytes of some columns in Python, or any number above the limit."""
    total: int = 0
    for batch in file.iter_batches(ROWS_TOGETHER, list(groups), list(columns), use_threads=False):
        total += ROW * int(batch.num_rows)
        for cell in chain.from_iterable(batch.columns):
            try:
                total += size_of(cell.as_py())
            except (ValueError, ArithmeticError, NotImplementedError):  # no UTF-8, or no such time in Python
                total += NUMBER
            if total > limit:
                return total
    return total


def size_of(value: Any) -> int:
    """The bytes of a value and of those in it."""
    if isinstance(value, bytes | str):
        return len(value)
    if isinstance(value, dict | list | tuple):
        return sum(map(size_of, value.values() if isinstance(value, dict) else value), NUMBER)
    return NUMBER
