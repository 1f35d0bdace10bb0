"""Open a job: find the files to read, and plan the paths of their results.

job = open_job(["scans/"], "out", ["alto", "pdf"])
summary = job.run(Recognizer.load)
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os.path import commonpath
from pathlib import Path
from typing import NamedTuple, Self

from drethtr.base.archive import archive_of, as_unpacked_beside, is_archive
from drethtr.base.config import named
from drethtr.base.errors import ConfigError, DataError
from drethtr.base.files import refuse_file, refuse_protected
from drethtr.base.links import refuse_outside
from drethtr.documents.beside import page_stem
from drethtr.documents.formats import FORMATS, LINE_FORMATS, TEXT_WITH_DOUBTS, Format
from drethtr.pages.catalog import Catalog
from drethtr.pages.inputs import READABLE, are_below, find_inputs
from drethtr.pages.job import PageJob
from drethtr.pages.record import Records
from drethtr.pages.segmentation import DetectedLines, Segmentation, segmentation_named
from drethtr.pages.source import Original, open_originals
from drethtr.pages.task import refuse_overwriting, task_for

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


class PageChooser:
    """Chooses the pages of files that are in some ranges, or all without ranges.

    The pages of a file with several are numbered in the file; other files are numbered by their position in the folder.
    """

    def __init__(self, ranges: PageRanges | None, files: Sequence[Path]) -> None:
        self.ranges = ranges
        self.opened = self.chosen = 0
        counts: Counter[Path] = Counter()
        self.places: dict[Path, int] = {}
        for file in files if ranges is not None else ():
            counts[file.parent] += 1
            self.places[file] = counts[file.parent]

    def of(self, file: Path, originals: tuple[Original, ...]) -> tuple[Original, ...]:
        """The chosen pages of a file; may be empty."""
        if self.ranges is None:
            return originals
        place = self.places[file] if len(originals) == 1 else None
        chosen = tuple(original for original in originals if (place or original.source.number) in self.ranges)
        self.opened, self.chosen = self.opened + 1, self.chosen + len(chosen)
        return chosen

    def refuse_nothing(self) -> None:
        """Refuse ranges that contain no page, if any file was opened.

        Raises:
            ConfigError: saying so.
        """
        if self.opened and not self.chosen:
            raise ConfigError("--pages: none of the files has a page in the given ranges")


@dataclass(frozen=True)
class Selection:
    """Files to read.

    unreadable  errors of other inputs
    remarks     what else was left out, in sentences
    folders     the folder for the results of each file; empty if nothing is written
    chooser     chooses their pages
    catalog     knows what the files are
    records     the records of the folders for results, each read once
    """

    files: tuple[Path, ...]
    unreadable: tuple[DataError, ...]
    remarks: tuple[str, ...]
    folders: Mapping[Path, Path]
    chooser: PageChooser
    catalog: Catalog
    records: Records


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
    ranges = None if pages is None else PageRanges.parse(pages)
    if output is not None:
        refuse_file(output)
    records = Records()
    catalog = Catalog(None if output is None else records.of(output).inputs, images_in(images))
    names = [str(name) for name in inputs]
    files, errors = find_inputs(names, output, endings, recursive=recursive, catalog=catalog)
    folders = {} if output is None else result_folders(files, output, inputs, recursive=recursive)
    remarks = tuple(
        f"{name}: what is in its subfolders is left out; --recursive includes it"
        for name in names
        if not recursive and are_below(Path(name), READABLE, output)
    )
    return Selection(tuple(files), tuple(errors), remarks, folders, PageChooser(ranges, files), catalog, records)


def images_in(folder: Path | None) -> Path | None:
    """The folder of images that a user names.

    Raises:
        DataError: if there is none.
    """
    if folder is not None and not folder.is_dir():
        raise DataError("no such folder; give --images the folder of the page images", folder)
    return folder


def result_folders(
    files: Sequence[Path], output: Path, inputs: Sequence[str | Path] = (), *, recursive: bool = False
) -> Mapping[Path, Path]:
    """The folder for the results of each file: `output`, or a folder below it.

    With `recursive`, subfolders of the inputs are mirrored. If files with one name in several folders would share a
    result, all folders are mirrored from their common parent. A ZIP file counts as a folder with its name, so that the
    next run, which unpacks it elsewhere, finds the results.

    Raises:
        DataError: if links lead out of `output`.
    """
    # Where files would be beside their ZIP file: the folder they are unpacked into has another name in each run.
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
    if path.is_dir():
        return path
    return path.with_suffix("") if is_archive(path) else None


def place_below(folder: Path, roots: Sequence[Path]) -> Path:
    """The path of a folder relative to its nearest root; `.` if it is below none."""
    inside = [folder.relative_to(root) for root in roots if folder.is_relative_to(root)]
    return min(inside, key=lambda place: len(place.parts), default=Path())


def share_results(folders: Mapping[Path, Path], places: Mapping[Path, Path]) -> bool:
    """Whether files from different folders, each with its place in the output, would have the same result."""
    owners: dict[tuple[Path, str], Path] = {}
    results = (((places[folder], page_stem(file)), folder) for file, folder in folders.items())
    return any(owners.setdefault(result, folder) != folder for result, folder in results)


def open_job(
    inputs: Sequence[str | Path],
    output: str | Path | None,
    formats: Sequence[str] = ("txt",),
    *,
    segmentation: Segmentation | str = "auto",
    update: bool = False,
    doubts: bool = False,
    pages: str | None = None,
    recursive: bool = False,
    force: bool = False,
) -> PageJob:
    """Open files of pages, and plan their results: `letter.alto.xml`, or `book_0001.alto.xml` for each page of a file.

    Args:
        inputs: Images, PDFs, PAGE, ALTO and METS files, IIIF manifests, folders and ZIP files of them, patterns, and
            addresses, which are fetched.
        output: A folder for results; if None, documents are only reported.
        formats: Names in `FORMATS`.
        segmentation: Line segmentation, by value, or by name as in `drethtr transcribe --lines`.
        update: Write the text into PAGE and ALTO files: into copies in `output`, or without it into the files
            themselves. Lines with text keep it, unless `force` is given.
        doubts: Mark doubts in `txt`.
        pages: Only these, as in "1-20,25,30-": pages of files with several, else files by their position in their
            folder.
        recursive: Include subfolders, and mirror them in `output`.
        force: Replace existing files and texts.

    Raises:
        ConfigError: as `open_selected`, for invalid page ranges, and for a string in place of a list.
        DataError: as `open_selected`.
    """
    for name, given in (("inputs", inputs), ("formats", formats)):
        if isinstance(given, str):  # a sequence of strings, too: its characters
            raise ConfigError(f"{name} must be a list; for a single one: [{given!r}]")
    folder = None if output is None else Path(output)
    endings = [named("format", name, FORMATS).ending for name in formats]
    selection = select(inputs, folder, endings, pages=pages, recursive=recursive)
    return open_selected(
        selection, folder, formats, segmentation=segmentation, update=update, doubts=doubts, force=force
    )


def open_selected(
    selection: Selection,
    output: Path | None,
    formats: Sequence[str] = ("txt",),
    *,
    segmentation: Segmentation | str = "auto",
    update: bool = False,
    doubts: bool = False,
    force: bool = False,
    line_forms: bool = False,
) -> PageJob:
    """Like `open_job`, for files that were selected for this folder.

    Args:
        line_forms: Write images of single lines in the one format of `LINE_FORMATS` that is given, if all files are.

    Raises:
        ConfigError: for an unknown format or segmentation, a segmentation that `update` excludes, two formats with the
            same extension, or ranges without a page.
        DataError: if results would replace each other or an input.
    """
    if isinstance(segmentation, str):
        segmentation = segmentation_named(segmentation)
    if update and isinstance(segmentation, DetectedLines):
        raise ConfigError(f"an update writes into existing lines; leave out the segmentation {segmentation.name!r}")
    wanted = {name: named("format", name, {**LINE_FORMATS, **FORMATS}) for name in formats}
    refuse_same_endings(wanted)
    of_lines = line_forms and wanted.keys() <= LINE_FORMATS.keys() and len(wanted) == 1
    opened, errors = dict[Path, tuple[Original, ...]](), list(selection.unreadable)
    for file in selection.files:
        try:
            originals = selection.chooser.of(file, originals_in(file, segmentation, selection.catalog, update=update))
            if update and output is None:
                if (archive := archive_of(file)) is not None:
                    raise DataError("cannot be updated in place; give a folder for the copies as --output", archive)
                refuse_protected(file)
            of_lines = of_lines and all(map(segmentation.is_line, originals))
        except DataError as error:
            errors.append(error)
        else:
            opened[file] = originals
    selection.chooser.refuse_nothing()
    # Only now is known whether all files are lines, on which the form of `json` depends.
    if of_lines:
        wanted = {name: LINE_FORMATS[name] for name in wanted}
    elif for_lines := wanted.keys() - FORMATS.keys():
        raise ConfigError(f"{min(for_lines)} must be the only format, for line images only; use csv otherwise")
    if doubts and "txt" in wanted:
        wanted["txt"] = TEXT_WITH_DOUBTS
    tasks = [
        task_for(file, originals, wanted, selection.folders.get(file), update=update)
        for file, originals in opened.items()
        if originals
    ]
    if output is not None:
        refuse_overwriting(tasks, selection.catalog.folders)
    return PageJob(
        tuple(tasks),
        tuple(errors),
        wanted,
        output,
        segmentation,
        update=update,
        force=force,
        of_lines=of_lines,
        remarks=selection.remarks,
        catalog=selection.catalog,
        records=selection.records,
    )


def refuse_same_endings(formats: Mapping[str, Format]) -> None:
    """Refuse two formats with the same extension.

    Raises:
        ConfigError: naming them.
    """
    owners: dict[str, str] = {}
    for name, format in formats.items():
        if (owner := owners.setdefault(format.ending, name)) != name:
            raise ConfigError(
                f"{owner} and {name} are both written to files ending in {format.ending}; choose one of them"
            )


def originals_in(file: Path, segmentation: Segmentation, catalog: Catalog, *, update: bool) -> tuple[Original, ...]:
    """The pages of a file.

    Raises:
        DataError: if it cannot be opened, lacks required lines, or cannot be updated.
    """
    originals = open_originals(file, catalog)
    if update and (originals[0].description != file or file.suffix.lower() == ".json"):
        raise DataError(
            "neither PAGE nor ALTO, so there is nothing to update; for new files use --format page --output FOLDER",
            file,
        )
    if update and not originals[0].has_lines:
        raise DataError("has no lines to write text into; for a new file use --format page --output FOLDER", file)
    prepared = tuple(map(segmentation.prepare, originals))
    # A page that cannot be read is skipped; a file without any other is refused before the model is loaded.
    errors = [original.error for original in prepared if original.error is not None]
    if len(errors) == len(prepared):
        raise errors[0]
    return prepared
