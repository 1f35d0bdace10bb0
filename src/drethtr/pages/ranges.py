"""Page ranges such as `1-20,25,30-`, and the pages of files in them."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

from drethtr.base.errors import ConfigError
from drethtr.pages.source import Original

RANGE = re.compile(r"(\d{1,9})(-(\d{1,9})?)?")


class Span(NamedTuple):
    """Pages from `first` to `last`; None is the end of the file."""

    first: int
    last: int | None


@dataclass(frozen=True)
class PageRanges:
    """Ranges of pages, numbered from 1."""

    spans: tuple[Span, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ranges.

        Raises:
            ConfigError: if they are invalid.
        """
        return cls(tuple(span_of(part.strip(), text) for part in text.split(",")))

    def __contains__(self, number: int) -> bool:
        return any(first <= number and (last is None or number <= last) for first, last in self.spans)


def span_of(part: str, whole: str) -> Span:
    """One of several ranges.

    Raises:
        ConfigError: naming all of them, if it is invalid.
    """
    if (found := RANGE.fullmatch(part)) is None:
        raise ConfigError(f"pages {whole!r} are not understood; expected something like 1-20,25,30-")
    first, open_end, last = found.groups()
    span = Span(int(first), int(last) if last else None if open_end else int(first))
    if span.first < 1 or (span.last is not None and span.last < span.first):
        raise ConfigError(f"pages {whole!r}: {part} is not a range of pages; pages are numbered from 1")
    return span


class PageChooser:
    """Chooses the pages of files that are in some ranges, or all without ranges.

    The pages of a file with several are numbered in the file; other files are numbered by their position in the folder.
    """

    def __init__(self, ranges: PageRanges | None, files: Sequence[Path]) -> None:
        self.ranges = ranges
        self.opened = self.chosen = 0
        counts: Counter[Path] = Counter()
        self.places: dict[Path, int] = {}
        for file in files:
            counts[file.parent] += 1
            self.places[file] = counts[file.parent]

    def of(self, file: Path, originals: tuple[Original, ...]) -> tuple[Original, ...]:
        """The chosen pages of a file; may be empty."""
        if self.ranges is None:
            return originals
        place = self.places[file] if len(originals) == 1 else None
        chosen = tuple(original for original in originals if (place or original.source.number) in self.ranges)
        self.opened, self.chosen = self.opened + 1, self.chosen + len(chosen)
        return chosen

    def refuse_nothing(self) -> None:
        """Refuse ranges that contain no page, if any file was opened.

        Raises:
            ConfigError: saying so.
        """
        if self.opened and not self.chosen:
            raise ConfigError("none of the files has a page in the given ranges; give other --pages")
