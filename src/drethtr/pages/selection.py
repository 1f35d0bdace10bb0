"""Which files to read, which of their pages, and the folder for the results of each."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os.path import commonpath
from pathlib import Path
from typing import NamedTuple, Self

from drethtr.base.archive import as_unpacked_beside, is_archive
from drethtr.base.errors import ConfigError, DataError
from drethtr.base.files import is_folder, refuse_file
from drethtr.base.links import refuse_outside
from drethtr.documents.beside import DESCRIPTION, IMAGES, KINDS, SEVERAL, folders_around, page_stem
from drethtr.documents.names import folded
from drethtr.pages.catalog import Catalog
from drethtr.pages.inputs import READABLE, are_below, find_inputs
from drethtr.pages.record import Records
from drethtr.pages.results import work_in
from drethtr.pages.source import Original, open_originals

RANGE = re.compile(r"(\d{1,9})(-(\d{1,9})?)?")


class Span(NamedTuple):
    """Pages from `first` to `last`; None is the end of the file."""

    first: int
    last: int | None


@dataclass(frozen=True)
class PageRanges:
    """Ranges of pages, numbered from 1."""

    spans: tuple[Span, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ranges.

        Raises:
            ConfigError: if they are invalid.
        """
        return cls(tuple(span_of(part.strip(), text) for part in text.split(",")))

    def __contains__(self, number: int) -> bool:
        return any(first <= number and (last is None or number <= last) for first, last in self.spans)


def span_of(part: str, whole: str) -> Span:
    """One of several ranges.

    Raises:
        ConfigError: naming all of them, if it is invalid.
    """
    if (found := RANGE.fullmatch(part)) is None:
        raise ConfigError(f"--pages {whole!r}: give ranges of pages, such as 1-20,25,30-")
    first, open_end, last = found.groups()
    span = Span(int(first), int(last) if last else None if open_end else int(first))
    if span.first < 1 or (span.last is not None and span.last < span.first):
        raise ConfigError(f"--pages {whole!r}: {part} is not a range of pages, which are numbered from 1")
    return span


@dataclass(frozen=True)
class Selection:
    """Files to read.

    unreadable  errors of other inputs
    remarks     what else was left out, in sentences
    output      the folder for results, if one is given
    folders     the folder for the results of each file; empty without `output`
    ranges      of the pages to read; None for all
    catalog     knows what the files are
    records     the records of the folders for results, each read once
    """

    files: tuple[Path, ...]
    unreadable: tuple[DataError, ...]
    remarks: tuple[str, ...]
    output: Path | None
    folders: Mapping[Path, Path]
    ranges: PageRanges | None
    catalog: Catalog
    records: Records

    def opened(self, skip: Callable[[DataError], object]) -> Iterator[tuple[Path, tuple[Original, ...]]]:
        """The files that have a chosen page, each with its chosen pages.

        Args:
            skip: Called with why an input, or a file, cannot be used.

        Raises:
            ConfigError: at the end, if no file has a page in the given ranges.
        """
        for error in self.unreadable:
            skip(error)
        outside = 0
        for file in self.files:
            try:
                chosen = self.chosen(file, open_originals(file, self.catalog))
            except DataError as error:
                if not self.excludes(file):
                    skip(error)
                    continue
                chosen = ()
            if chosen:
                yield file, chosen
            else:
                outside += 1
        if self.files and outside == len(self.files):
            raise ConfigError("--pages: none of the files has a page in the given ranges")

    def originals(self, skip: Callable[[DataError], object]) -> Iterator[Original]:
        """All chosen pages; see `opened`."""
        for _, chosen in self.opened(skip):
            yield from chosen

    def chosen(self, file: Path, originals: tuple[Original, ...]) -> tuple[Original, ...]:
        """The pages of a file that are in the ranges; may be empty.

        The pages of a file with several are numbered in the file; other files by their position in the folder.
        """
        if self.ranges is None:
            return originals
        place = self.places[file] if len(originals) == 1 else None
        return tuple(original for original in originals if (place or original.source.number) in self.ranges)

    def excludes(self, file: Path) -> bool:
        """Whether a file has no page in the ranges, even if it cannot be opened: an image of one page outside them."""
        is_alone = file.suffix.lower() in IMAGES and file.suffix.lower() not in SEVERAL
        return self.ranges is not None and is_alone and self.places[file] not in self.ranges

    @cached_property
    def places(self) -> Mapping[Path, int]:
        """The position of each file among those of its folder, from 1."""
        counts: Counter[Path] = Counter()
        places = {}
        for file in self.files:
            counts[file.parent] += 1
            places[file] = counts[file.parent]
        return places


