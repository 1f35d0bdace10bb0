"""The file of an index: one SQLite database with a row for each page and each line.

One process writes at a time, any number read. A page is written with all its lines or not at all, so a killed writer
leaves an index of the pages that it had finished.
"""

import json
import lzma
import os
import re
import sqlite3
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any, Self

import numpy as np

from drethtr.base.database import BESIDE, Database, connect
from drethtr.base.errors import DataError, first_line
from drethtr.base.links import followed
from drethtr.base.locks import refuse_no_locks
from drethtr.documents.markup import MAX_BYTES
from drethtr.documents.names import restored, stored
from drethtr.search.records import (
    PageBlock,
    PageKey,
    PageSelection,
    PageState,
    StoredLine,
    Verdict,
    known_confidences,
    refuse_other_settings,
    stored_lines,
)
from drethtr.search.schema import (
    FORMAT,
    WITHOUT_READINGS,
    complete_tables,
    damaged,
    has_tables,
    make_tables,
    no_index,
    refuse_other_tables,
    version_of,
)

WAIT = 5.0
"""Seconds to wait for a process that is closing the file, which copies its log into it."""

WAIT_FOR_PAGE = 0.5
"""Seconds that a writer that shares the file waits for the lock: others hold it for one page, or for long."""

MEMORY = 64 << 20
"""Maximum bytes that unpacking a reading may take."""

ABOVE = re.compile(r"(\.\./)+")
"""The start of a path that leads out of a folder."""

OF_PAGE = "(SELECT id FROM pages WHERE scan = ? AND number = ?)"


