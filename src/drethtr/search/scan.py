"""Scan every line of an index for the terms of a query."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import DataError
from drethtr.base.recent import RecentResults
from drethtr.search.automaton import Automaton
from drethtr.search.forward import probabilities
from drethtr.search.packed import PackedLines
from drethtr.search.probability import CandidateLines
from drethtr.search.query import Pattern, Spelling
from drethtr.search.records import Records

AT_ONCE = 256
"""Pages per task of a thread."""

KEPT = 64 << 20
"""Maximum bytes of all recent scans: enough for three of a word that half of a million lines may have."""


class Scanned(NamedTuple):
    """The C lines of an index that may contain a term of a query with T words and phrases.

    lines    their data for the calibration
    pages    (C,) id of the page of each line
    numbers  (C,) number of the line on it, from 0
    chances  (T, C, 2) the `probabilities` of each term
    """

    lines: CandidateLines
    pages: NDArray[np.int64]
    numbers: NDArray[np.int64]
    chances: NDArray[np.float64]

    @property
    def bytes(self) -> int:
        """The memory it takes."""
        arrays = (*self.lines, self.pages, self.numbers, self.chances)
        return sum(array.nbytes for array in arrays)


recent = RecentResults[Scanned](KEPT, attrgetter("bytes"))
"""The last scans, so that a repeated query, in a server or after a verdict, costs nothing."""


def scan(store: Records, automatons: Sequence[Automaton], threads: int) -> Scanned:
    """Scan every line with this many threads, unless the same scan of the same pages is cached.

    Raises:
        DataError: if the index is damaged.
    """
    patterns = tuple((automaton.pattern.words, automaton.spelling) for automaton in automatons)
    return recent.get((store.name, store.version(), patterns), lambda: scan_all(store, automatons, threads))


def scan_all(store: Records, automatons: Sequence[Automaton], threads: int) -> Scanned:
    """Scan every line.

    Signatures that rule lines out by their possible pairs of letters would save at most two thirds of the work, as a
    line may have hundreds of pairs; so they were not built (LOG.md, 2026-11-27).

    Raises:
        DataError: if the index is damaged.
    """
    ids, lines = store.select([longest_word(automaton.pattern) for automaton in automatons])
    groups = [ids[start : start + AT_ONCE] for start in range(0, len(ids), AT_ONCE)]
    with ThreadPoolExecutor(threads) as pool:
        found = joined(list(pool.map(lambda group: scan_pages(store, group, automatons), groups)), len(automatons))
    return found if lines is None else found._replace(lines=found.lines.among(lines))


def longest_word(pattern: Pattern) -> str:
    """The longest word of a pattern, folded even if the search is strict, as texts of an index are.

    Empty if all words have wildcards: the letters around a wildcard, joined, resemble no word.
    """
    words = (word.letters for word in pattern.words if len(word.letters) == len(word.items))
    return Spelling().fold(max(words, key=len, default=""))


def scan_pages(store: Records, ids: Sequence[int], automatons: Sequence[Automaton]) -> Scanned:
    """Scan the lines of some pages."""
    blocks = list(store.blocks(ids))
    if not blocks:
        return joined([], len(automatons))
    pages = [unpacked(store, block.posteriors, len(block.confidences)) for block in blocks]
    try:
        chances = np.stack([probabilities(pages, automaton) for automaton in automatons])
    except DataError as error:
        raise damaged(store) from error
    sizes = [len(lines) for lines in pages]
    every = CandidateLines.of_all(
        np.concatenate([block.confidences for block in blocks]), np.concatenate([lines.sizes for lines in pages])
    )
    [kept] = np.nonzero(chances.any(axis=(0, 2)))
    return Scanned(
        every.where(kept),
        np.repeat([block.id for block in blocks], sizes)[kept],
        kept - np.repeat(np.cumsum([0, *sizes[:-1]]), sizes)[kept],
        chances[:, kept],
    )


def joined(parts: Sequence[Scanned], terms: int) -> Scanned:
    """All parts as one."""
    none = np.empty(0, dtype=np.int64)
    nothing = CandidateLines.of_all(none.astype(np.uint8), none.astype(np.uint16))
    parts = parts or [Scanned(nothing, none, none, np.empty((terms, 0, 2)))]
    confidences, steps, searched = zip(*(part.lines for part in parts), strict=True)
    return Scanned(
        CandidateLines(np.concatenate(confidences), np.concatenate(steps), np.sum(searched, axis=0)),
        np.concatenate([part.pages for part in parts]),
        np.concatenate([part.numbers for part in parts]),
        np.concatenate([part.chances for part in parts], axis=1),
    )


def unpacked(store: Records, posteriors: bytes, number: int) -> PackedLines:
    """The posteriors of a page with this number of lines.

    Raises:
        DataError: if they are damaged.
    """
    try:
        lines = PackedLines.from_bytes(posteriors)
    except DataError as error:
        raise damaged(store) from error
    if len(lines) != number:
        raise damaged(store)
    return lines


def damaged(store: Records) -> DataError:
    """The error of an index whose posteriors are damaged."""
    return DataError("damaged; rebuild it with drethtr index --force", store.name)
