"""Pages of a volume: a file, such as METS or a IIIF manifest, that lists the image of each page."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drethtr.base.archive import as_given
from drethtr.base.cache import address_of, place_of
from drethtr.base.credentials import without_credentials
from drethtr.base.errors import DataError
from drethtr.base.sandbox import Answer, sandboxed
from drethtr.documents.document import Canvas
from drethtr.images.page import PageSource


@dataclass(frozen=True)
class VolumePage(PageSource):
    """Page `number` of a volume, with an image file of its own; it is never taken for a single line.

    description  the PAGE or ALTO file of the page, if there is one
    canvas       the canvas of the page, in a IIIF manifest
    remarks      notes on what the volume lists but is not used, for this page; the first page also has those on the
                 volume
    """

    description: Path | None = None
    canvas: Canvas | None = None
    remarks: tuple[str, ...] = field(default=(), compare=False, repr=False)

    @property
    def name(self) -> str:
        return as_given(str(self.path))

    @property
    def is_alone(self) -> bool:
        return False  # even if its image is small, since a volume lists pages

    @property
    def file(self) -> Path | None:
        return self.path


@dataclass(frozen=True)
class AbsentPage(VolumePage):
    """A page without an image: `path` is the file of the volume; reading the page raises an error with `reason`."""

    reason: str = ""

    @property
    def name(self) -> str:
        return page_name(self)

    @property
    def file(self) -> Path | None:
        return None

    def in_sandbox(self, function: Callable[..., Answer]) -> tuple[Any, Any]:
        raise DataError(self.reason, self.name)


@dataclass(frozen=True)
class RemotePage(VolumePage):
    """A page with an image on the web: `path` is the file of the volume; reading the page fetches the image.

    addresses   of the image, best first
    image_name  its name in the user's cache folder, where it is kept
    """

    addresses: tuple[str, ...] = ()
    image_name: str = ""

    @property
    def name(self) -> str:
        return page_name(self)

    @property
    def file(self) -> Path | None:
        place = place_of(self.addresses[0], self.image_name)
        return place if place.is_file() else None

    def in_sandbox(self, function: Callable[..., Answer]) -> tuple[Any, Any]:
        from drethtr.base import web  # needed only for volumes on the web

        try:
            image = web.WEB.file(self.addresses, self.image_name)
        except DataError as error:
            raise error.of(self.name) from error
        return sandboxed(self.name, function, image, 0, self.name)


def page_name(page: PageSource) -> str:
    """The name of a page of a volume that has no file of its own."""
    return f"{given_name(page.path)} page {page.number}"


def given_name(path: Path) -> str:
    """The name of a file for the user: the address that it was fetched from, without secrets, or its path."""
    return without_credentials(address_of(path) or as_given(str(path)))
