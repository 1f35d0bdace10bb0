"""From what a person names to parts: the inputs found, looked at, and cut."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import PurePath, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from drethtr.base.config import hint
from drethtr.base.errors import ConfigError, DataError, first_line
from drethtr.bulk.output import JOB, WRITTEN
from drethtr.bulk.rows import ImageRows, ParquetRows, Rows, printable
from drethtr.documents.beside import IMAGES
from drethtr.lines.sources.parquet import open_parquet
from drethtr.lines.urls import beside, find_files, identity, locate, reaching

if TYPE_CHECKING:
    from pyarrow import DataType, Schema

PARQUET = ".parquet"
IMAGE_COLUMNS = ("image", "im", "path", "file")
"""What the column with the images may be called, if nobody says; the first that is there."""

PARTS = 10
"""A row group that is cut into more parts than that is worth a word: each of them reads it from the beginning."""


class Part(NamedTuple):
    """What a worker reads in one go, and writes as one file."""

    number: int
    rows: Rows

    @property
    def name(self) -> str:
        """What its files are called, before their endings."""
        return f"part-{self.number:06}"


class Columns(NamedTuple):
    """Columns of Parquet files.

    image  where the images are; one of `IMAGE_COLUMNS` if empty
    carry  what goes into the output as it is
    """

    image: str = ""
    carry: tuple[str, ...] = ()


class BulkPlan(NamedTuple):
    """The inputs as they are now, and the types of the columns that are carried along."""

    inputs: tuple[Rows, ...]
    carried: "Schema"

    def caution(self, rows: int) -> str:
        """What makes parts of `rows` rows slow to read, and what to do; nothing if nothing does."""
        long = [given for given in self.inputs if isinstance(given, ParquetRows) and given.longest > PARTS * rows]
        if not long:
            return ""
        worst = max(long, key=lambda given: given.longest)
        others = f" (further files with long ones: {len(long) - 1:,})" if len(long) > 1 else ""
        return (
            f"{printable(worst.file)}: a row group has {worst.longest:,} rows{others}; every part of {rows:,} rows "
            "reads its row group from the beginning. Where that takes long, write the file anew, as "
            "pyarrow.parquet.write_table does with row_group_size=1000, or give more --rows-per-part"
        )

    def cut(self, rows: int) -> Iterator[Part]:
        """All parts, of `rows` rows where the input has so many left."""
        number = 0
        for given in self.inputs:
            for first in range(0, given.count, rows):
                yield Part(number, given.part(first, min(rows, given.count - first)))
                number += 1


def make_plan(files: Sequence[str], columns: Columns) -> BulkPlan:
    """Look at the inputs, Parquet files and line images.

    Raises:
        DataError: if a file is not what its name says, or lacks a column.
        ConfigError: if columns of images are wanted.
    """
    import pyarrow

    inputs: list[Rows] = []
    carried: Schema | None = None
    for of_images, group in groupby(files, is_image):
        if of_images:
            inputs.append(ImageRows(tuple(group)))
            continue
        for file in group:
            rows, types = look_at(file, columns)
            if carried is not None and types != carried:
                raise DataError(f"{file}: {', '.join(columns.carry)} are of other types than in the files before")
            inputs.append(rows)
            carried = types
    if columns.carry and any(isinstance(rows, ImageRows) for rows in inputs):
        raise ConfigError(f"images have no columns such as {columns.carry[0]!r} to carry; give Parquet files alone")
    return BulkPlan(tuple(inputs), pyarrow.schema([]) if carried is None else carried)


def files_of(names: Sequence[str]) -> list[str]:
    """All files meant by paths, URLs and patterns of files or folders, in the order of the names.

    Raises:
        DataError: if there is nothing at a name, or nothing of a known kind, or a file is meant twice.
    """
    found: list[str] = []
    meant: dict[str, str] = {}
    for name in names:
        files = without_results(find_files(name))
        usable = [file for file in files if is_image(file) or ending(file) == PARQUET]
        if not usable:
            raise DataError(f"{name}: no Parquet file and no line image ({', '.join(sorted(IMAGES))})")
        for file in usable:
            if (other := meant.setdefault(identity(file), name)) != name:
                raise DataError(f"{file} is meant by {other} and by {name}; each row is read once")
        found += usable
    return list(dict.fromkeys(found))


def without_results(files: Sequence[str]) -> list[str]:
    """The same without what jobs have written: the output may lie below what is read, or be meant by a pattern."""
    places = {str(PurePath(file).parent): file for file in files if WRITTEN.fullmatch(PurePath(file).name)}
    jobs = {place for place, file in places.items() if is_there(beside(file, JOB))}
    return [file for file in files if str(PurePath(file).parent) not in jobs]


def is_there(file: str) -> bool:
    """Whether there is a file, by path or URL.

    Raises:
        DataError: if that cannot be seen.
    """
    system, path = locate(file)
    try:
        with reaching(file):
            return bool(system.exists(path))
    except OSError as error:
        raise DataError(f"{file}: cannot be looked for: {first_line(error)}") from error


def is_image(file: str) -> bool:
    """Whether a file is an image, as its name says."""
    return ending(file) in IMAGES


def ending(file: str) -> str:
    """The ending of a path or URL, in small letters."""
    return PurePosixPath(file).suffix.lower()


def look_at(file: str, columns: Columns) -> tuple[ParquetRows, "Schema"]:
    """The rows of a Parquet file and the types of the carried columns; only its footer is read."""
    import pyarrow

    with open_parquet(file) as opened:
        schema, count = opened.schema_arrow, opened.metadata.num_rows
        groups = [opened.metadata.row_group(group) for group in range(opened.num_row_groups)]
        size = sum(group.total_byte_size for group in groups)
        longest = max((group.num_rows for group in groups), default=0)
    image = columns.image or next((name for name in IMAGE_COLUMNS if name in schema.names), IMAGE_COLUMNS[0])
    for name in (image, *columns.carry):
        if name not in schema.names:
            present = ", ".join(schema.names)
            raise DataError(f"{file}: no column {name!r}{hint(name, schema.names)}; it has {present}")
        if schema.names.count(name) > 1:
            raise DataError(f"{file}: several columns are called {name!r}; rename all but one of them")
    if not may_hold_images(schema.field(image).type):
        raise DataError(f"{file}: column {image!r} is {schema.field(image).type}; expected images or their paths")
    carried = pyarrow.schema([schema.field(name) for name in columns.carry])
    return ParquetRows(file, image, columns.carry, count, size, longest), carried


def may_hold_images(kind: "DataType") -> bool:
    """Whether a column of this type can hold encoded images or paths."""
    from pyarrow import types

    if types.is_struct(kind):
        return any(kind.get_field_index(name) >= 0 for name in ("bytes", "path"))
    inner = kind.value_type if types.is_dictionary(kind) else kind
    known = (types.is_binary, types.is_large_binary, types.is_string, types.is_large_string)
    return any(is_known(inner) for is_known in known)
