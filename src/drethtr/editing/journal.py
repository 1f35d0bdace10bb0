"""The history of a folder: who changed which line, when, from what to what, in `.drethtr/edit.sqlite`.

A step is what a person did in one go and can undo: changes, with their effect on the file. Undoing is a step, too. Rows
are only added. The texts themselves are in PAGE and ALTO files, so the database can be deleted at any time, and a full
disk affects only the history. While it is open, no other process can open it: only one program at a time can work in a
folder.

The file is not trusted, since folders are passed on: it must have exactly our tables, without views or triggers, which
would run inside every statement. A row with unexpected values counts as missing.
"""

import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, Self

from drethtr.base.database import Database, connect
from drethtr.base.errors import DataError
from drethtr.base.files import make_folder, refuse_protected
from drethtr.base.links import refuse_foreign, refuse_link, text_of_own
from drethtr.base.locks import refuse_no_locks
from drethtr.documents.transcription import Review

FOLDER = ".drethtr"
"""The hidden folder for the editor's own files; it can be deleted without losing a text."""

NAME, DAMAGED = "edit.sqlite", "edit.damaged"

ADDRESS = "address.txt"
"""Holds the address of the program that has the folder open, without its token."""

URL, MAX_URL = re.compile(r"http://[\w.:\[\]-]+", re.ASCII), 200

TABLES = (
    """CREATE TABLE change (
    number INTEGER PRIMARY KEY, page TEXT NOT NULL, line TEXT NOT NULL, time TEXT NOT NULL, who TEXT, model TEXT,
    action TEXT NOT NULL, old TEXT, new TEXT, status TEXT)""",
    """CREATE INDEX change_of_line ON change (page, line)""",
    """CREATE TABLE summary (page TEXT PRIMARY KEY, mark TEXT NOT NULL, content TEXT NOT NULL)""",
    """CREATE TABLE step (
    first INTEGER PRIMARY KEY, last INTEGER NOT NULL, page TEXT NOT NULL, of INTEGER, difference BLOB NOT NULL)""",
    """CREATE INDEX step_of_page ON step (page)""",
)
"""The tables; SQLite stores these statements verbatim, and they are compared. Version 0.2 had the first three."""

MAX_VALUE = 16 << 20
"""Maximum bytes of a value."""

MAX_CHANGES = 1000
"""How many changes of a line, or steps of a page, are returned, the newest."""

TAG = "tag"
"""The action whose old and new values are tags, not texts."""

UNDO, REDO = "undo", "redo"
"""Actions of steps that undo others, and of steps that undo those."""


@dataclass(frozen=True)
class Change:
    """A change of a line; `who` is None if the model made it, `model` is None if a person did."""

    line: str
    action: str
    old: str | None = None
    new: str | None = None
    status: str | None = None
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


@dataclass(frozen=True)
class Step:
    """What was done to a page in one go.

    number  the number of its first change
    of      the number of the step that it undoes or redoes
    undone  whether it was undone, and not redone
    """

    number: int
    of: int | None
    changes: tuple[Change, ...]
    undone: bool = False

    @property
    def end(self) -> int:
        """The number of the first change after it."""
        return self.number + len(self.changes)

    @property
    def action(self) -> str:
        """What was done."""
        return self.changes[0].action

    @property
    def who(self) -> str | None:
        """Who did it."""
        return self.changes[0].who

    def to_json(self) -> dict[str, Any]:
        """The step as plain values; its changes are those of lines."""
        first = self.changes[0].to_json()
        about = {key: first[key] for key in ("when", "who", "model", "action")}
        return {
            "step": self.number,
            "of": self.of,
            **about,
            "lines": [{"line": one.line, "old": one.old, "new": one.new} for one in self.changes if one.line],
            "undone": self.undone,
        }


UNWRITABLE = (sqlite3.Error, OSError, DataError)
"""Errors of a database that cannot be written or recreated."""


