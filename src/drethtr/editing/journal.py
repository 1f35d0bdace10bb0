"""The history of a folder: who changed which line, when, from what to what, in `.drethtr/edit.sqlite`.

Rows are only added. The texts themselves are in PAGE and ALTO files, so that the database can be deleted at any time,
and a full disk costs the history only.
While it is open, no other process can open it: one program at a time works in a folder.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, Self

from drethtr.base.errors import DataError
from drethtr.base.files import make_folder

FOLDER = ".drethtr"
"""The hidden folder for the editor's own files; it can be deleted without losing a text."""

NAME = "edit.sqlite"

SCHEMA = """
CREATE TABLE IF NOT EXISTS change (
    number INTEGER PRIMARY KEY, page TEXT NOT NULL, line TEXT NOT NULL, time TEXT NOT NULL, who TEXT, model TEXT,
    action TEXT NOT NULL, old TEXT, new TEXT, status TEXT);
CREATE INDEX IF NOT EXISTS change_of_line ON change (page, line);
CREATE TABLE IF NOT EXISTS summary (page TEXT PRIMARY KEY, mark TEXT NOT NULL, content TEXT NOT NULL);
"""


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
        self.error: str | None = None  # why the last changes could not be added

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open the database in a folder; a damaged one is renamed, and a new one begun.

        Raises:
            DataError: if another process works in the folder, or it cannot be written to.
        """
        place = folder / FOLDER
        make_folder(place)
        path = place / NAME
        try:
            return cls(connect(path))
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise DataError(f"cannot be opened: {error}", path) from error
            raise DataError(
                f"{folder} is open in another drethtr edit; use that one, or stop it (Ctrl-C in its window)"
            ) from error
        except sqlite3.DatabaseError:
            with suppress(OSError):
                path.replace(path.with_suffix(".damaged"))
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
        try:
            yield
        except (sqlite3.Error, UnicodeError, ValueError, OverflowError) as error:
            self.error = str(error)

    def of_line(self, page: str, line: str) -> list[Change]:
        """The changes of a line, newest first."""
        rows = []
        with self.guarded(), self.lock:
            rows = self.database.execute(
                "SELECT page, line, action, old, new, status, who, model, time FROM change "
                "WHERE page = ? AND line = ? ORDER BY number DESC",
                (page, line),
            ).fetchall()
        return [Change(*row) for row in rows]

    def summaries(self) -> dict[str, tuple[str, str]]:
        """The stored summary of each page, with the mark of the file that it was made from."""
        with self.lock:
            rows = self.database.execute("SELECT page, mark, content FROM summary").fetchall()
        return {page: (mark, content) for page, mark, content in rows}

    def keep_summaries(self, rows: Sequence[tuple[str, str, str]]) -> None:
        """Store summaries of pages (page, mark of its file, summary); errors such as a full disk are ignored."""
        with suppress(sqlite3.Error), self.lock, self.database:
            self.database.executemany("INSERT OR REPLACE INTO summary VALUES (?, ?, ?)", rows)

    def close(self) -> None:
        """Close the database, so that others can open it."""
        with self.lock:
            self.database.close()


def connect(path: Path) -> sqlite3.Connection:
    """Open a database for this process alone."""
    database = sqlite3.connect(path, timeout=0.5, check_same_thread=False)
    try:
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.executescript(SCHEMA)
        database.execute("DELETE FROM change WHERE 0")  # takes the lock
        database.commit()
    except sqlite3.Error:
        database.close()
        raise
    return database
