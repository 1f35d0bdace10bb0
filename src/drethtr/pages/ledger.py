"""The ledger of a folder of results: how each of them was made, so that stale ones are recognized.

It is a hidden file beside the results with a JSON object in each row; the last row about a result counts. Rows are only
added, so several programs can write to one folder, and one that is killed loses no more than its last row.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from drethtr.base.errors import DataError
from drethtr.base.outputs import is_there
from drethtr.documents.read import first_bytes

LEDGER = ".drethtr.jsonl"
"""The name of the file."""

MOST_BYTES = 1 << 28
"""What is read of it: a million rows."""


class Entry(NamedTuple):
    """How a result was made.

    state   size and time of the files it was made of, see `contents.state_of`
    digest  of what they held, in hexadecimal
    made    the choices that decided its content, by name
    """

    state: str
    digest: str
    made: Mapping[str, Any]

    def difference(self, made: Mapping[str, Any]) -> str:
        """The first different choice, in words; empty if there is none. Unrecorded choices do not count."""
        other = (name for name, value in made.items() if name in self.made and self.made[name] != value)
        return ", ".join(f"{name} {self.made[name]}, not {made[name]}" for name in other)


class Ledger:
    """The record of one folder, read when it is first asked."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / LEDGER
        content = first_bytes(self.path, MOST_BYTES) if is_there(self.path) else b""
        self.torn = bool(content) and not content.endswith(b"\n")
        self.entries = dict(entries(content))

    def add(self, result: Path, entry: Entry) -> None:
        """Record a result that is written.

        Raises:
            DataError: if that cannot be written.
        """
        row = json.dumps({"result": result.name, **entry._asdict()})
        try:
            with self.path.open("ab") as file:
                file.write(b"\n" * self.torn + row.encode() + b"\n")
        except OSError as error:
            raise DataError(f"cannot write {self.path}: {error.strerror}") from error
        self.torn = False
        self.entries[result.name] = entry


def entries(content: bytes) -> Iterator[tuple[str, Entry]]:
    """The entries in a record, with the names of their results; rows that are torn or senseless are passed over."""
    for row in content.splitlines():
        try:
            match json.loads(row):
                case {"result": str(name), "state": str(state), "digest": str(digest), "made": dict(made)}:
                    yield name, Entry(state, digest, made)
        except (ValueError, RecursionError):
            continue
