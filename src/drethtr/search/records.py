"""The content of an index, and the `Records` protocol: `Store` keeps it in a file, `PostgresStore` in a database."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import DataError
from drethtr.base.urls import is_url

APPLICATION = 0x64725458
"""Marks a SQLite file as an index; in PostgreSQL, the key of the lock for creating the tables."""

PLACES = """UPDATE verdicts SET place = coalesce(
    (SELECT lines.place FROM lines JOIN pages ON lines.page = pages.id
     WHERE pages.scan = verdicts.scan AND pages.number = verdicts.number AND lines.id = verdicts.line
     ORDER BY lines.number LIMIT 1),
    place)"""
"""Gives verdicts of an earlier version the places of the lines that they are on."""

CERTAIN = 255
"""The confidence of a line whose text was written by a person; others have 0 to 254."""


class StoredLine(NamedTuple):
    """A line of a page: its id, its text, its place (`LinePlace`), and the confidence in its text.

    certain  whether a person wrote the text
    """

    id: str
    text: str
    place: bytes
    confidence: float
    certain: bool


class PageKey(NamedTuple):
    """The key of a page: its scan, and its number there, from 1.

    The path of the scan is relative to the folder of the index, and absolute in a database.
    """

    scan: str
    number: int


def file_named(key: PageKey, scan: Path) -> str:
    """The file of a page as text, from its path `scan`; for rows of a batch maybe a URL, which no path can hold."""
    return key.scan if is_url(key.scan) else scan.as_posix()


class PageState(NamedTuple):
    """The state of a page when it was read: size and time of its files, and a digest of their content."""

    state: str
    digest: bytes


class PageBlock(NamedTuple):
    """The data of a page for a query: its packed posteriors, and the confidence of each line in 255ths."""

    id: int
    confidences: NDArray[np.uint8]
    posteriors: bytes


class Verdict(NamedTuple):
    """A person's verdict on a hit: whether it is correct, and the probability that the search had given.

    place  of the line then, as its id may be that of another line later; empty if an earlier version did not keep it
    """

    query: str
    page: PageKey
    line: str
    probability: float
    stands: bool
    place: bytes = b""


class PageSelection(NamedTuple):
    """The pages to search for a query, and the number of lines of the index if some pages are skipped."""

    ids: Sequence[int]
    lines: int | None = None


class Records(Protocol):
    """An index that is open for searching. All methods raise a `DataError` if it cannot be read."""

    @property
    def name(self) -> str:
        """Its name in messages."""

    def about(self) -> dict[str, Any]:
        """The settings of the index, by name."""

    def version(self) -> Hashable:
        """A value that changes whenever a page is written or removed."""

    def size(self) -> tuple[int, int]:
        """The numbers of pages and lines."""

    def select(self, words: Sequence[str]) -> PageSelection:
        """The pages that may contain one of some folded words; all if a word is empty."""

    def blocks(self, ids: Sequence[int]) -> Iterator[PageBlock]:
        """The data of pages for a query; ids ascend, and several threads may call it at once."""

    def page(self, id: int) -> tuple[PageKey, list[StoredLine], bytes]:
        """A page with its lines and packed posteriors."""

    def page_id(self, key: PageKey) -> int | None:
        """The id of a page, if the index has it."""

    def key(self, scan: Path, number: int) -> PageKey:
        """The key of a page."""

    def scan(self, key: PageKey) -> Path:
        """The scan of a page."""

    def verdicts(self) -> list[Verdict]:
        """All verdicts of people on hits."""

    def judge(self, verdict: Verdict) -> None:
        """Record a person's verdict on a hit."""

    def close(self) -> None:
        """Close the index."""


def known_confidences(lines: Sequence[StoredLine]) -> bytes:
    """The confidences of the lines of a page, a byte each."""
    # Stored with the page, not in `lines`: a query needs the confidences of every page, but only the lines of its hits.
    return bytes(CERTAIN if line.certain else stored_confidence(line.confidence) for line in lines)


def stored_confidence(confidence: float) -> int:
    """The confidence in a text that a program read, as a byte."""
    return round(confidence * (CERTAIN - 1))


def stored_lines(rows: Sequence[tuple[str, str, bytes]], confidences: bytes) -> list[StoredLine]:
    """The lines of a page from their ids, texts and places."""
    return [
        StoredLine(name, text, place, min(value / (CERTAIN - 1), 1.0), value == CERTAIN)
        for (name, text, place), value in zip(rows, confidences, strict=True)
    ]


def refuse_other_settings(name: str, made_with: Mapping[str, Any], about: Mapping[str, Any], remedy: str) -> None:
    """Refuse to add lines read with other settings than those in an index.

    Args:
        remedy: Advice for the user.

    Raises:
        DataError: naming the difference.
    """
    for what, value in sorted(about.items(), key=lambda one: one[0] != "model"):  # the rest follows from it
        if made_with.get(what) != value:
            raise DataError(
                f"built with {what} {made_with.get(what)!r}, not {value!r}; results would not be comparable: {remedy}",
                name,
            )