def select(
    inputs: Sequence[str | Path],
    output: Path | None = None,
    endings: Sequence[str] = (),
    *,
    pages: str | None = None,
    recursive: bool = False,
    images: Path | None = None,
) -> Selection:
    """Find the files to read.

    Args:
        inputs: Names of files and folders, and patterns.
        output: A folder for results.
        endings: Extensions of those results.
        pages: Only these, as in "1-20,25,30-": pages of files with several, else files by their position in their
            folder.
        recursive: Include subfolders, and mirror them in `output`.
        images: A folder in which the images of PAGE and ALTO files are looked for first.

    Raises:
        ConfigError: if the page ranges are invalid.
        DataError: if `output` is a file or links in it lead elsewhere, its record cannot be read, or there is no
            folder of images.
    """
    ranges = None if pages is None else PageRanges.parse(str(pages))
    if output is not None:
        refuse_file(output)
    records = Records()
    catalog = Catalog(None if output is None else records.of(output).inputs, image_folder(images))
    names = [str(name) for name in inputs]
    files, errors = find_inputs(names, output, endings, recursive=recursive, catalog=catalog)
    folders = {} if output is None else result_folders(files, output, inputs, recursive=recursive)
    told = {error.source for error in errors}
    remarks = (
        f"{name}: its subfolders are left out; --recursive includes them"
        for name in names
        if not recursive and Path(name) not in told and are_below(Path(name), READABLE, output)
    )
    every = (*remarks, *passed_over(files, catalog))
    return Selection(tuple(files), tuple(errors), every, output, folders, ranges, catalog, records)


def passed_over(files: Sequence[Path], catalog: Catalog) -> Iterator[str]:
    """Name our files that a person worked on, but that are not read since others describe the same scans."""
    read = set(files)
    for file in files:
        if file.suffix.lower() != DESCRIPTION:
            continue
        # Transkribus puts its files into a folder `page` beside the scans.
        folders = folders_around(file)[: 2 if file.absolute().parent.name == "page" else 1]
        beside = {folder / f"{page_stem(file)}{kind}{DESCRIPTION}" for folder in folders for kind in KINDS}
        for own in sorted(filter(catalog.folders.is_there, beside - read)):
            if not catalog.is_ours(file) and (work := work_in(own)):
                yield (
                    f"{own}: not read, although {work}; {file} of another program is read instead; move one of them "
                    "away"
                )


def image_folder(folder: Path | None) -> Path | None:
    """The folder of images that a user names.

    Raises:
        DataError: if there is none.
    """
    if folder is not None and not folder.is_dir():
        raise DataError("no such folder; give --images the folder of the page images", folder)
    return folder


def result_folders(
    files: Sequence[Path], output: Path, inputs: Sequence[str | Path], *, recursive: bool
) -> Mapping[Path, Path]:
    """The folder for the results of each file: `output`, or a folder below it.

    With `recursive`, subfolders of the inputs are mirrored. If files with one name in several folders would share a
    result, all folders are mirrored from their common parent. A ZIP file counts as a folder with its name, so that the
    next run, which unpacks it elsewhere, finds the results.

    Raises:
        DataError: if links lead out of `output`.
    """
    # As if unpacked beside their ZIP file: the folder they are really unpacked into has another name in each run.
    folders = {file: as_unpacked_beside(file).parent for file in files}
    roots = [root for name in inputs if (root := root_of(Path(name))) is not None] if recursive else []
    places = {folder: place_below(folder, roots) for folder in {*folders.values()}}
    if len(places) > 1 and share_results(folders, places):
        try:
            common = Path(commonpath([folder.absolute() for folder in places]))
        except ValueError:  # on several drives
            return dict.fromkeys(files, output)
        places = {folder: folder.absolute().relative_to(common) for folder in places}
    below = {folder: output / place for folder, place in places.items()}
    for folder in below.values():
        refuse_outside(folder, output)
    return {file: below[folder] for file, folder in folders.items()}


def root_of(path: Path) -> Path | None:
    """The folder that an input is mirrored from; None if it is neither a folder nor a ZIP file."""
    if is_folder(path):
        return path
    return path.with_suffix("") if is_archive(path) else None


def place_below(folder: Path, roots: Sequence[Path]) -> Path:
    """The path of a folder relative to its nearest root; `.` if it is below none."""
    inside = [folder.relative_to(root) for root in roots if folder.is_relative_to(root)]
    return min(inside, key=lambda place: len(place.parts), default=Path())


def share_results(folders: Mapping[Path, Path], places: Mapping[Path, Path]) -> bool:
    """Whether files from different folders, each with its place in the output, would share a result, on any drive."""
    owners: dict[str, Path] = {}
    results = ((folded((places[folder] / page_stem(file)).as_posix()), folder) for file, folder in folders.items())
    return any(owners.setdefault(result, folder) != folder for result, folder in results)
