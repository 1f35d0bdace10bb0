"""The history of a folder: who changed which line, when, from what to what, in `.drethtr/edit.sqlite`.

Rows are only added. The texts themselves are in PAGE and ALTO files, so that the database can be deleted at any time,
and a full disk costs the history only. While it is open, no other process can open it: one program at a time works in
a folder.

The file is not trusted, since folders are passed on: it must have exactly our tables, without views or triggers, which
would run inside every statement; a row with other values than ours counts as missing.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, Self

from drethtr.base.errors import DataError
from drethtr.base.files import make_folder
from drethtr.base.links import is_foreign, refuse_link
from drethtr.base.locks import refuse_no_locks

FOLDER = ".drethtr"
"""The hidden folder for the editor's own files; it can be deleted without losing a text."""

NAME, DAMAGED = "edit.sqlite", "edit.damaged"

TABLES = (
    """CREATE TABLE change (
    number INTEGER PRIMARY KEY, page TEXT NOT NULL, line TEXT NOT NULL, time TEXT NOT NULL, who TEXT, model TEXT,
    action TEXT NOT NULL, old TEXT, new TEXT, status TEXT)""",
    """CREATE INDEX change_of_line ON change (page, line)""",
    """CREATE TABLE summary (page TEXT PRIMARY KEY, mark TEXT NOT NULL, content TEXT NOT NULL)""",
)
"""The tables; SQLite stores these statements verbatim, and they are compared."""

LONGEST = 16 << 20
"""Most bytes of a value."""

MAX_CHANGES = 1000
"""How many changes of a line are returned, the newest."""

SECONDS = 5.0
"""How long a statement may take; in a damaged file it might never end."""


@dataclass(frozen=True)
class Change:
    """A change of a line; `who` is None if the model made it, `model` is None if a person did."""

    page: str
    line: str
    action: str
    old: str | None
    new: str | None
    status: str | None
    who: str | None = None
    model: str | None = None
    time: str = ""

    def to_json(self) -> dict[str, Any]:
        """The change as plain values."""
        return {
            "when": self.time,
            "who": self.who,
            "model": self.model,
            "action": self.action,
            "old": self.old,
            "new": self.new,
            "status": self.status,
        }


class Journal:
    """The open database of a folder."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database
        self.lock = Lock()
        self.end = monotonic()
        database.set_progress_handler(lambda: monotonic() > self.end, 10_000)
        self.error: str | None = None  # why the last changes could not be added

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open the database in a folder; a damaged one, or one with other tables, is renamed, and a new one begun.

        Raises:
            DataError: if another process works in the folder, it cannot be written to, or our files there are links.
        """
        place = folder / FOLDER
        path = place / NAME
        refuse_link(place)
        if link := next((file for file in place.glob(f"{NAME}*") if is_foreign(file)), None):
            raise DataError("is a link, or no ordinary file; remove it, it holds no texts", link)
        make_folder(place)
        try:
            return cls(connect(path))
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise DataError(f"cannot be opened: {error}", path) from error
            refuse_no_locks(folder)
            raise DataError(
                f"{folder} is open in another drethtr edit; use that one, or stop it (Ctrl-C in its window)"
            ) from error
        except sqlite3.DatabaseError:
            for file in place.glob(f"{NAME}*"):
                with suppress(OSError):
                    file.replace(file.with_name(file.name.replace(NAME, DAMAGED)))
            return cls(connect(path))

    def add(self, changes: Sequence[Change]) -> None:
        """Add changes with the present time; an error such as a full disk is kept in `error`."""
        time = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        rows = [
            (one.page, one.line, time, one.who, one.model, one.action, one.old, one.new, one.status) for one in changes
        ]
        with self.guarded(), self.lock, self.database:
            self.database.executemany(
                "INSERT INTO change (page, line, time, who, model, action, old, new, status) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                rows,
            )
            self.error = None

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Keep an error in `error` instead of raising it: the text is saved by now, whatever happens to its history."""
        self.end = monotonic() + SECONDS
        try:
            yield
        except (sqlite3.Error, UnicodeError, ValueError, OverflowError) as error:
            self.error = str(error)

    def of_line(self, page: str, line: str) -> list[Change]:
        """The changes of a line, newest first."""
        statement = (
            "SELECT page, line, action, old, new, status, who, model, time FROM change "
            "WHERE page = ? AND line = ? ORDER BY number DESC LIMIT ?"
        )
        return [Change(*row) for row in self.texts(statement, (page, line, MAX_CHANGES))]

    def summary(self, page: str) -> tuple[str, str] | None:
        """The stored summary of a page, with the mark of the file that it was made from."""
        found = self.texts("SELECT mark, content FROM summary WHERE page = ?", (page,))
        return None if not found else (found[0][0], found[0][1])

    def texts(self, statement: str, arguments: Sequence[str | int]) -> list[tuple[Any, ...]]:
        """The rows of a statement whose values are texts or missing, as ours are."""
        rows: list[tuple[Any, ...]] = []
        with self.guarded(), self.lock:
            rows = self.database.execute(statement, arguments).fetchall()
        return [row for row in rows if all(isinstance(value, str | None) for value in row)]

    def keep_summaries(self, rows: Sequence[tuple[str, str, str]]) -> None:
        """Store summaries of pages (page, mark of its file, summary); errors such as a full disk are ignored."""
        self.end = monotonic() + SECONDS
        with suppress(sqlite3.Error), self.lock, self.database:
            self.database.executemany("INSERT OR REPLACE INTO summary VALUES (?, ?, ?)", rows)

    def close(self) -> None:
        """Close the database, so that others can open it."""
        with self.lock:
            self.database.close()


def connect(path: Path) -> sqlite3.Connection:
    """Open a database for this process alone.

    Raises:
        sqlite3.DatabaseError: if it is damaged, or has other tables than ours; `OperationalError` if it is locked.
    """
    database = sqlite3.connect(path, timeout=0.5, check_same_thread=False)
    try:
        database.text_factory = lambda value: value.decode("utf-8", "replace")
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
        database.execute("PRAGMA trusted_schema = OFF")
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        found = sorted(sql for (sql,) in database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"))
        if found and found != sorted(TABLES):
            raise sqlite3.DatabaseError("other tables than those of an editor")
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        for statement in () if found else TABLES:
            database.execute(statement)
        database.execute("DELETE FROM change WHERE 0")  # takes the lock
        database.commit()
    except sqlite3.Error:
        database.close()
        raise
    return database
