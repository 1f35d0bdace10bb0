"""The inputs of a job: find and inspect them, split them into parts, and read their rows; a part is a range of rows."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import groupby
from pathlib import Path, PurePath, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from drethtr.base.config import hint
from drethtr.base.credentials import without_credentials
from drethtr.base.errors import ConfigError, DataError, first_line
from drethtr.base.urls import beside, find_files, identity, locate, out_of_archive, reaching
from drethtr.bulk.output import JOB, WRITTEN
from drethtr.datasets.parquet import image_at, image_of, open_parquet
from drethtr.documents.beside import IMAGES

if TYPE_CHECKING:
    from pyarrow import Array, DataType, RecordBatch, Schema
    from pyarrow.parquet import ParquetFile

PARQUET = ".parquet"
IMAGE_COLUMNS = ("image", "im", "path", "file")
"""Default names of the image column; the first that exists is used."""

IMAGE_TYPES = frozenset({"binary", "large_binary", "binary_view", "string", "large_string", "string_view"})
"""Arrow's names of the types of columns with encoded images or paths, as different programs write them."""

FETCHED = 32
"""Rows of a Parquet file in memory at a time."""

PARTS = 10
"""Warn if a row group is split into more parts than this, since each part reads it from its beginning."""


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
    """A file name or address as text, without credentials, with invalid UTF-8 replaced."""
    return without_credentials(name).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


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
        files = "\n".join(f"{bytes_of(file)} {without_credentials(file)}" for file in self.files).encode(
            "utf-8", "surrogateescape"
        )
        state = blake2b(files, digest_size=16).hexdigest()
        first, last = printable(self.files[0]), printable(self.files[-1])
        return {"images": self.count, "first": first, "last": last, "files": state}


class Part(NamedTuple):
    """Rows that one worker reads and writes as one file."""

    number: int
    rows: Rows

    @property
    def name(self) -> str:
        """The stem of its file names."""
        return f"part-{self.number:06}"


class Columns(NamedTuple):
    """The columns of Parquet files to use.

    image  the column of images; if empty, the first of `IMAGE_COLUMNS` that exists
    carry  columns to copy into the output
    """

    image: str = ""
    carry: tuple[str, ...] = ()


class BulkPlan(NamedTuple):
    """The current inputs, and the types of the carried columns."""

    inputs: tuple[Rows, ...]
    carried: "Schema"

    def caution(self, rows: int) -> str:
        """A warning, with a remedy, if parts of `rows` rows are slow to read; otherwise ""."""
        long = [given for given in self.inputs if isinstance(given, ParquetRows) and given.longest > PARTS * rows]
        if not long:
            return ""
        worst = max(long, key=lambda given: given.longest)
        others = f" (other such files: {len(long) - 1:,})" if len(long) > 1 else ""
        return (
            f"{printable(worst.file)}: a row group has {worst.longest:,} rows{others}; every part of {rows:,} rows "
            "reads its row group from the beginning. If that is slow, rewrite the file with "
            "pyarrow.parquet.write_table(..., row_group_size=1000), or increase --rows-per-part"
        )

    def cut(self, rows: int) -> Iterator[Part]:
        """Split the inputs into parts of `rows` rows; the last part of an input may be shorter."""
        number = 0
        for given in self.inputs:
            for first in range(0, given.count, rows):
                yield Part(number, given.part(first, min(rows, given.count - first)))
                number += 1


def make_plan(files: Sequence[str], columns: Columns) -> BulkPlan:
    """Inspect the inputs, Parquet files and line images.

    Raises:
        DataError: if a file is not what its name says, or lacks a column.
        ConfigError: if columns are to be carried but an input is an image.
    """
    import pyarrow

    # Consecutive images are one input; otherwise every line would be a part and an output file of its own.
    inputs: list[Rows] = []
    carried: Schema | None = None
    for of_images, group in groupby(files, is_image):
        if of_images:
            inputs.append(ImageRows(tuple(group)))
            continue
        for file in group:
            rows, types = look_at(file, columns)
            for name, kind, other in zip(types.names, types.types, (carried or types).types, strict=True):
                if kind != other:
                    raise DataError(
                        f"column {name!r} is {kind}, but {other} in other files; convert or do not carry it",
                        file,
                    )
            inputs.append(rows)
            carried = types
    if columns.carry and any(isinstance(rows, ImageRows) for rows in inputs):
        raise ConfigError(f"images have no columns such as {columns.carry[0]!r} to carry; give only Parquet files")
    return BulkPlan(tuple(inputs), pyarrow.schema([]) if carried is None else carried)


