"""Lines to read whose text nobody knows: images in folders, lines that PAGE or ALTO files mark out, or data files."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from drethtr.base.errors import DataError
from drethtr.cli.inputs import images_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drethtr.lines.sample import Sample


def lines_of(inputs: "Sequence[str]") -> "list[Sample]":
    """Every line of some folders, at any depth, of images, patterns and data files.

    Of PAGE or ALTO files, and of folders that hold some, all marked lines are read, whether or not they have a text;
    elsewhere an image is a line, and its folder a page.

    Raises:
        DataError: if there is nothing, or an image is one of a page, naming where.
    """
    from drethtr.documents.beside import DESCRIPTION
    from drethtr.lines.importers.pages import Pages
    from drethtr.lines.sources import READERS, open_all

    found: list[Sample] = []
    for name in inputs:
        path = Path(name)
        if path.suffix.lower() == DESCRIPTION:
            found += [line for page in images_of(name) for line in lines_on_pages(page)]
        elif path.suffix.lower() in READERS:
            found += open_all([name])
        elif Pages().recognizes(path):
            found += lines_on_pages(path)
        else:
            found += line_images(path)
    if not found:
        raise DataError(f"{', '.join(inputs)}: no lines to read")
    return found


def lines_on_pages(source: Path) -> "list[Sample]":
    """The lines of a page, or of all pages in a folder, transcribed or not; says what could not be used."""
    from dataclasses import replace

    from drethtr.lines.importers.pages import Pages
    from drethtr.lines.sample import LeftOut
    from drethtr.lines.write_parquet import png_of

    found = []
    for entry in Pages().entries(source):
        if isinstance(entry, LeftOut):
            typer.echo(f"left out, {entry.reason}: {entry.key}", err=True)
        else:
            found.append(replace(entry.sample, image=png_of(entry.sample)))  # a hundredth of the memory of its pixels
    return found


def line_images(path: Path) -> "list[Sample]":
    """A line for each image of a folder, at any depth, of a pattern, or of one file.

    Those that cannot be opened are among them: who reads them says why.

    Raises:
        DataError: naming the first that is a page, and how pages are read.
    """
    from drethtr.documents.beside import IMAGES, is_hidden
    from drethtr.lines.sample import Sample

    files = path.rglob("*") if path.is_dir() else ()
    found = sorted(file for file in files if file.suffix.lower() in IMAGES and not is_hidden(file))
    images = found or images_of(str(path))
    for image in images:
        refuse_page(
            image,
            f"mark out its lines with drethtr transcribe {image.parent} --format alto --output {image.parent}, "
            f"then drethtr predict-cer {image.parent}",
        )
    if not path.is_dir():
        return [Sample(image, "", image.parent.name, key=str(image)) for image in images]
    pages = (str(image.parent.relative_to(path)) for image in images)
    name = path.resolve().name
    return [
        Sample(image, "", name, page=None if page == "." else page, key=str(image))
        for image, page in zip(images, pages, strict=True)
    ]


def refuse_page(image: Path, remedy: str) -> None:
    """Refuse a file that `drethtr transcribe` would take for a page, but none that cannot be opened.

    Raises:
        DataError: if it is one.
    """
    from drethtr.images.line import page_for_line
    from drethtr.pages.source import open_originals

    try:
        lines_alone = all(original.is_line for original in open_originals(image))
    except DataError:
        return
    if not lines_alone:
        raise page_for_line(str(image), remedy)