@dataclass(frozen=True)
class Store:
    """An open index file.

    made_with  the settings that it must have to be written; None if it was opened for searching
    alone      whether to keep the write lock from page to page, so that nobody else can write meanwhile
    """

    path: Path
    database: Database
    made_with: Mapping[str, Any] | None = None
    alone: bool = False

    @property
    def name(self) -> str:
        """The file in messages."""
        return str(self.path)

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Open an index for searching.

        Raises:
            DataError: if there is none, or it is damaged or of another version.
        """
        path = Path(path)
        if path.is_dir():
            raise DataError("is a folder; give the file that drethtr index has made", path)
        if not path.is_file():
            raise DataError(f"no such index; create one with drethtr index FOLDER --output {quote(str(path))}", path)
        store = cls(path, opened(path))
        with store.closed_after_errors():
            store.check()
        return store

    @classmethod
    def write(
        cls, path: str | Path, made_with: Mapping[str, Any], *, rebuild: bool = False, alone: bool = True
    ) -> Self:
        """Open an index for writing, or create it.

        Args:
            made_with: Its settings, which must equal those of an existing index.
            rebuild: Remove all pages first, and accept other settings.
            alone: Keep other processes from writing until it is closed. Otherwise they may write, except within
                `writing`.

        Raises:
            DataError: if the file is not an index, is damaged, or cannot be written; or the index is of another
                version, has other settings, or is being written by another process.
        """
        path = Path(path)
        if not path.parent.is_dir():
            raise DataError(f"there is no folder {path.parent}", path)
        is_new = not path.exists()
        store = cls(path, opened(path, wait=0 if alone else WAIT_FOR_PAGE, create=True), made_with, alone)
        with removed_after_errors(path) if is_new else nullcontext(), store.closed_after_errors():
            # Checked before anything is written, so that no other program's database is changed; then again under the
            # lock, as another writer may have made the tables in between.
            with store.guarded():
                if has_tables(store.database):
                    store.check()
            with store.writing():
                if rebuild:
                    store.forget_pages()
        return store

    @contextmanager
    def closed_after_errors(self) -> Iterator[None]:
        """Close the file after an error."""
        try:
            yield
        except BaseException:
            self.database.close()
            raise

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Within this context, everything is written in one transaction; after an error, nothing is.

        Raises:
            DataError: if another process is writing, or has given the index other settings.
        """
        assert self.made_with is not None, "opened for searching"
        try:
            if not self.database.in_transaction:
                self.begin_writing()
            yield
            self.check_made_with(self.made_with)
            with self.guarded():
                self.database.execute("COMMIT")
                if self.alone:
                    self.database.execute("BEGIN IMMEDIATE")
        except BaseException:
            if self.database.in_transaction:
                self.database.execute("ROLLBACK")
            raise

    def begin_writing(self) -> None:
        """Take the write lock, and create missing tables."""
        with self.guarded():
            self.database.execute("PRAGMA journal_mode = WAL")  # searches go on while pages are written
            self.database.execute("BEGIN IMMEDIATE")
            if has_tables(self.database):
                complete_tables(self.database)
            else:
                make_tables(self.database)
                self.write_about()
        self.check()

    def forget_pages(self) -> None:
        """Remove all pages and replace the settings; verdicts of people stay."""
        with self.guarded():
            for table in ("lines", "readings", "pages", "about"):
                self.database.execute(f"DELETE FROM {table}")
            self.write_about()

    def write_about(self) -> None:
        """Write the settings of the index."""
        rows = [(name, json.dumps(value, ensure_ascii=False)) for name, value in (self.made_with or {}).items()]
        self.database.executemany("INSERT INTO about VALUES (?, ?)", rows)

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Convert errors of SQLite to errors that name the file."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if is_busy(error):
                refuse_no_locks(self.path.parent)
                raise DataError("another process is writing it; wait until it has finished", self.path) from error
            cure = "; make room on it" if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL else ""
            raise DataError(f"cannot be used: {error}{cure}", self.path) from error
        except sqlite3.ProgrammingError as error:  # the index was closed
            raise DataError(f"cannot be used: {error}", self.path) from error
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_NOTADB:
                raise no_index(self.path) from error
            raise damaged(self.path, str(error)) from error
        except UnicodeEncodeError as error:  # a name in another encoding; the file is not damaged
            raise DataError(f"cannot store {error.object!r}, which is not Unicode; rename it", self.path) from error
        except (ValueError, RecursionError) as error:  # of JSON
            raise damaged(self.path, str(error)) from error

    def rows(
        self, kinds: Sequence[type], statement: str, arguments: Sequence[Any] = (), of: Database | None = None
    ) -> Iterator[tuple[Any, ...]]:
        """The rows of a statement, with checked types: in an untrusted file, columns may have values of any type.

        Args:
            kinds: The types of the values in a row.
            of: Another connection to the file.

        Raises:
            DataError: if a value has another type, or the file cannot be read.
        """
        with self.guarded():
            for row in (of or self.database).rows(statement, arguments):
                if not all(map(isinstance, row, kinds)):
                    raise damaged(self.path, "values of unexpected types")
                yield row

    def check(self) -> None:
        """Check that the file is an index that this version understands.

        Raises:
            DataError: if it is not.
        """
        with self.guarded():
            refuse_other_tables(self.database, self.path)

    def check_made_with(self, about: Mapping[str, Any]) -> None:
        """Check that the index has the same settings.

        Raises:
            DataError: naming the difference.
        """
        refuse_other_settings(
            self.name, self.about(), about, "use the same, another index, or rebuild it with drethtr index --force"
        )

    def about(self) -> dict[str, Any]:
        """The settings of the index, by name: model, its alphabet, decoder, precision and line segmentation."""
        with self.guarded():
            return {name: json.loads(value) for name, value in self.rows((str, str), "SELECT * FROM about")}

    def close(self) -> None:
        """Close the file. After writing it is a single file again, unless it is being read."""
        if self.made_with is not None:
            with suppress(sqlite3.Error):  # it is being read, or closed
                if self.database.in_transaction:  # releases the lock of a writer with `alone`
                    self.database.execute("COMMIT")
                self.database.execute("PRAGMA journal_mode = DELETE")
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def key(self, scan: Path, number: int) -> PageKey:
        """The key of a page."""
        folder, scan = self.path.parent.resolve(), scan.resolve()
        try:
            return PageKey(stored(Path(os.path.relpath(scan, folder)).as_posix()), number)
        except ValueError:  # another drive
            return PageKey(stored(scan.as_posix()), number)

    def scan(self, key: PageKey) -> Path:
        """The scan of a page, as a path relative to the working folder."""
        folder, place = self.path.parent, restored(key.scan)
        if above := ABOVE.match(place):
            # Links are resolved first: the folder above a link's target is not the one above the link.
            real = os.path.realpath(folder)
            named, meant = (os.path.normpath(f"{start}/{above[0]}") for start in (folder, real))
            folder = folder if os.path.realpath(named) == meant else Path(real)
        return Path(os.path.normpath(folder / place))

    def states(self) -> dict[PageKey, PageState]:
        """The state of every page when it was read."""
        rows = self.rows((str, int, str, bytes), "SELECT scan, number, state, digest FROM pages")
        return {PageKey(scan, number): PageState(state, digest) for scan, number, state, digest in rows}

    def state(self, key: PageKey) -> PageState | None:
        """The state of a page when it was read; None if the index does not have it."""
        select = "SELECT state, digest FROM pages WHERE scan = ? AND number = ?"
        row = next(self.rows((str, bytes), select, key), None)
        return None if row is None else PageState(*row)

    def put(
        self,
        key: PageKey,
        state: PageState,
        lines: Sequence[StoredLine],
        posteriors: bytes,
        reading: bytes | None = None,
    ) -> None:
        """Write a page with its lines, replacing an earlier version.

        Args:
            reading: A PAGE file with the reading, for a scan that had none.
        """
        with self.guarded():
            self.remove(key)
            row = (*key, *state, known_confidences(lines), posteriors)
            insert = (
                "INSERT INTO pages (scan, number, state, digest, confidences, posteriors) VALUES (?, ?, ?, ?, ?, ?)"
            )
            page = self.database.execute(insert, row).lastrowid
            rows = [(page, number, line.id, line.text, line.place) for number, line in enumerate(lines)]
            self.database.executemany("INSERT INTO lines VALUES (?, ?, ?, ?, ?)", rows)
            if reading is not None:
                self.database.execute("INSERT INTO readings VALUES (?, ?)", (page, lzma.compress(reading)))

    def touch(self, key: PageKey, state: PageState) -> None:
        """Update the state of a page whose files have another time but the same content."""
        with self.guarded():
            update = "UPDATE pages SET state = ?, digest = ? WHERE scan = ? AND number = ?"
            self.database.execute(update, (*state, *key))

    def reading(self, key: PageKey) -> bytes | None:
        """A PAGE file with the reading of a scan that had none; None if it had one, or is not in the index.

        Raises:
            DataError: if it is damaged.
        """
        with self.guarded():
            if version_of(self.database) == WITHOUT_READINGS:
                return None
        select = "SELECT content FROM readings JOIN pages ON id = page WHERE scan = ? AND number = ?"
        row = next(self.rows((bytes,), select, key), None)
        if row is None:
            return None
        unpacker = lzma.LZMADecompressor(memlimit=MEMORY)
        try:
            content = unpacker.decompress(row[0], MAX_BYTES)
        except lzma.LZMAError as error:
            raise damaged(self.path, str(error)) from error
        if not unpacker.eof:
            raise damaged(self.path, "a reading is truncated")
        return content

    def forget_reading(self, key: PageKey) -> None:
        """Remove the reading of a page that now has its own file."""
        with self.guarded():
            self.database.execute(f"DELETE FROM readings WHERE page = {OF_PAGE}", key)

    def remove(self, key: PageKey) -> None:
        """Remove a page and its lines, if the index has it."""
        with self.guarded():
            for table in ("lines", "readings"):
                self.database.execute(f"DELETE FROM {table} WHERE page = {OF_PAGE}", key)
            self.database.execute("DELETE FROM pages WHERE scan = ? AND number = ?", key)

    def version(self) -> Hashable:
        """The settings, and the state of each page; a verdict changes neither."""
        rows = self.rows((int, str, bytes), "SELECT id, state, digest FROM pages")
        return json.dumps(self.about(), sort_keys=True), hash(frozenset(rows))

    def size(self) -> tuple[int, int]:
        """The numbers of pages and lines."""
        [(pages, lines)] = self.rows(
            (int, int), "SELECT count(*), coalesce(sum(length(CAST(confidences AS BLOB))), 0) FROM pages"
        )
        return pages, lines

    def select(self, words: Sequence[str]) -> PageSelection:
        """The pages to search for a query: all, in the order in which they were read."""
        return PageSelection([id for (id,) in self.rows((int,), "SELECT id FROM pages ORDER BY id")])

    def page_id(self, key: PageKey) -> int | None:
        """The id of a page, if the index has it."""
        with self.guarded():
            row = self.database.execute("SELECT id FROM pages WHERE scan = ? AND number = ?", key).fetchone()
            return None if row is None else int(row[0])

    def blocks(self, ids: Sequence[int]) -> Iterator[PageBlock]:
        """The data of consecutive pages for a query, from a separate connection."""
        database = opened(self.path)
        try:
            select = "SELECT id, confidences, posteriors FROM pages WHERE id BETWEEN ? AND ? ORDER BY id"
            rows = self.rows((int, bytes, bytes), select, (ids[0], ids[-1]), database)
            for id, confidences, posteriors in rows:
                yield PageBlock(id, np.frombuffer(confidences, np.uint8), posteriors)
        finally:
            database.close()

    def page(self, id: int) -> tuple[PageKey, list[StoredLine], bytes]:
        """A page with its lines and packed posteriors.

        Raises:
            DataError: if it is not there, or damaged.
        """
        select = "SELECT scan, number, confidences, posteriors FROM pages WHERE id = ?"
        row = next(self.rows((str, int, bytes, bytes), select, (id,)), None)
        select = "SELECT id, text, place FROM lines WHERE page = ? ORDER BY number"
        lines = list(self.rows((str, str, bytes), select, (id,)))
        if row is None or len(row[2]) != len(lines):
            raise DataError(f"damaged, or being written: page {id} is not whole; index it again", self.path)
        return PageKey(row[0], row[1]), stored_lines(lines, row[2]), row[3]

    def verdicts(self) -> list[Verdict]:
        """All verdicts of people on hits."""
        rows = self.rows(
            (str, str, int, str, float, int, bytes), "SELECT * FROM verdicts WHERE probability BETWEEN 0 AND 1"
        )
        return [  # without a place in an earlier version
            Verdict(query, PageKey(scan, number), line, probability, bool(stands), *place)
            for query, scan, number, line, probability, stands, *place in rows
        ]

    def judge(self, verdict: Verdict) -> None:
        """Record a person's verdict on a hit.

        Raises:
            DataError: if another process is writing, or the file cannot be written.
        """
        row = (verdict.query, *verdict.page, verdict.line, verdict.probability, int(verdict.stands), verdict.place)
        with self.guarded():
            if version_of(self.database) != FORMAT:
                with self.database:  # commits, or rolls back
                    self.database.execute("BEGIN IMMEDIATE")
                    complete_tables(self.database)
            self.database.execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?)", row)


@contextmanager
def removed_after_errors(path: Path) -> Iterator[None]:
    """Remove a new file that cannot be written, as on a full disk, unless another process writes it."""
    try:
        yield
    except DataError as error:
        if isinstance(error.__cause__, sqlite3.OperationalError) and not is_busy(error.__cause__):
            for ending in ("", *BESIDE):
                path.with_name(path.name + ending).unlink(missing_ok=True)
        raise


def is_busy(error: sqlite3.OperationalError) -> bool:
    """Whether another process uses the file."""
    return "locked" in str(error) or "busy" in str(error)


def opened(path: Path, *, wait: float = WAIT, create: bool = False) -> Database:
    """A connection to a SQLite file in autocommit mode, which waits some seconds for locks.

    Raises:
        DataError: if the file cannot be opened, or is created and a link out of its folder.
    """
    mode = "rwc" if create else "rw" if os.access(path, os.W_OK) else "ro"
    try:
        return connect(followed(path) if create else path, mode, wait=wait, isolation_level=None)
    except (sqlite3.Error, OSError) as error:
        raise DataError(f"cannot be opened: {first_line(error)}", path) from error