def files_of(names: Sequence[str]) -> list[str]:
    """Find all files given by paths, URLs and patterns of files or folders, in order.

    Raises:
        DataError: if a name matches nothing, or no supported file, or a file is given twice.
    """
    found: list[str] = []
    meant: dict[str, str] = {}
    for name in names:
        files = without_results(find_files(name))
        usable = [file for file in files if is_image(file) or ending(file) == PARQUET]
        if not usable:
            raise DataError(f"contains no Parquet file and no line image ({', '.join(sorted(IMAGES))})", name)
        for file in usable:
            if (other := meant.setdefault(identity(file), name)) != name:
                raise DataError(f"{file} is matched by both {other} and {name}; give it only once")
        found += usable
    return list(dict.fromkeys(found))


def without_results(files: Sequence[str]) -> list[str]:
    """Leave out files written by jobs, since the output may be inside an input folder or match a pattern."""
    places = {str(PurePath(file).parent): file for file in files if WRITTEN.fullmatch(PurePath(file).name)}
    jobs = {place for place, file in places.items() if exists(beside(file, JOB))}
    return [file for file in files if str(PurePath(file).parent) not in jobs]


def exists(file: str) -> bool:
    """Whether a file exists, by path or URL.

    Raises:
        DataError: if that cannot be determined.
    """
    system, path = locate(file)
    try:
        with reaching(file):
            return bool(system.exists(path))
    except OSError as error:
        raise DataError(f"cannot be accessed: {first_line(error)}", file) from error


def is_image(file: str) -> bool:
    """Whether a file has an image extension."""
    return ending(file) in IMAGES


def ending(file: str) -> str:
    """The lower-case extension of a path or URL."""
    return PurePosixPath(out_of_archive(file)[0]).suffix.lower()


def look_at(file: str, columns: Columns) -> tuple[ParquetRows, "Schema"]:
    """Read the rows of a Parquet file and the types of its carried columns from the footer."""
    import pyarrow

    with open_parquet(file) as opened:
        schema, count = opened.schema_arrow, opened.metadata.num_rows
        row_groups = [opened.metadata.row_group(group) for group in range(opened.num_row_groups)]
        size = sum(group.total_byte_size for group in row_groups)
        longest = max((group.num_rows for group in row_groups), default=0)
    present = ", ".join(schema.names)
    image = columns.image or next((name for name in IMAGE_COLUMNS if name in schema.names), None)
    if image is None:
        usual = f"{', '.join(IMAGE_COLUMNS[:-1])} or {IMAGE_COLUMNS[-1]}"
        raise DataError(f"no column {usual}; give --column with one of its own: {present}", file)
    for name in (image, *columns.carry):
        if name not in schema.names:
            # In other programs, folders such as `year=1850` are a column; the column `input` of the results has them.
            named = [part for part in PurePath(file).parts if part.startswith(f"{name}=")]
            cure = (
                f"; its folder {named[0]} is in the column input of the results" if named else hint(name, schema.names)
            )
            raise DataError(f"no column {name!r}{cure}; it has {present}", file)
        if schema.names.count(name) > 1:
            raise DataError(f"has several columns {name!r}; rename all but one of them", file)
    if not may_hold_images(schema.field(image).type):
        raise DataError(f"column {image!r} is {schema.field(image).type}; expected images or their paths", file)
    carried = pyarrow.schema([schema.field(name).with_nullable(True) for name in columns.carry])
    return ParquetRows(file, image, columns.carry, count, size, longest), carried


def may_hold_images(kind: "DataType") -> bool:
    """Whether a column of this type can contain encoded images or paths."""
    from pyarrow import types

    if types.is_struct(kind):
        return any(kind.get_field_index(name) >= 0 for name in ("bytes", "path"))
    return str(kind.value_type if types.is_dictionary(kind) else kind) in IMAGE_TYPES
