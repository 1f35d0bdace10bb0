"""Pages of a volume: a file, as METS or a IIIF manifest, that says where the image of each page is."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drethtr.base.archive import as_given
from drethtr.base.cache import address_of, place_of
from drethtr.base.errors import DataError
from drethtr.base.limited import Answer, limited
from drethtr.documents.document import Canvas
from drethtr.images.page import PageSource


@dataclass(frozen=True)
class VolumePage(PageSource):
    """A page whose image is a file of its own, the page `number` of the volume; it is never a line of writing.

    description  the PAGE or ALTO file of the page, if there is one
    canvas       that shows the page in a IIIF manifest
    """

    description: Path | None = None
    canvas: Canvas | None = None

    @property
    def name(self) -> str:
        return as_given(str(self.path))

    @property
    def is_alone(self) -> bool:
        return False

    @property
    def file(self) -> Path | None:
        return self.path


@dataclass(frozen=True)
class AbsentPage(VolumePage):
    """A page without an image: `path` is the file of the volume, and reading the page tells the `reason`."""

    reason: str = ""

    @property
    def name(self) -> str:
        return page_name(self)

    @property
    def file(self) -> Path | None:
        return None

    def opened(self, function: Callable[..., Answer]) -> tuple[Any, Any]:
        raise DataError(self.reason, self.name)


@dataclass(frozen=True)
class RemotePage(VolumePage):
    """A page whose image is on the web: `path` is the file of the volume, and reading the page fetches the image.

    addresses   of the image, the best first
    image_name  what it is called in the user's cache folder, where it stays
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

    def opened(self, function: Callable[..., Answer]) -> tuple[Any, Any]:
        from drethtr.base import web  # only for volumes of the web

        try:
            image = web.WEB.file(self.addresses, self.image_name)
        except DataError as error:
            raise error.of(self.name) from error
        return limited(self.name, function, image, 0, self.name)


def page_name(page: PageSource) -> str:
    """The name of a page of a volume that has no file of its own."""
    return f"{given_name(page.path)} page {page.number}"


def given_name(path: Path) -> str:
    """What the user calls a file: the address that it comes from, or its path."""
    return address_of(path) or as_given(str(path))
