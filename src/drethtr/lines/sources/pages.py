"""Lines of PAGE XML or ALTO files, cut from their page image; those with a text are samples."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from drethtr.base.errors import DataError
from drethtr.documents.beside import DESCRIPTION, image_of, page_stem
from drethtr.documents.page import TextLine
from drethtr.documents.read import read_page
from drethtr.documents.transcription import Review
from drethtr.images.line import Line
from drethtr.images.straighten import straighten
from drethtr.layout.finder import FoundLine
from drethtr.layout.given import GivenLine, complete
from drethtr.lines.sample import LeftOut, Sample
from drethtr.text.normalize import Spelling, nfc

XML_FOLDERS = frozenset({"page", "alto"})
"""Folders that contain the XML for images above or beside them; they are not part of page or set names."""


def read_page_lines(path: Path, spelling: Spelling = nfc) -> list[Sample]:
    """One sample per line with text, in reading order; the set is the name of the document.

    Raises:
        DataError: if the file is not a page, its image is missing, or a line with text cannot be cut from it.
    """
    samples = []
    for found in lines_of(path, empty=False):
        if isinstance(found, LeftOut):
            raise DataError(found.reason, found.key)
        document, page = document_name(path), page_name(path, path)
        samples.append(replace(found, text=spelling(found.text), set=document, page=page))
    return samples


def page_files(folder: Path) -> list[Path]:
    """The PAGE and ALTO files of a folder, sorted.

    Raises:
        DataError: if two of them describe the same page.
    """
    found = [path for path in sorted(folder.iterdir()) if path.suffix.lower() == DESCRIPTION and is_page(path)]
    first: dict[str, Path] = {}
    for path in found:
        if (other := first.setdefault(page_stem(path), path)) != path:
            raise DataError(f"{other.name} and {path.name} describe the same page; give one of them", folder)
    return found


def is_page(path: Path) -> bool:
    """Whether a file is a page; exports also contain other XML, such as `mets.xml`."""
    try:
        read_page(path)
    except DataError:
        return False
    return True


def is_reviewed(path: Path) -> bool:
    """Whether a person has corrected or confirmed a line of a file with `drethtr edit`."""
    try:
        page = read_page(path)
    except DataError:
        return False
    return any(line.is_reviewed for line in page.lines)


def document_name(path: Path) -> str:
    """The name of the folder of a path, or, for the XML folder of an export, of the folder above it."""
    folder = path.resolve() if path.is_dir() else path.resolve().parent
    return next((part for part in reversed(folder.parts) if part.lower() not in XML_FOLDERS), folder.name)


def page_name(path: Path, source: Path) -> str:
    """The name of a page's file with the folders it lies in."""
    relative = path.relative_to(source) if source.is_dir() else Path(path.name)
    folders = [part for part in relative.parts[:-1] if part.lower() not in XML_FOLDERS]
    return "/".join([*folders, page_stem(path)])


def lines_of(path: Path, *, empty: bool = True, confirmed: bool = False) -> Iterator[Sample | LeftOut]:
    """The lines of a PAGE or ALTO file, cut from its image, in reading order, with texts as written.

    Args:
        empty: Whether to include lines without a text.
        confirmed: Whether to leave out lines that no person has confirmed.
    """
    try:
        page = read_page(path)
    except DataError as error:
        yield LeftOut(str(error), "not a page")
        return
    try:
        source = image_of(path, page.image)
    except DataError as error:
        yield LeftOut(str(error), "no image of the page")
        return
    try:
        gray = source.gray()
        page = page.on_image(source.path, *reversed(gray.shape))
    except DataError as error:
        yield LeftOut(f"{path}: {error}", "no image of the page")
        return
    lines = [line for line in page.lines if line.polygon or line.baseline]
    places = dict(zip((line.id for line in lines), complete(gray, [GivenLine.of(line) for line in lines]), strict=True))
    for line in page.lines:
        if empty or line.text.strip():
            place, key = places.get(line.id), key_of(path, line)
            if confirmed and not (line.transcription and line.transcription.review is Review.CONFIRMED):
                yield LeftOut(key, "not confirmed by a person")
                continue
            yield LeftOut(key, "no position on the page") if place is None else cut(gray, line, place, key)


def cut(gray: Line, line: TextLine, place: FoundLine, key: str) -> Sample | LeftOut:
    """A line as an image of its own."""
    try:
        strip = straighten(gray, place.baseline, place.polygon)
    except DataError as error:
        return LeftOut(f"{key}: {error}", "cannot be cut from the page")
    return Sample(strip.line, line.text, key=key, id=line.id)


def key_of(path: Path, line: TextLine) -> str:
    """The key of a line."""
    return f"{path} line {line.id}"
