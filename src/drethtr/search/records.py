"""What an index holds, wherever it is kept: `Store` is a file, `PostgresStore` a database that many share."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import DataError

CERTAIN = 255
"""The confidence of a line whose text was written by a person; others have 0 to 254."""


class StoredLine(NamedTuple):
    """A line of a page: its id there, its text, where it stands (`LinePlace`), and the confidence in its text.

    certain  whether a person has written the text
    """

    id: str
    text: str
    place: bytes
    confidence: float
    certain: bool


class PageKey(NamedTuple):
    """What a page is known by: its scan, as a path from the folder of the index, and its number there from 1."""

    scan: str
    number: int


class PageState(NamedTuple):
    """A page as it was when it was read: size and time of its files, and a digest of what they hold."""

    state: str
    digest: bytes


class PageBlock(NamedTuple):
    """What a query needs of a page: its packed posteriors, and the confidence of each line in 255ths."""

    id: int
    confidences: NDArray[np.uint8]
    posteriors: bytes


class Verdict(NamedTuple):
    """What a person said of a hit: whether the word stands there, and how probable that was held."""

    query: str
    page: PageKey
    line: str
    probability: float
    stands: bool


class PageSelection(NamedTuple):
    """The pages to look at for a query, and how many lines the index has, if some of its pages are left out."""

    ids: Sequence[int]
    lines: int | None = None


class Records(Protocol):
    """An index that is open to be searched. All methods raise a `DataError` if it cannot be read."""

    @property
    def name(self) -> str:
        """What messages call it."""

    def about(self) -> dict[str, Any]:
        """What the index was made with, by name."""

    def size(self) -> tuple[int, int]:
        """How many pages and lines there are."""

    def select(self, words: Sequence[str]) -> PageSelection:
        """The pages that may have one of some folded words."""

    def blocks(self, ids: Sequence[int]) -> Iterator[PageBlock]:
        """What a query needs of pages, whose ids ascend; several threads may ask at once."""

    def page(self, id: int) -> tuple[PageKey, list[StoredLine], bytes]:
        """A page with its lines and packed posteriors."""

    def page_id(self, key: PageKey) -> int | None:
        """The id of a page, if it is there."""

    def key(self, scan: Path, number: int) -> PageKey:
        """What a page of this index is known by."""

    def scan(self, key: PageKey) -> Path:
        """The scan of a page."""

    def verdicts(self) -> list[Verdict]:
        """All that people have said of hits."""

    def judge(self, verdict: Verdict) -> None:
        """Keep what a person said of a hit."""

    def close(self) -> None:
        """Let go of it."""


def known_confidences(lines: Sequence[StoredLine]) -> bytes:
    """The confidences of the lines of a page, a byte each."""
    return bytes(CERTAIN if line.certain else round(line.confidence * (CERTAIN - 1)) for line in lines)


def stored_lines(rows: Sequence[tuple[str, str, bytes]], confidences: bytes) -> list[StoredLine]:
    """The lines of a page from their ids, texts and places."""
    return [
        StoredLine(name, text, place, min(value / (CERTAIN - 1), 1.0), value == CERTAIN)
        for (name, text, place), value in zip(rows, confidences, strict=True)
    ]


def refuse_other_settings(name: str, made_with: Mapping[str, Any], about: Mapping[str, Any], remedy: str) -> None:
    """Refuse to add to an index what was made with other settings.

    Args:
        remedy: What the user can do instead.

    Raises:
        DataError: naming what differs.
    """
    for what, value in sorted(about.items(), key=lambda one: one[0] != "model"):  # the rest follows from it
        if made_with.get(what) != value:
            raise DataError(
                f"{name}: made with {what} {made_with.get(what)!r}, not {value!r}, so its lines would not "
                f"compare; {remedy}"
            )
