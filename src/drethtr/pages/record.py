"""The record of what was done: how each result was made, and from which files."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from drethtr.base.errors import DataError
from drethtr.base.files import is_there
from drethtr.base.links import refuse_foreign
from drethtr.documents.read import first_bytes
from drethtr.pages.catalog import Catalogued, Facts, Folders

RECORD = ".drethtr.jsonl"
"""The name of the record in a folder of results."""

MAX_BYTES = 1 << 28
"""Maximum size: a million rows."""


class Entry(NamedTuple):
    """How a result was made.

    state    size and time of the files it was made from, see `state_of`
    digest   of their content, in hexadecimal
    made     the settings that determined its content, by name
    lacks    the numbers of its pages that could not be read
    written  the digest of the result itself; "" if unknown
    """

    state: str
    digest: str
    made: Mapping[str, Any]
    lacks: frozenset[int] = frozenset()
    written: str = ""

    def to_json(self) -> dict[str, Any]:
        """The entry as plain values."""
        values = {"state": self.state, "digest": self.digest, "made": self.made, "written": self.written}
        return {**values, "lacks": sorted(self.lacks)} if self.lacks else values

    def difference(self, made: Mapping[str, Any]) -> str:
        """The first different setting, in words; empty if there is none. Unrecorded settings do not count."""
        other = (name for name, value in made.items() if name in self.made and self.made[name] != value)
        return ", ".join(f"{name} {self.made[name]}, not {made[name]}" for name in other)


class Record:
    """The record of one folder of results, read when created: how each result was made, and what the inputs were.

    It is a hidden file with a JSON object in each row; the last row about a file counts. Rows are only appended, so
    several processes can write to one folder, and a killed one loses no more than its last row.

    Args:
        folder: The folder; it need not exist.

    Raises:
        DataError: if the record cannot be read, is too large, or is a link.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / RECORD
        refuse_foreign(self.path)
        content = first_bytes(self.path, MAX_BYTES + 1) if is_there(self.path) else b""
        if len(content) > MAX_BYTES:  # a partial read would miss the newest rows
            raise DataError(
                f"has more than {MAX_BYTES >> 20} MiB; choose another --output, or delete it, "
                "but then drethtr no longer knows how the results beside it were made",
                self.path,
            )
        # A killed process may leave a row without its line break; the next row must begin on a line of its own.
        self.torn = bool(content) and not content.endswith(b"\n")
        self.results: dict[str, Entry] = {}
        self.inputs: dict[str, Catalogued] = {}
        for row in content.splitlines():
            with suppress(ValueError, KeyError, TypeError, RecursionError):  # a damaged row
                found: Any = json.loads(row)
                match found:
                    case {"result": str(name), "state": str(state), "digest": str(digest), "made": dict(made)}:
                        lacks, written = frozenset(found.get("lacks", ())), str(found.get("written", ""))
                        self.results[name] = Entry(state, digest, made, lacks, written)
                    case {"input": str(name), "state": str(state)}:
                        self.inputs[name] = Catalogued(state, Facts.from_json(found))

    def add(self, result: Path, entry: Entry) -> None:
        """Record how a result is made.

        Raises:
            DataError: if that cannot be written.
        """
        self.append([{"result": result.name, **entry.to_json()}])
        self.results[result.name] = entry

    def add_inputs(self, inputs: Mapping[str, Catalogued]) -> None:
        """Record what input files are, by their absolute paths, so that the next run need not open them.

        Raises:
            DataError: if that cannot be written.
        """
        self.append([{"input": name, "state": seen.state, **seen.facts.to_json()} for name, seen in inputs.items()])
        self.inputs |= inputs

    def append(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Append rows in one piece.

        Raises:
            DataError: if they cannot be written.
        """
        # One write to a file opened for appending, so that rows of several processes do not mix.
        content = "".join(json.dumps(row) + "\n" for row in rows).encode()
        try:
            with self.path.open("ab") as file:
                file.write(b"\n" * self.torn + content)
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}", self.path) from error
        self.torn = False


class Records:
    """The records of folders of results, each read once."""

    def __init__(self) -> None:
        self.known: dict[Path, Record] = {}

    def of(self, folder: Path) -> Record:
        """The record of a folder.

        Raises:
            DataError: if it cannot be read.
        """
        if folder not in self.known:
            self.known[folder] = Record(folder)
        return self.known[folder]

    def lacking(self, result: Path) -> frozenset[int]:
        """The numbers of the pages that a result lacks.

        Raises:
            DataError: if its record cannot be read.
        """
        entry = self.of(result.parent).results.get(result.name)
        return frozenset() if entry is None else entry.lacks

    def is_as_written(self, result: Path) -> bool:
        """Whether a result that is there is, byte for byte, as it was written.

        Raises:
            DataError: if it or its record cannot be read.
        """
        entry = self.of(result.parent).results.get(result.name)
        return entry is not None and entry.written == digest_of([result]).hex()


CHUNK = 1 << 20


def state_of(files: Iterable[Path]) -> str:
    """Size and time of files now; if these are unchanged, so is the content.

    Raises:
        DataError: naming a file that cannot be accessed.
    """
    return Folders().state_of(files)


def digest_of(files: Iterable[Path], contents: Mapping[Path, bytes] | None = None) -> bytes:
    """A digest of the contents of files, 16 bytes.

    Args:
        contents: Contents that were already read; other files are opened.

    Raises:
        DataError: naming a file that cannot be read.
    """
    digest, known = blake2b(digest_size=16), contents or {}
    for path in files:
        try:
            with BytesIO(known[path]) if path in known else path.open("rb") as file:
                while chunk := file.read(CHUNK):
                    digest.update(chunk)
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", path) from error
        digest.update(b"\0")
    return digest.digest()
