"""The interface of a layout: a way in which data sets store line images and their texts."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from drethtr.base.errors import DataError
from drethtr.base.files import is_there
from drethtr.datasets.sample import Entry


@dataclass(frozen=True)
class Layout(ABC):
    """Reads the lines of one layout.

    name         its name for `--layout`
    description  how it is recognized, in a phrase
    convention   the transcription convention, which matters for metrics
    known        sizes of published splits, (train, val, test) → name
    """

    name: ClassVar[str]
    description: ClassVar[str]
    convention: ClassVar[str] = "original texts, in NFC"
    known: ClassVar[Mapping[tuple[int, ...], str]] = {}

    @abstractmethod
    def recognizes(self, source: Path) -> bool:
        """Whether this layout exists at `source`, a file or folder."""

    @abstractmethod
    def entries(self, source: Path) -> Iterator[Entry]:
        """Yield every line of the source in order, with its text as written; images are not decoded.

        Raises:
            DataError: naming what is missing, if the source lacks a part of the layout.
        """


def within(source: Path, *places: str) -> Path | None:
    """The first of some relative paths that exists below a source."""
    return next((source / place for place in places if is_there(source / place)), None)


def needed(source: Path, *places: str) -> Path:
    """The first of some relative paths that exists below a source, which needs one of them.

    Raises:
        DataError: naming the paths, if none of them exists.
    """
    found = within(source, *places)
    if found is None:
        raise DataError(f"{' or '.join(places)} is missing, which this layout requires", source)
    return found
