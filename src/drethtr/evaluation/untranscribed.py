"""Untranscribed lines to read: images in folders, lines marked in PAGE or ALTO files, or data files."""

import shlex
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from drethtr.base.archive import archive_of
from drethtr.base.errors import DataError
from drethtr.datasets.layouts.pages import READ, Pages
from drethtr.datasets.open import TABLES, open_all, path_and_split
from drethtr.datasets.parquet import png_of
from drethtr.datasets.sample import LeftOut, Sample, with_distinct_sets
from drethtr.documents.beside import DESCRIPTION, IMAGES, image_beside, is_hidden, visible_below
from drethtr.documents.read import read_page
from drethtr.images.line import page_for_line
from drethtr.pages.inputs import files_of_input
from drethtr.pages.source import open_originals


def lines_to_read(inputs: Sequence[str], report: Callable[[LeftOut], object], pages: Pages) -> list[Sample]:
    """The lines of folders at any depth, images, patterns and data files.

    From PAGE or ALTO files and folders of them come all marked lines, with or without text; elsewhere each image is a
    line, and its folder a page.

    Args:
        report: Called with every marked line that cannot be used, and with every scan that no file describes.
        pages: How PAGE and ALTO files are read.

    Raises:
        DataError: if there are no lines, or naming an image that is a page.
    """
    found: list[Sample] = []
    for name in inputs:
        path = Path(name)
        if path.suffix.lower() == DESCRIPTION:
            found += [line for page in files_of_input(name) for line in marked_lines(page, report, pages)]
        elif path.suffix.lower() in TABLES or path_and_split(name)[1]:
            found += open_all([name], pages)
        elif pages.recognizes(path):
            found += marked_lines(path, report, pages)
            report_unread(path, report, pages)
        else:
            found += line_images(path)
    if not found:
        raise DataError(f"{', '.join(inputs)}: no lines to read")
    [found] = with_distinct_sets(found)
    return found


def marked_lines(source: Path, report: Callable[[LeftOut], object], pages: Pages) -> list[Sample]:
    """The lines of a page, or of all pages in a folder, transcribed or not."""
    found = []
    for entry in replace(pages, unconfirmed=True).entries(source):
        if isinstance(entry, LeftOut):
            report(entry)
        else:
            remarks = tuple(remark for remark in entry.remarks if remark != READ)  # no text is used here
            # As PNG, which takes a hundredth of the memory of its pixels.
            found.append(replace(entry, image=png_of(entry), remarks=remarks))
    return found


def report_unread(folder: Path, report: Callable[[LeftOut], object], pages: Pages) -> None:
    """Report every scan of a folder that no PAGE or ALTO file describes."""
    below = visible_below(folder)
    described = set()
    for path in below:
        with suppress(DataError):  # reported with its lines
            if path.suffix.lower() == DESCRIPTION:
                described.add(image_beside(path, read_page(path).image, images=pages.images))
    unread = [path for path in below if path.suffix.lower() in IMAGES and path not in described]
    place = shlex.quote(str(folder))
    below_it = " --recursive" if any(path.parent != folder for path in unread) else ""
    for path in unread:
        report(
            LeftOut(str(path), f"not read yet (drethtr transcribe {place}{below_it} --format page --output {place})")
        )


def line_images(path: Path) -> list[Sample]:
    """A line for each image of a folder at any depth, a pattern, or a file.

    Images that cannot be opened are included, so that reading them reports the error.

    Raises:
        DataError: naming the first image that is a page, and how to read pages.
    """
    files = path.rglob("*") if path.is_dir() else ()
    found = sorted(file for file in files if file.suffix.lower() in IMAGES and not is_hidden(file))
    images = found or files_of_input(str(path))
    for image in images:
        folder = shlex.quote(str(image.parent))
        remedy = f"mark its lines with drethtr transcribe {folder} --format alto --output {folder}, then give {folder}"
        refuse_page(image, "unpack the ZIP file and give the folder" if archive_of(image) else remedy + " instead")
    if not path.is_dir():
        places = [(image, image.parent.resolve()) for image in images]
        return [Sample(image, "", folder.name, key=str(image), named_after=folder) for image, folder in places]
    pages = (str(image.parent.relative_to(path)) for image in images)
    whole = path.resolve()
    return [
        Sample(image, "", whole.name, page=None if page == "." else page, key=str(image), named_after=whole)
        for image, page in zip(images, pages, strict=True)
    ]


def refuse_page(image: Path, remedy: str) -> None:
    """Refuse an image that `drethtr transcribe` would take for a page; one that cannot be opened is accepted.

    Raises:
        DataError: if it is one.
    """
    try:
        lines_alone = all(original.is_line for original in open_originals(image))
    except DataError:
        return
    if not lines_alone:
        raise page_for_line(str(image), remedy)
