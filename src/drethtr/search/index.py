"""Searches an index: queries in, hits out, best first.

with open_index("archive.drethtr.sqlite") as index:
    for hit in index.search('"dear sir" -madam', least=0.1, limit=20):
        print(hit.page, hit.line, hit.probability, hit.box, hit.snippet)
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import ConfigError
from drethtr.base.processors import free_processors
from drethtr.documents.page import Box
from drethtr.search.automaton import Automaton, automaton_of
from drethtr.search.line_place import LinePlace
from drethtr.search.locate import locate
from drethtr.search.probability import Calibration, shipped
from drethtr.search.query import Query, parse
from drethtr.search.scan import Scanned, scan, unpacked
from drethtr.search.spelling import Spelling
from drethtr.search.store import PageKey, Store, Verdict

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FAINT = 0.01
"""A word of a query with several is marked where it is likelier than this."""


@dataclass(frozen=True)
class Hit:
    """A line that may have what was searched for.

    page         the scan, as a path from here
    number       of the page in its file, from 1
    line         id of the line on its page
    text         the text of the line, as it was read or written by a person
    probability  that the line is right, from 0 to 1
    box          around the word, in pixels of the upright page
    snippet      the likeliest reading of the line that has the word, which is in brackets
    query        what was searched for
    """

    page: Path
    number: int
    line: str
    text: str
    probability: float
    box: Box
    snippet: str
    query: str = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        """The hit in plain values, as `drethtr search --json` writes it."""
        return {
            "page": self.page.as_posix(),
            "number": self.number,
            "line": self.line,
            "text": self.text,
            "probability": round(self.probability, 4),
            "box": list(self.box),
            "snippet": self.snippet,
        }


class SearchIndex:
    """An open index; several threads may search it at once.

    Args:
        calibration: What makes probabilities of sums over readings; by default the one in the package.
        threads: How many pages to look at side by side; by default one for each free processor.
    """

    def __init__(self, store: Store, calibration: Calibration | None = None, threads: int | None = None) -> None:
        self.store = store
        self.calibration = calibration or shipped()
        self.threads = threads or free_processors()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self.store.close()

    @property
    def size(self) -> tuple[int, int]:
        """How many pages and lines it has."""
        return self.store.size()

    @property
    def about(self) -> dict[str, Any]:
        """The model, decoder, precision and line segmentation with which it was made."""
        return self.store.about()

    def search(
        self,
        query: str,
        *,
        strict: bool = False,
        whole_pages: bool = False,
        least: float = 0.0,
        limit: int | None = None,
    ) -> list[Hit]:
        """The lines that have what a query asks for, the most probable first.

        Args:
            query: See `docs/search.md`.
            strict: Tell case, accents and older spellings apart.
            whole_pages: AND, OR and minus apply to pages instead of lines; a hit is the best line of its page.
            least: Probability of the least probable hit.
            limit: How many hits to give at most.

        Raises:
            ConfigError: if the query has nothing that can be searched for, or is too long or too wide.
            DataError: if the index is damaged.
        """
        if not 0 <= least <= 1:
            raise ConfigError(f"a probability is between 0 and 1, not {least}")
        asked = parse(query, Spelling(strict))
        automatons = [automaton_of(term.pattern, asked.spelling) for term in asked.terms]
        scanned = scan(self.store, automatons, self.threads)
        verdicts = self.store.verdicts()
        calibration = self.calibration.shifted(verdicts)
        of_terms = [
            calibration(chances.sum(1), len(term.pattern.letters), scanned.confidences, scanned.lines)
            for term, chances in zip(asked.terms, scanned.chances, strict=True)
        ]
        if whole_pages:
            found, best = of_pages(asked, of_terms, scanned.pages)
        else:
            found, best = combined(asked, of_terms), np.arange(len(scanned.pages))
        found = np.clip(found, 0, 1)
        order = np.argsort(-found, kind="stable")
        order = order[found[order] >= max(least, np.finfo(np.float64).tiny)]
        judged = {(v.page, v.line): v.stands for v in verdicts if v.query == key_of(asked)}
        if judged:
            return self.judged_hits(asked, automatons, scanned, found[order], best[order], judged, least, limit)
        return [
            self.hit(asked, automatons, scanned, int(place), float(chance))
            for place, chance in zip(best[order][:limit], found[order][:limit], strict=True)
        ]

    def judged_hits(
        self,
        query: Query,
        automatons: Sequence[Automaton],
        scanned: Scanned,
        found: Floats,
        places: Ints,
        judged: dict[tuple[PageKey, str], bool],
        least: float,
        limit: int | None,
    ) -> list[Hit]:
        """Hits of which people have judged some: confirmed ones are first and certain, rejected ones are left out."""
        sure: list[Hit] = []
        others: list[Hit] = []
        for place, chance in zip(places, found, strict=True):
            key, lines, _ = self.store.page(int(scanned.pages[place]))
            stands = judged.get((key, lines[scanned.numbers[place]].id))
            if stands:
                sure.append(self.hit(query, automatons, scanned, int(place), 1.0))
            elif stands is None and (limit is None or len(others) < limit):
                others.append(self.hit(query, automatons, scanned, int(place), float(chance)))
        return [*sure, *others][:limit]

    def hit(
        self, query: Query, automatons: Sequence[Automaton], scanned: Scanned, place: int, probability: float
    ) -> Hit:
        """A line as a hit; its box is around the likeliest of the words that are wanted."""
        key, lines, posteriors = self.store.page(int(scanned.pages[place]))
        number = int(scanned.numbers[place])
        line = unpacked(self.store, posteriors, len(lines)).line(number)
        wanted = [which for which, term in enumerate(query.terms) if term.wanted]
        best = max(wanted, key=lambda which: float(scanned.chances[which, place].sum()))
        own, over = scanned.chances[best, place]
        found = locate(line, automatons[best], over=bool(over > own))
        where = LinePlace.from_bytes(lines[number].place)
        left, right, shown = found if found is not None else (0.0, float(where.width), lines[number].text)
        return Hit(
            page=self.store.scan(key),
            number=key.number,
            line=lines[number].id,
            text=lines[number].text,
            probability=probability,
            box=where.box(left, right),
            snippet=shown,
            query=key_of(query),
        )

    def judge(self, hit: Hit, stands: bool) -> None:
        """Keep what a person says of a hit: whether the words stand there.

        The same search then has it first, or no longer; and the probabilities of all searches in this index follow.

        Raises:
            DataError: if another process is writing the index.
        """
        key = self.store.key(hit.page, hit.number)
        self.store.judge(Verdict(hit.query, key, hit.line, hit.probability, stands))


def open_index(path: str | Path, *, threads: int | None = None) -> SearchIndex:
    """Open an index that `drethtr index` has made.

    Args:
        threads: How many pages to look at side by side; by default one for each free processor.

    Raises:
        DataError: if there is none, or it is damaged or of another version.
    """
    return SearchIndex(Store.read(path), threads=threads)


def key_of(query: Query) -> str:
    """How verdicts name a query."""
    return f"{'strict ' if query.spelling.strict else ''}{' '.join(query.text.split())}"


def combined(query: Query, of_terms: Sequence[Floats]) -> Floats:
    """(L,) the probability that all groups hold, from those (L,) of their terms, taken as independent."""
    chances = iter(of_terms)
    found = np.ones(len(of_terms[0]))
    for group in query.groups:
        missed = np.ones(len(found))
        for term in group:
            stands = next(chances)
            missed *= 1 - stands if term.wanted else stands
        found *= 1 - missed
    return found


def of_pages(query: Query, of_terms: Sequence[Floats], pages: Ints) -> tuple[Floats, Ints]:
    """The probability of each page that has a line, and the place of the line that has most of what is wanted."""
    firsts = np.flatnonzero(np.diff(pages, prepend=-1))
    if not len(firsts):
        return np.empty(0), firsts
    on_page = [1 - np.multiply.reduceat(1 - chances, firsts) for chances in of_terms]
    wanted = np.sum([chances for term, chances in zip(query.terms, of_terms, strict=True) if term.wanted], axis=0)
    ends = np.append(firsts[1:], len(pages))
    best = [first + int(np.argmax(wanted[first:end])) for first, end in zip(firsts, ends, strict=True)]
    return combined(query, on_page), np.array(best)
