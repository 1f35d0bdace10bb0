"""Copies of an index that can be kept up to date: a shared database, or a table for other programs."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from drethtr.base.errors import ConfigError, DataError, MissingExtraError, first_line
from drethtr.base.files import atomic_write
from drethtr.documents.names import stored
from drethtr.search.locate import LinePlace
from drethtr.search.packed import PackedLines
from drethtr.search.postgres import PostgresStore, is_postgres
from drethtr.search.records import PageKey, file_named
from drethtr.search.store import Store

if TYPE_CHECKING:
    from pyarrow import Schema

ROWS = 5_000
"""Lines per row group of a table."""


@dataclass(frozen=True)
class Postgres:
    """A database; pages from other indexes stay in it."""

    url: str

    def update(self, store: Store) -> str:
        """Bring the copy up to date, and return a description of the changes.

        Raises:
            DataError: if it cannot be written, or has other settings.
            MissingExtraError: without a required package.
        """
        # Each page records the index it came from: pages removed there are removed here, pages of other indexes stay.
        origin = stored(store.path.resolve().as_posix())
        with PostgresStore.write(self.url, store.about()) as database:
            there, mine = database.states(origin), store.states()
            keys = {key: database.key(store.scan(key), key.number) for key in mine}
            new = 0
            for key, state in mine.items():
                if there.get(keys[key]) != state and (id := store.page_id(key)) is not None:
                    _, lines, posteriors = store.page(id)
                    database.put(origin, keys[key], state, lines, posteriors)
                    new += 1
            for gone in there.keys() - set(keys.values()):
                database.remove(origin, gone)
            return f"{database.name}: {database.size()[1]:,} lines; {new:,} new pages written"


@dataclass(frozen=True)
class Table:
    """A Parquet file with a row for each line."""

    path: Path

    def refuse_other_file(self) -> None:
        """Refuse to replace a file that is not a table of an index, such as training data of the same name.

        Raises:
            DataError: if there is one.
            MissingExtraError: without pyarrow.
        """
        wanted = schema()
        from pyarrow import ArrowException
        from pyarrow.parquet import read_schema

        try:
            with self.path.open("rb") as stream:
                there = read_schema(stream)
        except FileNotFoundError:
            there = wanted
        except (ArrowException, OSError):
            there = None
        if there is None or there.names != wanted.names:
            raise DataError("is not a table of an index, so it is not replaced; rename it, or the index", self.path)

    def update(self, store: Store) -> str:
        """As `Postgres.update`."""
        columns = schema()
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter

        waiting: list[dict[str, Any]] = []
        try:
            # A stream, since pyarrow takes no name that is not UTF-8.
            with (
                atomic_write(self.path) as whole,
                whole.open("wb") as stream,
                ParquetWriter(stream, columns) as writer,
            ):
                for key in store.states():
                    waiting += rows_of(store, key)
                    if len(waiting) >= ROWS:
                        writer.write_table(pa.Table.from_pylist(waiting, columns))
                        waiting = []
                writer.write_table(pa.Table.from_pylist(waiting, columns))
        except OSError as error:
            raise DataError(f"cannot be written: {first_line(error)}", self.path) from error
        return f"{self.path}: {store.size()[1]:,} lines"


Target: TypeAlias = Postgres | Table
"""A copy of an index."""


def schema() -> "Schema":
    """The columns of a table.

    Raises:
        MissingExtraError: without pyarrow.
    """
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtraError("pyarrow", "batch") from error
    return pa.schema(
        [
            *((name, pa.string()) for name in ("page", "line", "text")),
            *((name, pa.int32()) for name in ("number", "left", "top", "right", "bottom")),
            ("confidence", pa.float32()),
            ("certain", pa.bool_()),
            ("posteriors", pa.binary()),
        ]
    )


def rows_of(store: Store, key: PageKey) -> Iterator[dict[str, Any]]:
    """The lines of a page as rows."""
    id = store.page_id(key)
    _, lines, posteriors = store.page(-1 if id is None else id)
    packed = PackedLines.from_bytes(posteriors)
    for number, line in enumerate(lines):
        place = LinePlace.from_bytes(line.place)
        yield {
            "page": stored(file_named(key, store.scan(key))),
            "number": key.number,
            "line": line.id,
            "text": line.text,
            "confidence": line.confidence,
            "certain": line.certain,
            **dict(zip(("left", "top", "right", "bottom"), place.box(0, place.width), strict=True)),
            "posteriors": PackedLines.of([packed.line(number)]).content,
        }


def target_named(name: str, index: Path) -> Target:
    """The target with a name: `parquet`, a table beside the index; or the URL of a database.

    Raises:
        ConfigError: if there is none.
        DataError: if the table would replace another file.
        MissingExtraError: without pyarrow, for a table.
    """
    if name == "parquet":
        table = Table(index.with_suffix(".parquet"))
        table.refuse_other_file()
        return table
    if is_postgres(name):
        return Postgres(name)
    raise ConfigError(f"--to {name}: give parquet, or the URL of a database as postgresql://user@host/name")
