"""What writers are given: pages with their scans, and who read them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from PIL import Image

from drethtr.base.version import __version__
from drethtr.documents.page import Page


@dataclass(frozen=True)
class Provenance:
    """Who made a document: drethtr of a version, with a model, named by its `Model.identity`, at a time."""

    version: str
    model: str
    created: datetime

    @classmethod
    def now(cls, model: str) -> Self:
        """What this version makes now, with the model of this identity."""
        return cls(__version__, model, datetime.now(UTC))

    def __str__(self) -> str:
        return f"drethtr {self.version}, model {self.model}"

    def to_json(self) -> dict[str, str]:
        """The same in plain values."""
        return {"drethtr": self.version, "model": self.model, "created": self.timestamp}

    @property
    def timestamp(self) -> str:
        """The time in UTC, as XML writes it."""
        return self.created.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class Scan:
    """The image of a page: `load` gives its pixels upright, as the page's coordinates mean them, in mode 1, L or RGB.

    file  the image file, if it holds this image alone and is turned no further than its EXIF says; a JPEG goes into a
          PDF as it is
    """

    load: Callable[[], Image.Image]
    file: Path | None = None


@dataclass(frozen=True)
class Sheet:
    """A page and its scan; `number` counts the pages of the file they come from, from 1, if that is known."""

    page: Page
    scan: Scan
    number: int | None = None


@dataclass(frozen=True)
class Document:
    """One page or more that belong together; `pdf` is the PDF file whose pages they all are, if they come from one."""

    sheets: tuple[Sheet, ...]
    provenance: Provenance
    pdf: Path | None = None

    @property
    def pages(self) -> tuple[Page, ...]:
        """The pages without their scans."""
        return tuple(sheet.page for sheet in self.sheets)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the pages in their file; their places in the document where those are not known."""
        return tuple(sheet.number or place for place, sheet in enumerate(self.sheets, 1))

    def apart(self) -> "tuple[Document, ...]":
        """Each page as a document of its own."""
        return tuple(replace(self, sheets=(sheet,), pdf=None) for sheet in self.sheets)
