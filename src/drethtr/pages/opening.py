"""Open a job: find the files to read, and plan the paths of their results.

job = open_job(["scans/"], "out", ["alto", "pdf"])
summary = job.run(Recognizer.load)
"""

from collections.abc import Sequence
from pathlib import Path

from drethtr.base.archive import archive_of
from drethtr.base.errors import ConfigError, DataError
from drethtr.base.files import refuse_protected
from drethtr.documents.formats import FORMATS, LINE_FORMATS, TEXT_WITH_DOUBTS, formats_named
from drethtr.pages.job import PageJob
from drethtr.pages.segmentation import DetectedLines, Segmentation, segmentation_named
from drethtr.pages.selection import Selection, select
from drethtr.pages.source import Original
from drethtr.pages.task import refuse_overwriting, task_for


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
        ConfigError: as `open_selected`, for an unknown format or segmentation, two formats with the same extension,
            invalid page ranges, and for a string in place of a list.
        DataError: as `open_selected`.
    """
    for name, given in (("inputs", inputs), ("formats", formats)):
        if isinstance(given, str | Path):  # a string is also a sequence of strings: its characters
            raise ConfigError(f"{name} must be a list; for a single one: [{str(given)!r}]")
    folder = None if output is None else Path(output)
    wanted = formats_named(formats)
    endings = [format.ending for format in wanted.values()]
    selection = select(inputs, folder, endings, pages=pages, recursive=recursive)
    if isinstance(segmentation, str):
        segmentation = segmentation_named(segmentation)
    return open_selected(selection, tuple(wanted), segmentation, update=update, doubts=doubts, force=force)


def open_selected(
    selection: Selection,
    formats: Sequence[str],
    segmentation: Segmentation,
    *,
    update: bool,
    doubts: bool,
    force: bool,
    may_be_lines: bool = False,
) -> PageJob:
    """Like `open_job`, for files that were selected.

    Args:
        formats: Names in `FORMATS` or `LINE_FORMATS`, checked by `formats_named`.
        may_be_lines: If all files are images of single lines, write the only format as in `LINE_FORMATS`.

    Raises:
        ConfigError: for a segmentation that `update` excludes, a format for lines only if not all files are, or ranges
            without a page.
        DataError: if results would replace each other or an input, or a ZIP file would be updated in place.
    """
    if update and isinstance(segmentation, DetectedLines):
        raise ConfigError(f"an update writes into existing lines; leave out the segmentation {segmentation.name!r}")
    of_lines = may_be_lines
    prepared, errors = dict[Path, tuple[Original, ...]](), list[DataError]()
    for file, chosen in selection.opened(errors.append):
        originals = tuple(map(segmentation.prepare, chosen))
        if update and selection.output is None and (archive := archive_of(file)) is not None:
            raise DataError("cannot be updated in place; give a folder for the copies as --output", archive)
        try:
            if update:
                refuse_no_update(file, originals[0], in_place=selection.output is None)
            reasons = [original.error for original in originals if original.error is not None]
            if len(reasons) == len(originals):
                raise reasons[0]  # before the model is loaded; a single page of several is only skipped
            of_lines = of_lines and all(map(segmentation.is_line_image, originals))
        except DataError as error:
            errors.append(error)
        else:
            prepared[file] = originals
    # Only now is it known whether all files are lines, on which the form of `json` depends.
    if not of_lines and (for_lines := {*formats} - FORMATS.keys()):
        raise ConfigError(f"{min(for_lines)} must be the only format, for line images only; use csv otherwise")
    known = LINE_FORMATS if of_lines else FORMATS
    wanted = {name: known[name] for name in formats}
    if doubts and "txt" in wanted:
        wanted["txt"] = TEXT_WITH_DOUBTS
    tasks = [
        task_for(file, originals, wanted, selection.folders.get(file), update=update)
        for file, originals in prepared.items()
    ]
    if selection.output is not None:
        refuse_overwriting(tasks, selection.catalog.folders)
    return PageJob(
        selection, tuple(tasks), tuple(errors), wanted, segmentation, update=update, force=force, of_lines=of_lines
    )


def refuse_no_update(file: Path, original: Original, *, in_place: bool) -> None:
    """Refuse a file that cannot be updated; `original` is its first page.

    Raises:
        DataError: saying why.
    """
    if original.description != file or file.suffix.lower() == ".json":
        raise DataError(
            "neither PAGE nor ALTO, so there is nothing to update; for new files use --format page --output FOLDER",
            file,
        )
    if not original.has_lines:
        raise DataError("has no lines to write text into; for a new file use --format page --output FOLDER", file)
    if in_place:
        refuse_protected(file)
