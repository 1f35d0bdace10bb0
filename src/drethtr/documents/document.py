"""The input of writers: pages with their scans and provenance."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import quote

from PIL import Image

from drethtr.base.version import __version__
from drethtr.documents.markup import clean
from drethtr.documents.page import Page


@dataclass(frozen=True)
class Provenance:
    """What made a document: the version of drethtr, the model (`Model.identity`), and the time."""

    version: str
    model: str
    created: datetime

    @classmethod
    def now(cls, model: str) -> Self:
        """The provenance of results made now, with this version and the given model."""
        return cls(__version__, model, datetime.now(UTC))

    def __str__(self) -> str:
        return f"drethtr {self.version}, model {self.model}"

    def to_json(self) -> dict[str, str]:
        """The provenance as plain values."""
        return {"drethtr": self.version, "model": self.model, "created": self.timestamp}

    @property
    def timestamp(self) -> str:
        """The time in UTC, in XML format."""
        return self.created.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class Scan:
    """The image of a page; `load` returns it upright, matching the page's coordinates, in mode 1, L or RGB.

    file  the image file, if it holds this image alone, rotated at most by EXIF; a JPEG goes into a PDF unchanged
    """

    load: Callable[[], Image.Image]
    file: Path | None = None


@dataclass(frozen=True)
class About:
    """The data of an edition; "" for what is not known.

    shelf_mark  the institution that keeps the source, and its mark there
    editors     their names, separated by semicolons
    language    a code such as `de` or `frm`
    """

    title: str = ""
    author: str = ""
    shelf_mark: str = ""
    editors: str = ""
    licence: str = ""
    language: str = ""


class Canvas(NamedTuple):
    """The canvas of a page in a IIIF manifest: its id, and its size, 0 if unknown."""

    id: str
    width: int = 0
    height: int = 0


@dataclass(frozen=True)
class Sheet:
    """A page with its scan. Text that a person has confirmed has no doubts, in any format.

    number   number of the page in its source file, from 1, if known
    canvas   the canvas of the page, if it comes from a manifest
    people   who corrected or confirmed each line last, by its id, as far as known
    details  for the reading of a single line, what it has beyond the page, as plain values
    """

    page: Page
    scan: Scan
    number: int | None = None
    canvas: Canvas | None = None
    people: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "page", self.page.settled())


@dataclass(frozen=True)
class Document:
    """One or more pages that belong together.

    pdf    the PDF file they come from, if any
    name   the name of the file they were read from, for rows of several files
    about  its data as an edition
    """

    sheets: tuple[Sheet, ...]
    provenance: Provenance
    pdf: Path | None = None
    name: str = ""
    about: About = About()

    @property
    def pages(self) -> tuple[Page, ...]:
        """The pages without their scans."""
        return tuple(sheet.page for sheet in self.sheets)

    @property
    def numbers_in_files(self) -> tuple[int, ...]:
        """The numbers of the pages in their files, or their positions in the document if unknown."""
        return tuple(sheet.number or place for place, sheet in enumerate(self.sheets, 1))

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the pages: those in their file, or, of several files, their positions in the document."""
        known = self.numbers_in_files
        return known if len(set(known)) == len(known) else tuple(range(1, len(known) + 1))

    @property
    def titles(self) -> tuple[str, ...]:
        """A title for each page: the image name, with the page number if the image has several pages."""
        images = [page.image for page in self.pages]
        counts = Counter(images)
        return tuple(
            f"{image}, page {number}" if number > 1 or counts[image] > 1 else image
            for image, number in zip(images, self.numbers_in_files, strict=True)
        )

    def apart(self) -> "tuple[Document, ...]":
        """Split into one document per page."""
        return tuple(replace(self, sheets=(sheet,), pdf=None) for sheet in self.sheets)


def address(page: Page, number: int) -> str:
    """The relative URL of the image of a page, for a PDF with the page number; "" if the image has no name."""
    url = quote(clean(page.image))
    return f"{url}#page={number}" if url.lower().endswith(".pdf") else url
