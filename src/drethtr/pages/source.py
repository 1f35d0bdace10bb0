"""Pages to read: image files, PDFs, and PAGE, ALTO or JSON files with lines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import NamedTuple, Self

from drethtr.base.archive import as_given
from drethtr.base.errors import ConfigError, DataError
from drethtr.documents.beside import DESCRIPTION, image_beside, page_among, page_stem, was_renamed, without_number
from drethtr.documents.document import Scan, Sheet
from drethtr.documents.markup import MAX_BYTES
from drethtr.documents.page import Page, TextLine
from drethtr.documents.read import first_bytes, page_in, read_page, size_of
from drethtr.images.line import Line, is_line_shaped
from drethtr.images.page import PageSource
from drethtr.layout.given import GivenLine, Outlines, misdrawn
from drethtr.layout.orientation import on_scan
from drethtr.pages.catalog import Catalog, Kind
from drethtr.pages.iiif import pages_of_manifest
from drethtr.pages.mets import pages_of_mets
from drethtr.pages.volume import VolumePage

DESCRIPTIONS = frozenset({DESCRIPTION, ".json"})
"""Extensions of files that describe a page; its image is another file."""

SHOWN = 10
"""Maximum number of passages of a description to list."""


class Described(NamedTuple):
    """A description that was read: its bytes, and the page in them."""

    data: bytes
    page: Page


@dataclass(frozen=True)
class Original:
    """A page to read: its image, and the file `description` that describes it, if there is one.

    has_lines  whether that file has lines; if not, they must be found
    error      why the page cannot be read, if already known; reading it raises this
    shape      whether the image has the shape of a single line, if already known
    content    the description, while the page is read; see `opened`
    outlines   which of the outlines in the description are used
    """

    source: PageSource
    description: Path | None = None
    has_lines: bool = False
    error: DataError | None = field(default=None, compare=False)
    shape: bool | None = field(default=None, compare=False)
    content: Described | None = field(default=None, compare=False, repr=False)
    outlines: Outlines = Outlines.AUTO

    @property
    def name(self) -> str:
        """Its name in messages."""
        return as_given(str(self.description)) if self.description is not None else self.source.name

    @property
    def files(self) -> tuple[Path, ...]:
        """The file of its image, and the one that describes it."""
        return (self.source.path,) if self.description is None else (self.source.path, self.description)

    @cached_property
    def is_alone(self) -> bool:
        """Whether its file is an image of this page only."""
        return self.shape is True or self.source.is_alone

    @cached_property
    def is_line(self) -> bool:
        """Whether the image has the shape of a single line; never true for a PDF.

        Raises:
            DataError: if the image is damaged.
        """
        if self.description is not None:
            return False
        if self.shape is not None:
            return self.shape
        if not self.is_alone:
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

    def opened(self) -> Self:
        """The original with its description read and parsed, once for the whole reading of its page.

        Until then originals have no content, so that thousands of them take little memory.

        Raises:
            DataError: if the description cannot be read.
        """
        if self.description is None or self.content is not None:
            return self
        path = self.description
        data = first_bytes(path, MAX_BYTES + 1)
        page = page_in(data, str(path), lambda image: size_of(self.source))
        stem = page_stem(path)
        if was_renamed(path, page.image) and self.source.path.stem in (stem, without_number(stem)):
            page = replace(page, image=self.source.image_name)  # results must name the scan by its present name
        return replace(self, content=Described(data, page))

    def given(self) -> Page | None:
        """The page as described.

        Raises:
            DataError: if the description cannot be read.
        """
        content = self.opened().content
        if content is None:
            return None
        return content.page if self.has_lines else replace(content.page, regions=())

    def given_lines(self) -> Sequence[TextLine]:
        """The lines as described; none without a description.

        Raises:
            DataError: if the description cannot be read.
        """
        given = self.given()
        return () if given is None else given.lines

    def remarks(self, page: Page) -> Iterator[str]:
        """After reading, what was used differently from what its files say: images, outlines, single values."""
        if isinstance(self.source, VolumePage):
            yield from self.source.remarks
        auto = self.has_lines and self.outlines is Outlines.AUTO
        if auto and misdrawn([GivenLine.of(line) for line in page.lines]):
            yield f"{self.name}: outlines that are slivers or bands are redrawn; --outlines given keeps them"
        yield from self.odd_values(page)

    def odd_values(self, page: Page) -> Iterator[str]:
        """The values of the description that cannot be understood, at most `SHOWN` of them."""
        for oddity in page.oddities[:SHOWN]:
            yield f"{as_given(oddity)}; this is left out"
        if (more := len(page.oddities) - SHOWN) > 0:
            yield f"{self.name}: {more:,} more such values are left out"

    def given_for(self, gray: Line) -> Page | None:
        """The page as described, in pixels of its image.

        Raises:
            DataError: if the description can no longer be read, or is of an image of another shape.
        """
        given = self.given()
        if given is None:
            return None
        try:
            return on_scan(given, self.source, gray)
        except DataError as error:
            raise error.of(self.name) from error


def open_originals(path: str | Path, catalog: Catalog | None = None) -> tuple[Original, ...]:
    """The pages of an image, PDF, TIFF, METS or IIIF manifest, or the page that a PAGE, ALTO or JSON file describes.

    Args:
        catalog: Knows what files are; by default they are opened.

    Raises:
        ConfigError: if it is no path, but an image.
        DataError: if the file, or the image that it describes, is missing or cannot be read.
    """
    if not isinstance(path, str | PathLike):
        raise ConfigError(f"pages are read from files: pass a path, not {type(path).__name__}")
    path, catalog = Path(path), catalog or Catalog()
    if not catalog.folders.is_file(path):
        raise DataError("is a folder" if path.is_dir() else "no such file", path)
    facts = catalog.facts(path)
    match facts.kind:
        case Kind.IMAGE:
            shape = facts.is_line if len(facts.frames) == 1 else None
            return tuple(Original(source, shape=shape) for source in catalog.sources(path))
        case Kind.METS:
            return tuple(described(page, page.description, catalog) for page in pages_of_mets(path))
        case Kind.MANIFEST:
            return tuple(Original(page) for page in pages_of_manifest(path))
        case Kind.OTHER:
            read_page(path)  # raises an error that says what it is instead
    # The image is looked up each time, as it may have been added, removed or moved since the file was catalogued.
    image = image_beside(path, facts.image, catalog.folders.find, catalog.images)
    return (Original(page_among(catalog.sources(image), path, image), path, facts.has_lines),)


def described(source: PageSource, description: Path | None, catalog: Catalog) -> Original:
    """A page and the file that describes it, if there is one; if that is damaged, only this page cannot be read."""
    if description is None:
        return Original(source)
    try:
        return Original(source, description, catalog.facts(description).has_lines)
    except DataError as error:
        return Original(source, description, error=error)
