"""A folder where the pages of a file wait for the last one: who is stopped in a book goes on where he was."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from drethtr.base.errors import DataError
from drethtr.cli.outputs import is_there, write_bytes

if TYPE_CHECKING:
    from drethtr.documents.document import Provenance
    from drethtr.documents.page import Page
    from drethtr.pages.source import Original

ReadPage: TypeAlias = "Callable[[Original], Page]"

LACKS = ".lacks"
"""Ending of the notes."""


@dataclass(frozen=True)
class Shelf:
    """Pages that were read, and notes: which files were written without the pages that could not be read."""

    folder: Path

    def page(self, original: "Original", read: ReadPage, reader: str, provenance: "Provenance") -> "Page":
        """A page that lies here, read before from this very file and by this reader, else read and put here.

        Raises:
            DataError: if it cannot be read.
        """
        from drethtr.documents.document import Document, Sheet
        from drethtr.documents.read import read_page
        from drethtr.documents.writers.json import write_json

        try:
            file = original.source.path.stat()
        except OSError as error:
            raise DataError(f"{original.name}: cannot be read: {error.strerror}") from error
        mark = blake2b(f"{reader} {file.st_size} {file.st_mtime_ns}".encode(), digest_size=8).hexdigest()
        place = self.folder / f"{original.source.number:04}.{mark}.json"
        if is_there(place):
            return read_page(place)
        page = read(original)
        write_bytes(place, write_json(Document((Sheet(page, original.scan()),), provenance)))
        return page

    def write(self, target: Path, content: bytes, lacking: frozenset[str]) -> None:
        """Write a file, and here which pages it lacks: first, so that it never passes for whole."""
        if lacking:
            write_bytes(self.note_on(target), " ".join(sorted(lacking)).encode())
        write_bytes(target, content)
        if not lacking:
            self.note_on(target).unlink(missing_ok=True)

    def lacking(self, target: Path) -> frozenset[str]:
        """The numbers of the pages that `target` was written without."""
        note = self.note_on(target)
        return frozenset(note.read_text(encoding="utf-8").split()) if is_there(note) else frozenset()

    def note_on(self, target: Path) -> Path:
        """Where it is written which pages a file lacks."""
        return self.folder / f"{target.name}{LACKS}"

    def clear_pages(self) -> None:
        """Take the pages away, so that they are read anew; the notes stay."""
        for page in self.folder.glob("*.json"):
            with suppress(OSError):
                page.unlink()

    def remove(self) -> None:
        """Remove the folder, unless some file lacks pages."""
        if not any(self.folder.glob(f"*{LACKS}")):
            shutil.rmtree(self.folder, ignore_errors=True)
