"""A file to read: where its results go, which are there already, and how those of pages get there."""

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import typer

from drethtr.cli.files import claim, is_there, refuse_file, stem_of, write_bytes
from drethtr.cli.formats import one_line
from drethtr.errors import DataError

if TYPE_CHECKING:
    from drethtr.documents.document import Provenance, Sheet
    from drethtr.documents.formats import Format
    from drethtr.documents.page import Page
    from drethtr.transcription.source import Original

ReadPage: TypeAlias = "Callable[[Original], Page]"

LACKS = ".lacks"
"""Ending of the notes on a shelf."""


@dataclass(frozen=True)
class Work:
    """A file to read, and what to write.

    originals  its pages
    targets    where each format goes: one path if pages stay together, else one for each
    updated    where PAGE or ALTO goes with the text written into it, if that is wanted: a copy, or the file itself
    """

    path: Path
    originals: "tuple[Original, ...]"
    targets: Mapping[str, tuple[Path, ...]]
    updated: Path | None = None

    @property
    def wanted(self) -> tuple[Path, ...]:
        """All files to write."""
        targets = (target for paths in self.targets.values() for target in paths)
        return (*targets, self.updated) if self.updated is not None else tuple(targets)

    @property
    def in_place(self) -> bool:
        """Whether the file itself is written to; which of its lines have text already is seen later."""
        return self.updated is not None and self.updated.resolve() == self.path.resolve()

    @property
    def done(self) -> bool:
        """Whether all there is to write is there and has all pages."""
        there = all(is_there(target) and not self.lacking(target) for target in self.wanted)
        return bool(self.wanted) and not self.in_place and there

    @property
    def shelf(self) -> Path | None:
        """Where pages that were read wait for the last one: who is stopped in a book goes on where he was.

        Notes lie there too: which files were written without the pages that could not be read.
        A single page, or one that is shown on the screen, has nothing to wait for.
        """
        if len(self.originals) == 1 or not self.targets:
            return None
        return next(iter(self.targets.values()))[0].parent / f".{stem_of(self.path)}.pages"

    def lacking(self, target: Path) -> frozenset[str]:
        """The numbers of the pages that `target` was written without."""
        if self.shelf is None or not is_there(note := note_on(target, self.shelf)):
            return frozenset()
        return frozenset(note.read_text(encoding="utf-8").split())


class Count(NamedTuple):
    """Files read or done before, and files or pages that failed."""

    done: int
    failed: int


def report(error: DataError) -> None:
    """Name what was skipped, also beside a progress bar."""
    from tqdm import tqdm

    tqdm.write(f"drethtr: {error}", file=sys.stderr)


def as_one_line(name: str) -> str:
    """What is said of an image that was taken as one line."""
    return f"{name}: taken as one line"


def plan(
    path: Path,
    originals: "tuple[Original, ...]",
    formats: "Mapping[str, Format]",
    folder: Path | None,
    *,
    update: bool,
) -> Work:
    """Where the results for a file go in `folder`: `letter.alto.xml`, or for each page `book_0001.alto.xml`."""
    from drethtr.documents.beside import numbered

    if folder is None:
        return Work(path, originals, {}, path if update else None)
    targets, stem = {}, stem_of(path)
    for name, format in formats.items():
        alone = format.together or len(originals) == 1
        stems = [stem] if alone else [numbered(stem, original.source.number) for original in originals]
        targets[name] = tuple(folder / f"{stem}{format.ending}" for stem in stems)
    return Work(path, originals, targets, folder / path.name if update else None)


def refuse_overwriting(works: Sequence[Work], folder: Path) -> None:
    """Refuse results that would replace each other, or what they are read from.

    Raises:
        DataError: naming the files.
    """
    refuse_file(folder)
    for work in works:
        if work.updated is not None and work.wanted.count(work.updated) > 1:
            raise DataError(
                f"{work.path}: --update and --format would both write {work.updated}; choose one, or rename the input"
            )
    owners: dict[Path, Path] = {}
    read = {work.path.resolve() for work in works}
    read |= {original.source.path.resolve() for work in works for original in work.originals}
    for work in works:
        for target in work.wanted:
            claim(owners, target, work.path)
            if target.resolve() in read and not (work.in_place and target == work.updated):
                raise DataError(f"{target} is read, and would be overwritten; choose another --output")


def left_to_do(works: Sequence[Work], files: int, *, force: bool) -> list[Work]:
    """The works whose results are not all there, or every one if forced; says how many of so many files are passed."""
    waiting = [work for work in works if force or not work.done]
    if done := len(works) - len(waiting):
        typer.echo(f"{done} of {files} files were done before; --force reads them again", err=True)
    return waiting


