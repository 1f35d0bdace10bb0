"""Untrusted SQLite files: opening one changes no other file, and every statement ends.

The tree of a table in such a file may contain cycles, and its journal may name any file of this user.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from drethtr.base.errors import DataError
from drethtr.base.links import refuse_foreign

BESIDE = ("-journal", "-wal", "-shm")
"""What SQLite adds to the name of a file for the files beside it."""

OF_SEVERAL = bytes.fromhex("d9d505f920a163d7")
"""The last bytes of a journal that names a super-journal. SQLite removes the file of that name, whatever it is."""

STEPS, STEPS_A_BYTE, STEPS_A_CHECK = 10_000_000, 10, 10_000
"""Steps of SQLite's virtual machine: allowed for any statement, allowed per byte of the file, and between two checks.

Our own queries take time in proportion to the file; views or damaged B-trees in a stranger's file may loop forever.
"""

MAX_VALUE = 64 << 20
"""Maximum bytes of a value, and of the values of a small file that a statement returns."""


class Database(sqlite3.Connection):
    """A connection whose statements are limited in steps; made by `connect`."""

    path: Path
    steps = 0

    @property
    def size(self) -> int:
        """The present size in bytes of the file and of the uncommitted changes beside it."""
        size = 0
        for file in (self.path, self.path.with_name(self.path.name + "-wal")):
            with suppress(OSError):
                size += file.stat().st_size
        return size

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        """Begin a statement, with a new limit of steps."""
        self.steps = 0
        return super().execute(*arguments)

    def has_enough(self) -> bool:
        """Whether the statement took more steps than a genuine file could need; SQLite calls this at intervals."""
        self.steps += STEPS_A_CHECK
        return self.steps > STEPS and self.steps > STEPS + STEPS_A_BYTE * self.size

    def rows(self, statement: str, arguments: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a statement.

        Raises:
            ValueError: if they have more than the file can hold.
            sqlite3.Error: as `execute` does.
        """
        held = 0
        for row in self.execute(statement, arguments):
            held += sum(len(value) if isinstance(value, str | bytes) else 1 for value in row)
            if held > MAX_VALUE and held > MAX_VALUE + self.size:
                raise ValueError("it claims to have more rows than it can hold")
            yield row


def connect(path: Path, mode: str, *, wait: float, longest: int = MAX_VALUE, **options: Any) -> Database:
    """Open a SQLite file.

    Args:
        mode: `ro`, `rw`, or `rwc`, which creates it.
        wait: Seconds to wait for locks.
        longest: Maximum bytes of a value.
        options: Other options of `sqlite3.connect`.

    Raises:
        DataError: if SQLite would write or remove other files.
        sqlite3.Error: if it cannot be opened.
    """
    path = path.resolve()
    for ending in BESIDE:
        refuse_foreign(path.with_name(path.name + ending))
    refuse_journal_of_several(path.with_name(path.name + BESIDE[0]))
    database: Database = sqlite3.connect(
        f"{uri_of(path)}?mode={mode}", uri=True, timeout=wait, check_same_thread=False, factory=Database, **options
    )
    try:
        database.path = path
        database.set_progress_handler(database.has_enough, STEPS_A_CHECK)
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
        database.execute("PRAGMA trusted_schema = OFF")
    except BaseException:
        database.close()
        raise
    return database


def uri_of(path: PurePath) -> str:
    """The URI of an absolute path. SQLite refuses the host that `as_uri` writes for a network drive of Windows."""
    place = path.as_posix()
    return "file://" + quote(os.fsencode(place if place.startswith("/") else f"/{place}"), safe="/:")


def refuse_journal_of_several(journal: Path) -> None:
    """Refuse a journal that names another file; ours are of one database.

    Raises:
        DataError: saying so.
    """
    with suppress(OSError), journal.open("rb") as file:
        file.seek(-len(OF_SEVERAL), os.SEEK_END)
        if file.read() == OF_SEVERAL:
            raise DataError(
                "would make SQLite delete another file; drethtr did not write this journal: remove it", journal
            )
