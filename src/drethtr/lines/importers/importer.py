"""The interface of an importer, which recognizes one layout and yields its lines."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, NamedTuple, TypeAlias

from drethtr.base.errors import DataError
from drethtr.lines.sample import LeftOut, Sample


class ImportedLine(NamedTuple):
    """A line and its split: `train`, `val`, `test`, or "" if the layout has none."""

    split: str
    sample: Sample


Entry: TypeAlias = ImportedLine | LeftOut


@dataclass(frozen=True)
class Importer(ABC):
    """Reads one layout.

    name        its name for `--layout`
    layout      how it is recognized, in a phrase
    convention  the transcription convention, which matters for metrics
    known       sizes of published splits, (train, val, test) → name
    """

    name: ClassVar[str]
    layout: ClassVar[str]
    convention: ClassVar[str] = "original texts, in NFC"
    known: ClassVar[Mapping[tuple[int, ...], str]] = {}

    @abstractmethod
    def recognizes(self, source: Path) -> bool:
        """Whether this layout exists at `source`."""

    @abstractmethod
    def entries(self, source: Path) -> Iterator[Entry]:
        """Yield every line of the source in order; images are not decoded.

        Raises:
            DataError: naming what is missing, if the source lacks a part of the layout.
        """


def checked(entry: Entry) -> Entry:
    """The entry, or the reason why it cannot be used: an empty text, or an unreadable image."""
    if isinstance(entry, LeftOut):
        return entry
    if not entry.sample.text.strip():
        return LeftOut(entry.sample.key, "empty transcription")
    try:
        entry.sample.size()
    except DataError:
        return LeftOut(entry.sample.key, "image cannot be read")
    return entry


@dataclass(frozen=True)
class Tally:
    """Counts of an import: lines by split, and lines left out by reason."""

    lines: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, list[str]] = field(default_factory=dict)

    def count(self, entry: Entry) -> None:
        """Add one entry."""
        if isinstance(entry, LeftOut):
            self.left_out.setdefault(entry.reason, []).append(entry.key)
        else:
            self.lines[entry.split] = self.lines.get(entry.split, 0) + 1


def within(source: Path, *places: str) -> Path | None:
    """The first of some relative paths that exists below a source."""
    return next((source / place for place in places if (source / place).exists()), None)


def needed(source: Path, *places: str) -> Path:
    """The first of some relative paths that exists below a source, which needs one of them.

    Raises:
        DataError: naming the paths, if none of them exists.
    """
    found = within(source, *places)
    if found is None:
        raise DataError(f"{' or '.join(places)} is missing, which this layout requires", source)
    return found
