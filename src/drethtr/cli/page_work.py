"""A file of pages to read: where its results go, which are there already, and how they get there."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from drethtr.cli.files import claim, refuse_file, stem_of, write_bytes
from drethtr.errors import DataError

if TYPE_CHECKING:
    from drethtr.documents.document import Provenance, Sheet
    from drethtr.documents.formats import Format
    from drethtr.documents.page import Page, TextLine
    from drethtr.transcription.source import Original

ReadPage: TypeAlias = "Callable[[Original], Page]"


@dataclass(frozen=True)
class Work:
    """A file to read: its pages, and where each format goes: one path if pages stay together, else one for each."""

    path: Path
    originals: "tuple[Original, ...]"
    targets: Mapping[str, tuple[Path, ...]]

    @property
    def done(self) -> bool:
        """Whether all there is to write is there."""
        return bool(self.targets) and all(target.exists() for paths in self.targets.values() for target in paths)

    @property
    def shelf(self) -> Path | None:
        """Where pages that were read wait for the last one: who is stopped in a book goes on where he was.

        A single page, or one that is shown on the screen, has nothing to wait for.
        """
        if len(self.originals) == 1 or not self.targets:
            return None
        return next(iter(self.targets.values()))[0].parent / f".{stem_of(self.path)}.pages"


def plan(path: Path, originals: "tuple[Original, ...]", formats: "Mapping[str, Format]", folder: Path | None) -> Work:
    """Where the results for a file go in `folder`: `letter.alto.xml`, or for each page `book_0001.alto.xml`."""
    if folder is None:
        return Work(path, originals, {})
    targets = {}
    for name, format in formats.items():
        alone = format.together or len(originals) == 1
        numbers = [""] if alone else [f"_{original.source.number:04}" for original in originals]
        targets[name] = tuple(folder / f"{stem_of(path)}{number}{format.ending}" for number in numbers)
    return Work(path, originals, targets)


def refuse_overwriting(works: Sequence[Work], folder: Path) -> None:
    """Refuse results that would replace each other, or what they are read from.

    Raises:
        DataError: naming the files.
    """
    refuse_file(folder)
    owners: dict[Path, Path] = {}
    read = {work.path.resolve() for work in works}
    read |= {original.source.path.resolve() for work in works for original in work.originals}
    for work in works:
        for target in (target for paths in work.targets.values() for target in paths):
            claim(owners, target, work.path)
            if target.resolve() in read:
                raise DataError(f"{target} is read, and would be overwritten; choose another --output")


def read_sheets(
    work: Work, read: ReadPage, provenance: "Provenance", report: Callable[[DataError], None]
) -> "list[Sheet | None]":
    """The pages of a file, None where one cannot be read."""
    from drethtr.documents.document import Sheet

    sheets: list[Sheet | None] = []
    for original in work.originals:
        try:
            page = read(original) if work.shelf is None else shelved(original, read, provenance, work.shelf)
        except DataError as error:
            report(error)
            sheets.append(None)
        else:
            sheets.append(Sheet(page, original.scan()))
    return sheets


def shelved(original: "Original", read: ReadPage, provenance: "Provenance", shelf: Path) -> "Page":
    """A page from the shelf if this model read it before, else read and put there."""
    from drethtr.documents.document import Document, Sheet
    from drethtr.documents.read import read_page
    from drethtr.documents.writers.json import write_json

    place = shelf / f"{original.source.number:04}.{provenance.model.split()[-1]}.json"
    if place.exists():
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
    doubts: bool,
) -> None:
    """Write what is not there yet, or everything if forced, and clear the shelf.

    Raises:
        DataError: if something cannot be written.
    """
    from drethtr.documents.document import Document
    from drethtr.images.page import is_pdf

    there = tuple(sheet for sheet in sheets if sheet is not None)
    for name, paths in work.targets.items():
        shown = tuple(map(with_doubts, there)) if doubts and name == "txt" else there
        if formats[name].together or len(sheets) == 1:
            pdf = work.path if len(there) == len(sheets) and is_pdf(work.path) else None
            parts = [(paths[0], Document(shown, provenance, pdf))]
        else:
            known = (path for path, sheet in zip(paths, sheets, strict=True) if sheet is not None)
            parts = [(path, Document((sheet,), provenance)) for path, sheet in zip(known, shown, strict=True)]
        for path, document in parts:
            if force or not path.exists():
                write_bytes(path, formats[name].write(document))
    if work.shelf is not None:
        shutil.rmtree(work.shelf, ignore_errors=True)


def with_doubts(sheet: "Sheet") -> "Sheet":
    """The sheet with doubtful words as `[word?]` in the text of its lines."""

    def marked(line: "TextLine") -> "TextLine":
        if line.transcription is None or not line.words:
            return line
        text = " ".join(f"[{word.text}?]" if word.doubtful else word.text for word in line.words)
        return replace(line, transcription=replace(line.transcription, text=text))

    regions = (replace(region, lines=tuple(map(marked, region.lines))) for region in sheet.page.regions)
    return replace(sheet, page=replace(sheet.page, regions=tuple(regions)))


def on_screen(
    work: Work, sheets: "Sequence[Sheet]", provenance: "Provenance", format: "Format", *, alone: bool, doubts: bool
) -> str:
    """What a file would hold; text of one file among several as rows that name it."""
    from drethtr.documents.document import Document

    document = Document(tuple(map(with_doubts, sheets) if doubts else sheets), provenance)
    if format.ending == ".txt" and not alone:
        return "".join(f"{work.path}\t{line.text}\n" for page in document.pages for line in page.lines)
    parts = (document,) if format.together else document.apart()
    return "".join(format.write(part).decode() for part in parts)
