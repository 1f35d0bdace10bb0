"""A file to read, the paths of its results, and which of them exist."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from os.path import relpath
from pathlib import Path
from typing import Self, TypeAlias

from drethtr.base.archive import as_given
from drethtr.base.errors import DataError
from drethtr.base.files import is_there, write_bytes
from drethtr.base.links import refuse_link, text_of_own
from drethtr.documents.beside import numbered_stem, page_stem, with_pages
from drethtr.documents.document import Document, Provenance, Sheet
from drethtr.documents.formats import Format
from drethtr.documents.json import write_json
from drethtr.documents.page import Page
from drethtr.documents.read import read_page
from drethtr.images.page_file import is_pdf
from drethtr.pages.catalog import Folders
from drethtr.pages.record import state_of
from drethtr.pages.source import Original
from drethtr.pages.volume import given_name

ReadPage: TypeAlias = Callable[[Original], Page]

Sheets: TypeAlias = Sequence[Sheet | None]
"""The pages of a file, None for those that could not be read."""

NOTE, MAX_NOTE = ".lacks", 100_000
"""Extension of a file in which drethtr 0.2 noted the pages that a result lacks, and its maximum characters."""


@dataclass(frozen=True)
class PageCache:
    """A hidden folder with the pages of a file that were read, until all results have all of them."""

    folder: Path

    def __post_init__(self) -> None:
        refuse_link(self.folder)

    def page(self, original: Original, read: ReadPage, read_by: str, provenance: Provenance) -> Page:
        """A page from this folder, if it was read so from the same files; else it is read now and kept here.

        Args:
            read_by: Names all that decides how a page is read: model, decoder, segmentation.

        Raises:
            DataError: if it cannot be read.
        """
        place = self.place(original, read_by)
        if is_there(place):
            return read_page(place)
        page = read(original)
        write_bytes(place, write_json(Document((Sheet(page, original.scan()),), provenance)))
        return page

    def has(self, original: Original, read_by: str) -> bool:
        """Whether a page is in this folder; false if its files cannot be accessed, as reading it tells."""
        with suppress(DataError):
            return is_there(self.place(original, read_by))
        return False

    def place(self, original: Original, read_by: str) -> Path:
        """The file of a page; its name depends on the model and the scan."""
        mark = blake2b(f"{read_by} {state_of(original.files)}".encode(), digest_size=8).hexdigest()
        return self.folder / f"{original.source.number:04}.{mark}.json"

    def notes(self) -> Iterator[tuple[Path, frozenset[int]]]:
        """The notes of drethtr 0.2, each with the numbers of the pages that the result of its stem lacks.

        Raises:
            DataError: if one is a link.
        """
        for note in sorted(self.folder.glob(f"*{NOTE}")):
            yield note, frozenset(int(word) for word in text_of_own(note, MAX_NOTE).split() if word.isdecimal())

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)


UPDATE = "update"
"""Stands for the format of an updated copy, which has the format of the input."""


@dataclass(frozen=True)
class FileTask:
    """A file to read, and what to write.

    originals  its pages
    targets    the paths for each format: one if pages stay together, else one per page
    updated    where to write the PAGE or ALTO file with its text, if requested: a copy, or the file itself
    corrected  earlier results that describe its pages, since a person or another program has worked on them
    before     its sources without these, if there are any
    """

    path: Path
    originals: tuple[Original, ...]
    targets: Mapping[str, tuple[Path, ...]]
    updated: Path | None = None
    corrected: frozenset[Path] = frozenset()
    before: tuple[Path, ...] = ()

    @property
    def name(self) -> str:
        """The name of the file for the user."""
        return given_name(self.path)

    @property
    def given(self) -> str:
        """Its path as given on the command line: inside the ZIP file, if it was unpacked."""
        return as_given(str(self.path))

    @property
    def results(self) -> tuple[tuple[str, Path], ...]:
        """All files to write except itself, each with the name of its format, `UPDATE` for an updated copy."""
        targets = tuple((name, target) for name, paths in self.targets.items() for target in paths)
        return targets if self.updated is None or self.in_place else (*targets, (UPDATE, self.updated))

    @cached_property
    def wanted(self) -> tuple[Path, ...]:
        """All files to write."""
        targets = (target for paths in self.targets.values() for target in paths)
        return (*targets, self.updated) if self.updated is not None else tuple(targets)

    @property
    def sources(self) -> tuple[Path, ...]:
        """The files that determine its results: scans and their descriptions, except one that is updated in place."""
        files = dict.fromkeys(file for original in self.originals for file in original.files)
        return self.before or tuple(file for file in files if not (self.in_place and file == self.path))

    @property
    def contents(self) -> Mapping[Path, bytes]:
        """The descriptions that are open."""
        opened = ((original.description, original.content) for original in self.originals)
        return {path: content.data for path, content in opened if path is not None and content is not None}

    def opened(self) -> Self:
        """The task with its description open, if it has a single page; those of others are opened one by one.

        Raises:
            DataError: if it cannot be read.
        """
        return replace(self, originals=(self.originals[0].opened(),)) if len(self.originals) == 1 else self

    @property
    def in_place(self) -> bool:
        """Whether the file itself is updated; then only reading it shows which lines lack text."""
        return self.updated is not None and self.updated.resolve() == self.path.resolve()

    def is_written(self, exists: Callable[[Path], bool] = is_there) -> bool:
        """Whether every file to write exists, maybe without some pages; never if the file itself is updated."""
        return bool(self.wanted) and not self.in_place and all(map(exists, self.wanted))

    @cached_property
    def is_whole_pdf(self) -> bool:
        """Whether it is a PDF of which all pages are read."""
        described = self.originals[0].description not in (None, *self.corrected)
        return not described and is_whole(self.path, self.originals) and is_pdf(self.path)

    @property
    def cache(self) -> PageCache | None:
        """The folder for its pages until the last one is read; None if it has one page, or nothing is written."""
        if len(self.originals) == 1 or not self.targets:
            return None
        return PageCache(next(iter(self.targets.values()))[0].parent / f".{page_stem(self.path)}.pages")

    def documents(
        self, name: str, format: Format, sheets: Sheets, provenance: Provenance
    ) -> Iterator[tuple[Path, Document]]:
        """The document for each file of a format: all pages that were read, or one; none if no page was read."""
        read = tuple(sheet for sheet in sheets if sheet is not None)
        paths = self.targets[name]
        if not read:
            return
        if format.together or len(sheets) == 1:
            pdf = self.path if len(read) == len(sheets) and self.is_whole_pdf else None
            # Other commands read a table back, and resolve its images relative to its folder.
            given = seen_from(paths[0].parent, Path(self.given)) if format.header else self.given
            yield paths[0], Document(read, provenance, pdf, given)
        else:
            for path, sheet in zip(paths, sheets, strict=True):
                if sheet is not None:
                    yield path, Document((sheet,), provenance, name=self.given)


def task_for(
    path: Path,
    originals: tuple[Original, ...],
    formats: Mapping[str, Format],
    folder: Path | None,
    *,
    update: bool,
) -> FileTask:
    """The task of writing `letter.alto.xml`, or `book_0001.alto.xml` for each page, into `folder`.

    A document of some pages is named after them: `book_0001-0020.txt`.
    """
    if folder is None:
        return FileTask(path, originals, {}, path if update else None)
    targets = {name: paths_of(format, path, originals, folder) for name, format in formats.items()}
    return FileTask(path, originals, targets, folder / path.name if update else None)


def paths_of(format: Format, path: Path, originals: Sequence[Original], folder: Path) -> tuple[Path, ...]:
    """The results of a file in a format: one if pages stay together, else one per page."""
    stem, whole = page_stem(path), is_whole(path, originals)
    numbers = [original.source.number for original in originals]
    if format.together or (whole and len(originals) == 1):
        stems = [stem if whole else with_pages(stem, numbers)]
    else:
        stems = [numbered_stem(stem, number) for number in numbers]
    return tuple(folder / f"{stem}{format.ending}" for stem in stems)


def seen_from(folder: Path, image: Path) -> str:
    """The path of an image relative to a folder, with slashes; unchanged if it is absolute or on another drive."""
    place = image.parent.resolve() / image.name
    same_drive = place.drive == folder.resolve().drive
    return Path(relpath(place, folder.resolve())).as_posix() if same_drive and not image.is_absolute() else str(image)


def is_whole(path: Path, originals: Sequence[Original]) -> bool:
    """Whether some pages are all pages of their file; a description always has exactly one."""
    return originals[0].description == path or len(originals) == originals[0].source.pages


def refuse_overwriting(tasks: Sequence[FileTask], folders: Folders, texts: Iterable[Path] = ()) -> None:
    """Refuse results that would replace each other or a file that is read.

    Args:
        texts: Files that are read besides the pages.

    Raises:
        DataError: naming the files.
    """
    for task in tasks:
        if task.updated is not None and task.wanted.count(task.updated) > 1:
            raise DataError(
                f"--update and --format would both write {task.updated}; leave one out, or rename the input",
                task.path,
            )
    refuse_shared_results(tasks)
    pages = (path for task in tasks for path in {task.path, *(one.source.path for one in task.originals)})
    read = set(map(folders.resolved, chain(pages, texts)))
    for task in tasks:
        for target in task.wanted:
            is_input = folders.is_there(target) and folders.resolved(target) in read
            if is_input and not (task.in_place and target == task.updated):
                raise DataError(
                    f"{target} is an input and would be overwritten; choose another --output, at least for this format"
                )


def refuse_shared_results(tasks: Sequence[FileTask]) -> None:
    """Refuse results of two files with the same path.

    Raises:
        DataError: naming the files.
    """
    owners: dict[str, FileTask] = {}
    for task in tasks:
        for target in task.wanted:
            if (owner := owners.setdefault(os.path.normcase(target), task)) is not task:
                same = owner.path.parent == task.path.parent
                cure = (
                    f"if they show the same page, give one kind of file, as in '*{task.path.suffix}'; else rename one"
                    if same and owner.path.suffix != task.path.suffix
                    else "rename one, or read them in two runs, each into its own folder"
                )
                raise DataError(f"{owner.path} and {task.path} would both be written to {target}; {cure}")
