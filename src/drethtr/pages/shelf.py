"""A hidden folder that keeps the pages of a file until the last one is read, so that an interrupted job resumes."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias

from drethtr.base.files import is_there, write_bytes
from drethtr.documents.document import Document, Provenance, Sheet
from drethtr.documents.page import Page
from drethtr.documents.read import read_page
from drethtr.documents.writers.json import write_json
from drethtr.pages.changes import files_of, state_of
from drethtr.pages.source import Original

ReadPage: TypeAlias = Callable[[Original], Page]

LACKS = ".lacks"
"""Extension of a note that lists the pages a file lacks."""


@dataclass(frozen=True)
class Shelf:
    """Pages that were read, and notes on files written without pages that could not be read."""

    folder: Path

    def page(self, original: Original, read: ReadPage, reader: str, provenance: Provenance) -> Page:
        """A page from this folder, if the same reader read it from the same files; else it is read now and kept here.

        Raises:
            DataError: if it cannot be read.
        """
        mark = blake2b(f"{reader} {state_of(files_of(original))}".encode(), digest_size=8).hexdigest()
        place = self.folder / f"{original.source.number:04}.{mark}.json"
        if is_there(place):
            return read_page(place)
        page = read(original)
        write_bytes(place, write_json(Document((Sheet(page, original.scan()),), provenance)))
        return page

    def write(self, target: Path, content: bytes, lacking: frozenset[str]) -> None:
        """Write a file, after a note on the pages it lacks, so that it never looks complete."""
        if lacking:
            write_bytes(self.note_on(target), " ".join(sorted(lacking)).encode())
        write_bytes(target, content)
        if not lacking:
            self.note_on(target).unlink(missing_ok=True)

    def lacking(self, target: Path) -> frozenset[str]:
        """The numbers of the pages that `target` lacks."""
        note = self.note_on(target)
        return frozenset(note.read_text(encoding="utf-8").split()) if is_there(note) else frozenset()

    def note_on(self, target: Path) -> Path:
        """The path of the note on a file."""
        return self.folder / f"{target.name}{LACKS}"

    def clear_pages(self) -> None:
        """Remove the pages, so that they are read again; the notes stay."""
        for page in self.folder.glob("*.json"):
            with suppress(OSError):
                page.unlink()

    def remove(self) -> None:
        """Remove the folder, unless some file lacks pages."""
        if not any(self.folder.glob(f"*{LACKS}")):
            shutil.rmtree(self.folder, ignore_errors=True)
