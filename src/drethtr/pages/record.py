"""The record of what was done: how each result was made, and from which files."""

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from drethtr.base.errors import DataError
from drethtr.base.files import is_there
from drethtr.documents.document import Provenance
from drethtr.documents.read import first_bytes
from drethtr.pages.segmentation import Segmentation
from drethtr.pages.segmentation import name_of as segmentation_name
from drethtr.pages.source import Original
from drethtr.recognition.decoding.strategies import name_of
from drethtr.recognition.recognizer import Recognizer

CHUNK = 1 << 20


def files_of(original: Original) -> tuple[Path, ...]:
    """The scan of a page, and the file that describes it."""
    scan = original.source.path
    return (scan,) if original.description is None else (scan, original.description)


def state_of(files: Iterable[Path]) -> str:
    """Size and time of files; if these are unchanged, so is the content.

    Raises:
        DataError: naming a file that cannot be accessed.
    """
    try:
        found = [path.stat() for path in files]
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", error.filename) from error
    return " ".join(f"{file.st_size}:{file.st_mtime_ns}" for file in found)


def digest_of(files: Iterable[Path]) -> bytes:
    """A digest of the contents of files, 16 bytes.

    Raises:
        DataError: naming a file that cannot be read.
    """
    digest = blake2b(digest_size=16)
    for path in files:
        try:
            with path.open("rb") as file:
                while chunk := file.read(CHUNK):
                    digest.update(chunk)
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", path) from error
        digest.update(b"\0")
    return digest.digest()


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


def provenance_of(recognizer: Recognizer) -> Provenance:
    """The provenance of results from a recognizer and this version of the package."""
    return Provenance.now(recognizer.model.identity)


def way_of(recognizer: Recognizer) -> dict[str, str]:
    """Decoder and precision of a recognizer, as stored with metrics."""
    return {"decoder": name_of(recognizer.strategy), "precision": recognizer.precision.value}


def made_with(recognizer: Recognizer, segmentation: Segmentation) -> dict[str, str]:
    """The settings that determine the text of a page, named as on the command line; stored with indexes and results."""
    return {
        "model": recognizer.model.identity,
        **way_of(recognizer),
        "lines": segmentation_name(segmentation),
    }
