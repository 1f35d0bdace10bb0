"""What every importer does: it recognizes one layout and tells its lines one after the other."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, NamedTuple, TypeAlias

from drethtr.base.errors import DataError
from drethtr.lines.sample import LeftOut, Sample


class Found(NamedTuple):
    """A line and the split it belongs to: `train`, `val`, `test`, or "" where the layout has none."""

    split: str
    sample: Sample


Entry: TypeAlias = Found | LeftOut


@dataclass(frozen=True)
class Importer(ABC):
    """Reads one layout.

    name        what `--layout` calls it
    layout      how it is recognized, in half a sentence
    convention  what a reader of figures must know of its texts
    known       sizes of published splits, (train, val, test) → name
    """

    name: ClassVar[str]
    layout: ClassVar[str]
    convention: ClassVar[str] = "texts as they are, in NFC"
    known: ClassVar[Mapping[tuple[int, ...], str]] = {}

    @abstractmethod
    def recognizes(self, source: Path) -> bool:
        """Whether this layout lies at `source`."""

    @abstractmethod
    def entries(self, source: Path) -> Iterator[Entry]:
        """Every line of the source, in its order; images are not decoded.

        Raises:
            DataError: if the source lacks what the layout needs, naming it.
        """


def checked(entry: Entry) -> Entry:
    """The entry, or why it cannot be used: a text without characters, an image that is none."""
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
    """What was found in a source: lines by split, and what was left out by reason."""

    lines: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, list[str]] = field(default_factory=dict)

    def count(self, entry: Entry) -> None:
        """Add one entry."""
        if isinstance(entry, LeftOut):
            self.left_out.setdefault(entry.reason, []).append(entry.key)
        else:
            self.lines[entry.split] = self.lines.get(entry.split, 0) + 1


def within(source: Path, *places: str) -> Path | None:
    """The first of some relative places that exists under a source."""
    return next((source / place for place in places if (source / place).exists()), None)


def needed(source: Path, *places: str) -> Path:
    """The same.

    Raises:
        DataError: naming the places, if there is none of them.
    """
    found = within(source, *places)
    if found is None:
        raise DataError(f"{source}: has no {' or '.join(places)}, which this layout needs")
    return found
