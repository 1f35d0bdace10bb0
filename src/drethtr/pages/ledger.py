"""The ledger of a folder of results: how each result was made, so that stale ones are recognized.

It is a hidden file beside the results with a JSON object in each row; the last row about a result counts. Rows are only
appended, so several processes can write to one folder, and a killed one loses no more than its last row.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from drethtr.base.errors import DataError
from drethtr.base.files import is_there
from drethtr.documents.read import first_bytes

LEDGER = ".drethtr.jsonl"
"""The name of the file."""

MAX_BYTES = 1 << 28
"""Maximum size: a million rows."""


class Entry(NamedTuple):
    """How a result was made.

    state   size and time of the files it was made from, see `changes.state_of`
    digest  of their content, in hexadecimal
    made    the settings that determined its content, by name
    """

    state: str
    digest: str
    made: Mapping[str, Any]

    def difference(self, made: Mapping[str, Any]) -> str:
        """The first different setting, in words; empty if there is none. Unrecorded settings do not count."""
        other = (name for name, value in made.items() if name in self.made and self.made[name] != value)
        return ", ".join(f"{name} {self.made[name]}, not {made[name]}" for name in other)


class Ledger:
    """The ledger of one folder, read when created."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / LEDGER
        content = first_bytes(self.path, MAX_BYTES) if is_there(self.path) else b""
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
            raise DataError(f"cannot be written: {error.strerror}", self.path) from error
        self.torn = False
        self.entries[result.name] = entry


def entries(content: bytes) -> Iterator[tuple[str, Entry]]:
    """The entries in a ledger, with the names of their results; damaged rows are skipped."""
    for row in content.splitlines():
        try:
            match json.loads(row):
                case {"result": str(name), "state": str(state), "digest": str(digest), "made": dict(made)}:
                    yield name, Entry(state, digest, made)
        except (ValueError, RecursionError):
            continue