def read_sheets(
    work: Work, read: ReadPage, reader: str, provenance: "Provenance", report: Callable[[DataError], None]
) -> "list[Sheet | None]":
    """The pages of a file, None where one cannot be read; `reader` says what decides about their text."""
    from drethtr.documents.document import Sheet

    sheets: list[Sheet | None] = []
    for original in work.originals:
        try:
            page = read(original) if work.shelf is None else shelved(original, read, reader, provenance, work.shelf)
        except DataError as error:
            report(error)
            sheets.append(None)
        else:
            sheets.append(Sheet(page, original.scan(), original.source.number))
    return sheets


def shelved(original: "Original", read: ReadPage, reader: str, provenance: "Provenance", shelf: Path) -> "Page":
    """A page from the shelf if it was read before, from this very file and in the same way, else read and put there."""
    from drethtr.documents.document import Document, Sheet
    from drethtr.documents.read import read_page
    from drethtr.documents.writers.json import write_json

    try:
        file = original.source.path.stat()
    except OSError as error:
        raise DataError(f"{original.name}: cannot be read: {error.strerror}") from error
    mark = blake2b(f"{reader} {file.st_size} {file.st_mtime_ns}".encode(), digest_size=8).hexdigest()
    place = shelf / f"{original.source.number:04}.{mark}.json"
    if is_there(place):
        return read_page(place)
    page = read(original)
    write_bytes(place, write_json(Document((Sheet(page, original.scan()),), provenance)))
    return page


def write_all(
    work: Work,
    sheets: "Sequence[Sheet | None]",
    provenance: "Provenance",
    formats: "Mapping[str, Format]",
    *,
    force: bool,
) -> None:
    """Write what is not there yet, or everything if forced, and anew what lacks pages that are known by now.

    Then clear the shelf; it stays while a page is missing anywhere, so that the next run reads no more than that.

    Raises:
        DataError: if something cannot be written.
    """
    from drethtr.documents.document import Document
    from drethtr.images.page import is_pdf

    there = tuple(sheet for sheet in sheets if sheet is not None)
    lost = [original for original, sheet in zip(work.originals, sheets, strict=True) if sheet is None]
    missing = frozenset(str(original.source.number) for original in lost)
    for name, paths in work.targets.items():
        if formats[name].together or len(sheets) == 1:
            pdf = work.path if len(there) == len(sheets) and is_pdf(work.path) else None
            parts = [(paths[0], Document(there, provenance, pdf))]
        else:
            known = (path for path, sheet in zip(paths, sheets, strict=True) if sheet is not None)
            parts = [(path, Document((sheet,), provenance)) for path, sheet in zip(known, there, strict=True)]
        lacking = missing if formats[name].together else frozenset()
        for path, document in parts:
            if force or not is_there(path) or lacking < work.lacking(path):
                write_noted(path, formats[name].write(document), lacking, work.shelf)
    if work.shelf is not None and not missing and not any(work.shelf.glob(f"*{LACKS}")):
        shutil.rmtree(work.shelf, ignore_errors=True)


def write_noted(path: Path, content: bytes, lacking: frozenset[str], shelf: Path | None) -> None:
    """Write a file, and on the shelf which pages it lacks: first, so that it never passes for whole."""
    if shelf is not None and lacking:
        write_bytes(note_on(path, shelf), " ".join(sorted(lacking)).encode())
    write_bytes(path, content)
    if shelf is not None and not lacking:
        note_on(path, shelf).unlink(missing_ok=True)


def note_on(target: Path, shelf: Path) -> Path:
    """Where it is written which pages a file lacks."""
    return shelf / f"{target.name}{LACKS}"


def clear_pages(shelf: Path) -> None:
    """Take the pages from a shelf, so that they are read anew; the notes stay."""
    for page in shelf.glob("*.json"):
        with suppress(OSError):
            page.unlink()


def on_screen(work: Work, sheets: "Sequence[Sheet]", provenance: "Provenance", format: "Format", *, alone: bool) -> str:
    """What a file would hold; text of one file among several as rows that name it."""
    from drethtr.documents.document import Document

    document = Document(tuple(sheets), provenance)
    if format.ending == ".txt" and not alone:
        texts = (text for page in document.apart() for text in format.write(page).decode().split("\n")[:-1])
        return "".join(f"{one_line(str(work.path))}\t{one_line(text)}\n" for text in texts)
    parts = (document,) if format.together else document.apart()
    return "".join(format.write(part).decode() for part in parts)
