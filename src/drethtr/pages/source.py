"""Pages to read: image files, PDFs, and PAGE, ALTO or JSON files with lines."""

from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path

from drethtr.base.archive import as_given
from drethtr.base.errors import ConfigError, DataError
from drethtr.documents.beside import DESCRIPTION, image_of
from drethtr.documents.document import Scan, Sheet
from drethtr.documents.page import Page
from drethtr.documents.read import read_page
from drethtr.images.line import Line, is_line_shaped
from drethtr.images.page import PageSource, open_pages
from drethtr.pages.iiif import is_manifest, pages_of_manifest
from drethtr.pages.mets import is_mets, pages_of_mets
from drethtr.pages.volume import VolumePage

DESCRIPTIONS = frozenset({DESCRIPTION, ".json"})
"""Extensions of files that describe a page; its image is another file."""


@dataclass(frozen=True)
class Original:
    """A page to read: its image, and the file `description` that describes it, if there is one.

    has_lines  whether that file has lines; if not, they must be found
    """

    source: PageSource
    description: Path | None = None
    has_lines: bool = False

    @property
    def name(self) -> str:
        """Its name in messages."""
        return as_given(str(self.description)) if self.description is not None else self.source.name

    @cached_property
    def is_alone(self) -> bool:
        """Whether its file is an image of this page only."""
        return self.source.is_alone

    @cached_property
    def is_line(self) -> bool:
        """Whether the image has the shape of a single line; never true for a PDF.

        Raises:
            DataError: if the image is damaged.
        """
        if self.description is not None or not self.is_alone:
            return False
        return is_line_shaped(*self.source.size())

    @property
    def finder_name(self) -> str:
        """The name of the default finder for its lines.

        Raises:
            DataError: if the image is damaged.
        """
        return "whole" if self.is_line else "rapid"

    def scan(self) -> Scan:
        """The image, for writers of documents."""
        return Scan(self.source.image, self.source.file)

    def sheet(self, page: Page) -> Sheet:
        """The transcribed page with its scan, for writers of documents."""
        canvas = self.source.canvas if isinstance(self.source, VolumePage) else None
        return Sheet(page, self.scan(), self.source.number, canvas)

    def given(self) -> Page | None:
        """The page as described. It is read each time, so that thousands of waiting pages take little memory.

        Raises:
            DataError: if the description can no longer be read.
        """
        if self.description is None:
            return None
        page = read_page(self.description)
        return page if self.has_lines else replace(page, regions=())

    def given_for(self, gray: Line) -> Page | None:
        """The page as described, in pixels of its image.

        Raises:
            DataError: if the description can no longer be read, or is of an image of another shape.
        """
        given = self.given()
        if given is None:
            return None
        height, width = gray.shape
        try:
            return given.on_image(self.source.path, width, height)
        except DataError as error:
            raise error.of(self.name) from error


def open_originals(path: str | Path) -> tuple[Original, ...]:
    """The pages of an image, PDF, TIFF, METS or IIIF manifest, or the page that a PAGE, ALTO or JSON file describes.

    Raises:
        ConfigError: if it is no path, but an image.
        DataError: if the file, or the image that it describes, is missing or cannot be read.
    """
    if not isinstance(path, str | PathLike):
        raise ConfigError(f"a page is read from a file: give its path, not {type(path).__name__}; save images first")
    path = Path(path)
    if path.suffix.lower() not in DESCRIPTIONS:
        return tuple(Original(source) for source in open_pages(path))
    if is_mets(path):
        return tuple(described(page, page.description) for page in pages_of_mets(path))
    if is_manifest(path):
        return tuple(Original(page) for page in pages_of_manifest(path))
    page = read_page(path)
    return (Original(image_of(path, page.image), path, has_lines=bool(page.lines)),)


def described(source: PageSource, description: Path | None) -> Original:
    """A page and the file that describes it, if there is one.

    Raises:
        DataError: if that file cannot be read.
    """
    return Original(source, description, has_lines=description is not None and bool(read_page(description).lines))
