"""Rows of inputs, with their origin and image; inputs and parts of them have the same type."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from drethtr.base.errors import DataError
from drethtr.datasets.parquet import image_at, image_of, open_parquet

if TYPE_CHECKING:
    from pyarrow import Array, RecordBatch
    from pyarrow.parquet import ParquetFile

FETCHED = 32
"""Rows of a Parquet file in memory at a time."""


class InputRow(NamedTuple):
    """One row of an input.

    input    the input file
    number   position in it, from 0
    image    an encoded image, an image file, or why it has neither
    carried  values of carried columns, as Arrow arrays of length 1
    """

    input: str
    number: int
    image: bytes | Path | DataError
    carried: "Mapping[str, Array]"


class Rows(ABC):
    """A range of rows of an input; describing it does not read it."""

    count: int

    @abstractmethod
    def read(self) -> Iterator[InputRow]:
        """Yield the rows in order, without holding all of them in memory.

        Raises:
            DataError: if the input can no longer be read; a row without a usable image is yielded.
            OSError: if an image is temporarily unavailable.
        """

    @abstractmethod
    def part(self, first: int, count: int) -> "Rows":
        """`count` of these rows, starting at position `first`."""

    @abstractmethod
    def describe(self) -> str:
        """Describe the rows for messages."""

    @abstractmethod
    def identity(self) -> dict[str, object]:
        """Plain values that change if the input changes."""


@dataclass(frozen=True)
class ParquetRows(Rows):
    """Rows of a Parquet file.

    column   the column of images: binary, `struct{bytes, path}` or paths
    carry    columns to copy into the output
    first    number of the first row
    size     total size of the row groups in bytes, from the footer
    longest  number of rows in the longest row group
    """

    file: str
    column: str
    carry: tuple[str, ...]
    count: int
    size: int
    longest: int
    first: int = 0

    def read(self) -> Iterator[InputRow]:
        wanted, columns = range(self.first, self.first + self.count), [self.column, *self.carry]
        with open_parquet(self.file) as file:
            for number, group in groups(file, wanted):
                for batch in file.iter_batches(FETCHED, [group], columns, use_threads=False):
                    # Parquet cannot be opened in the middle of a row group: rows before the part are read and dropped.
                    for place in range(batch.num_rows):
                        if number + place in wanted:
                            yield self.row(number + place, batch.slice(place, 1))
                    number += batch.num_rows
                    if number >= wanted.stop:
                        return

    def row(self, number: int, cells: "RecordBatch") -> InputRow:
        """Build one row.

        Raises:
            DataError: if its image cannot be fetched now, which fails the part.
        """
        name = printable(self.file)
        key = f"{name} row {number}"
        image: bytes | Path | DataError
        try:
            image = image_of(cells[self.column][0].as_py(), self.file, key)
        except UnicodeDecodeError as error:
            image = DataError(f"the path of the image is not UTF-8: {error}", key)
        except DataError as error:
            image = error
        except OSError as error:
            raise DataError(str(error)) from error
        return InputRow(name, number, image, {column: cells[column] for column in self.carry})

    def part(self, first: int, count: int) -> "ParquetRows":
        return replace(self, first=self.first + first, count=count)

    def describe(self) -> str:
        return f"rows {self.first} to {self.first + self.count - 1} of {printable(self.file)}"

    def identity(self) -> dict[str, object]:
        return {"file": printable(self.file), "column": self.column, "rows": self.count, "bytes": self.size}


def bytes_of(file: str) -> int | None:
    """The size of a local file; None for a URL."""
    path = Path(file)
    return path.stat().st_size if path.is_file() else None


def printable(name: str) -> str:
    """A file name as text, with invalid UTF-8 replaced."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def groups(file: "ParquetFile", wanted: range) -> Iterator[tuple[int, int]]:
    """The row groups with wanted rows: the number of the first row, and of the group."""
    after = 0
    for group in range(file.num_row_groups):
        first, after = after, after + file.metadata.row_group(group).num_rows
        if first < wanted.stop and after > wanted.start:
            yield first, group


@dataclass(frozen=True)
class ImageRows(Rows):
    """Image files, each of them row 0 of its own input."""

    files: tuple[str, ...]
    count: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", len(self.files))

    def read(self) -> Iterator[InputRow]:
        for file in self.files:
            name = printable(file)
            try:
                yield InputRow(name, 0, image_at(file, name), {})
            except DataError as error:
                yield InputRow(name, 0, error, {})

    def part(self, first: int, count: int) -> "ImageRows":
        return ImageRows(self.files[first : first + count])

    def describe(self) -> str:
        first, last = printable(self.files[0]), printable(self.files[-1])
        return f"{self.count} images from {first} to {last}" if self.count > 1 else first

    def identity(self) -> dict[str, object]:
        files = "\n".join(f"{bytes_of(file)} {file}" for file in self.files).encode("utf-8", "surrogateescape")
        state = blake2b(files, digest_size=16).hexdigest()
        first, last = printable(self.files[0]), printable(self.files[-1])
        return {"images": self.count, "first": first, "last": last, "files": state}