class Journal:
    """The open database of a folder."""

    def __init__(self, path: Path, database: Database) -> None:
        self.path = path
        self.database = database
        self.lock = Lock()
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
        refuse_foreign(path)
        make_folder(place)
        refuse_protected(path)
        try:
            return cls(path, opened(path))
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise DataError(f"cannot be opened: {error}", path) from error
            refuse_no_locks(folder)
            raise DataError(
                f"{folder} is open in another drethtr edit{stated_address(place)}; use that one, or stop it (Ctrl-C in "
                "its window)"
            ) from error
        except sqlite3.DatabaseError as error:
            try:
                for file in place.glob(f"{NAME}*"):
                    file.replace(file.with_name(file.name.replace(NAME, DAMAGED)))
            except OSError as failed:
                raise DataError(f"damaged ({error}); remove it, it holds no texts", path) from failed
            return cls(path, opened(path))

    def add(
        self, page_id: str, changes: Sequence[Change], difference: bytes | None = None, of: int | None = None
    ) -> None:
        """Add changes of a page with the present time; an error such as a full disk is kept in `error`.

        Args:
            difference: The difference they made to the file, if they are a step.
            of: The step that this one undoes or redoes.
        """
        time = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        rows = [
            (page_id, one.line, time, one.who, one.model, one.action, one.old, one.new, one.status) for one in changes
        ]
        # In one transaction, so that an undo never finds a step without its changes.
        with self.guarded(), self.lock, self.written() as database:
            database.executemany(
                "INSERT INTO change (page, line, time, who, model, action, old, new, status) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                rows,
            )
            if difference is not None and rows:
                [last] = database.execute("SELECT max(number) FROM change").fetchone()
                step = (last - len(rows) + 1, last, page_id, of, difference)
                database.execute("INSERT INTO step VALUES (?, ?, ?, ?, ?)", step)
            self.error = None

    def written(self) -> Database:
        """The database, to write to it; a new one if somebody has removed it while it was open.

        Raises:
            DataError: if our hidden folder is a link now.
            OSError, sqlite3.Error: if it cannot be made.
        """
        if not self.path.exists() and self.path.parents[1].is_dir():
            refuse_link(self.path.parent)
            self.path.parent.mkdir(exist_ok=True)
            self.database.close()
            self.database = opened(self.path)
        return self.database

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Keep an error in `error` instead of raising it: the text is already saved, and only history is lost."""
        try:
            yield
        except (*UNWRITABLE, UnicodeError, ValueError, OverflowError) as error:
            self.error = str(error)

    def of_line(self, page_id: str, line: str) -> list[Change]:
        """The changes of a line, newest first."""
        statement = (
            "SELECT line, action, old, new, status, who, model, time FROM change "
            "WHERE page = ? AND line = ? ORDER BY number DESC LIMIT ?"
        )
        return [Change(*row) for row in self.texts(statement, (page_id, line, MAX_CHANGES))]

    def lines(self, page_id: str) -> frozenset[str]:
        """The ids of all lines of a page that have a history, also of those that are gone."""
        return frozenset(line for (line,) in self.texts("SELECT DISTINCT line FROM change WHERE page = ?", (page_id,)))

    def steps(self, page_id: str) -> list[Step]:
        """The steps of a page, oldest first."""
        columns = "line, action, old, new, status, who, model, time"
        # Numbers as texts, since `texts` leaves out rows with anything else.
        statement = (
            f"SELECT CAST(first AS TEXT), CAST(of AS TEXT), {columns} FROM change "
            "JOIN (SELECT first, last, of FROM step WHERE page = ? ORDER BY first DESC LIMIT ?) "
            "ON number BETWEEN first AND last ORDER BY number"
        )
        found: dict[tuple[int, int | None], list[Change]] = {}
        with suppress(ValueError, TypeError):  # values that are not numbers, in a foreign journal
            for first, of, *values in self.texts(statement, (page_id, MAX_CHANGES)):
                key = int(first), None if of is None else int(of)
                found.setdefault(key, []).append(Change(*values))
        steps = [Step(*key, tuple(changes)) for key, changes in found.items()]
        last = {step.of: step.action for step in steps if step.of is not None}
        return [replace(step, undone=last.get(step.number) == UNDO) for step in steps]

    def difference(self, page_id: str, step: int) -> bytes | None:
        """What a step of a page did to its file; None if there is no such step."""
        statement = "SELECT difference FROM step WHERE page = ? AND first = ?"
        found: list[tuple[Any, ...]] = []
        with self.guarded(), self.lock:
            found = self.database.execute(statement, (page_id, step)).fetchall()
        return found[0][0] if found and isinstance(found[0][0], bytes) else None

    def changed_by_persons(self, page_id: str, step: Step, steps: Sequence[Step]) -> set[str]:
        """The lines that persons have changed after a step of a page, but not by it or by what was undone since."""
        statement = (
            "SELECT DISTINCT line FROM change WHERE page = ? AND number >= ? AND model IS NULL "
            "AND number NOT IN (SELECT value FROM json_each(?))"
        )
        void = [
            number
            for one in steps
            if one.of == step.number or ((one.of or one.number) > step.number and not is_in_force(one, steps))
            for number in range(one.number, one.end)
        ]
        return {line for (line,) in self.texts(statement, (page_id, step.end, json.dumps(void)))}

    def earlier_texts(self, page_id: str) -> dict[str, str]:
        """The texts of the lines of a page before their last change, if that left them without text."""
        statement = (
            "SELECT line, old FROM change WHERE number IN (SELECT max(number) FROM change WHERE page = ? "
            "AND action != ? GROUP BY line) AND new = '' AND old IS NOT NULL"
        )
        return dict(self.texts(statement, (page_id, TAG)))

    def people(self, page_id: str) -> dict[str, str]:
        """Who changed or confirmed the text of each line of a page last, by its id."""
        statement = (
            "SELECT line, who FROM change WHERE number IN (SELECT max(number) FROM change WHERE page = ? "
            "AND who IS NOT NULL AND model IS NULL AND action IN ('text', 'status', 'undo', 'redo') GROUP BY line)"
        )
        return dict(self.texts(statement, (page_id,)))

    def last_persons(self) -> dict[str, tuple[str, str]]:
        """The person who last changed each page, and when; pages that only models changed are left out."""
        statement = (
            "SELECT page, who, time FROM change WHERE number IN "
            "(SELECT max(number) FROM change WHERE who IS NOT NULL GROUP BY page)"
        )
        return {page: (who, time) for page, who, time in self.texts(statement, ())}

    def summary(self, page_id: str) -> tuple[str, str] | None:
        """The stored summary of a page, with the mark of the file that it was made from."""
        found = self.texts("SELECT mark, content FROM summary WHERE page = ?", (page_id,))
        return None if not found else (found[0][0], found[0][1])

    def texts(self, statement: str, arguments: Sequence[str | int]) -> list[tuple[Any, ...]]:
        """The rows of a statement whose values are texts or missing, as ours are."""
        rows: list[tuple[Any, ...]] = []
        with self.guarded(), self.lock:
            rows = list(self.database.rows(statement, arguments))
        return [row for row in rows if all(isinstance(value, str | None) for value in row)]

    def keep_summaries(self, rows: Sequence[tuple[str, str, str]]) -> None:
        """Store summaries of pages (page, mark of its file, summary); errors such as a full disk are ignored."""
        with suppress(*UNWRITABLE), self.lock, self.written() as database:
            database.executemany("INSERT OR REPLACE INTO summary VALUES (?, ?, ?)", rows)

    def close(self) -> None:
        """Close the database, so that others can open it."""
        with self.lock:
            self.database.close()


def opened(path: Path) -> Database:
    """Open a database for this process alone.

    Raises:
        DataError: if files beside it lead elsewhere.
        sqlite3.DatabaseError: if it is damaged, or has other tables than ours; `OperationalError` if it is locked.
    """
    database = connect(path, "rwc", wait=0.5, longest=MAX_VALUE)
    try:
        database.text_factory = lambda value: value.decode("utf-8", "replace")
        # This also locks the folder, since two editors would not see each other's undo. Unlike a lock file of our own,
        # it goes away when an editor is killed.
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        found = sorted(sql for (sql,) in database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"))
        if found and not {*TABLES[:3]} <= {*found} <= {*TABLES}:
            raise sqlite3.DatabaseError("its tables are not those of drethtr edit")
        # Writes are not flushed to disk: a power failure may lose the last steps of the history, but not their texts,
        # which are in the page files by then. A flush per line would be noticeable while typing.
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        for statement in (new for new in TABLES if new not in found):
            database.execute(statement)
        database.execute("DELETE FROM change WHERE 0")  # takes the lock
        database.commit()
    except sqlite3.Error:
        database.close()
        raise
    return database


def stated_address(place: Path) -> str:
    """The address of the program that has the folder open, as words for a message; "" if it is not recorded."""
    address = text_of_own(place / ADDRESS, MAX_URL)
    return f" at {address}" if URL.fullmatch(address) else ""


def is_in_force(step: Step, steps: Sequence[Step]) -> bool:
    """Whether a step is in force: it was not undone, or it is the last redo of its step."""
    # Undos and redos name the original step, so the last of them decides.
    of = step.number if step.of is None else step.of
    last = next((one for one in reversed(steps) if of in (one.number, one.of)), step)
    return last is step and step.action != UNDO


def stacks(steps: Sequence[Step], who: str) -> tuple[list[Step], list[Step]]:
    """The steps that a person can undo and redo, the next one last."""
    # As in any editor, a new step clears the steps to redo. Others may have undone a step of this person.
    known = {step.number: step for step in steps}
    done, undone = list[Step](), list[Step]()
    for step in steps:
        of = None if step.of is None else known.get(step.of)
        if step.action == UNDO:
            done = [one for one in done if one is not of]
            undone += [of] if of is not None and of.who == who else []
        elif step.action == REDO:
            undone = [one for one in undone if one is not of]
            done += [of] if of is not None and of.who == who else []
        elif step.who == who:
            before = before_text(done, step)
            done, undone = [*done, step] if before is None else done[:before], []
    return done, undone


def before_text(done: Sequence[Step], step: Step) -> int | None:
    """How many of the steps came before a line lost the text that this step restores, if all since changed only that.

    Such a step is saved after the undo of a browser; if it could be undone, Ctrl+Z would bring the text back.
    """
    restored = text_change(step)
    for number in range(len(done) - 1, -1, -1):
        earlier = text_change(done[number])
        if restored is None or earlier is None or earlier.line != restored.line:
            break
        if earlier.old == restored.new:
            return number
    return None


def text_change(step: Step) -> Change | None:
    """The change of a step that corrected one line, and did nothing else."""
    corrections = [change for change in step.changes if (change.action, change.status) == ("text", Review.CORRECTED)]
    return corrections[0] if len(corrections) == len(step.changes) == 1 else None
