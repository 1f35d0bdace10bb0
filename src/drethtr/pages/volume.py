"""Pages of a volume: a file, as METS, that says where the image of each page is."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drethtr.base.archive import as_given
from drethtr.base.errors import DataError
from drethtr.base.limited import Answer
from drethtr.images.page import PageSource


@dataclass(frozen=True)
class VolumePage(PageSource):
    """A page whose image is a file of its own, the page `number` of the volume; it is never a line of writing.

    description  the PAGE or ALTO file of the page, if there is one
    """

    description: Path | None = None

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
        return f"{as_given(str(self.path))} page {self.number}"

    @property
    def file(self) -> Path | None:
        return None

    def opened(self, function: Callable[..., Answer]) -> tuple[Any, Any]:
        raise DataError(self.reason, self.name)
