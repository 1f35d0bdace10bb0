"""Search an index: queries in, hits out, best first.

with open_index("archive.drethtr.sqlite") as index:
    for hit in index.search('"dear sir" -madam', least=0.1, limit=20):
        print(hit.page, hit.line, hit.probability, hit.box, hit.snippet)
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from drethtr.base.arrays import Floats, Ints
from drethtr.base.config import check_number
from drethtr.base.errors import ConfigError, DataError
from drethtr.base.processors import free_processors
from drethtr.documents.points import Box
from drethtr.search.automaton import Automaton, automatons_of
from drethtr.search.locate import LinePlace, locate
from drethtr.search.postgres import PostgresStore, is_postgres
from drethtr.search.probability import SearchCalibration, shipped
from drethtr.search.query import Query, Spelling, parse
from drethtr.search.records import PageKey, Records, StoredLine, Verdict, file_named
from drethtr.search.scan import Scanned, scan, unpacked
from drethtr.search.store import Store

LEAST, LIMIT = 0.1, 50
"""Defaults: the minimum probability of a hit, and the maximum number of hits.

One in ten of the least probable hits is right; few people look through less probable ones, and `--min` shows them."""


@dataclass(frozen=True)
class Hit:
    """A line that may contain the query.

    page         the scan, as a path from here
    number       of the page in its file, from 1
    line         id of the line on its page
    text         the text of the line, read or written by a person
    probability  that the hit is correct, from 0 to 1
    box          around the word, in pixels of the upright page
    snippet      the text around the word, with the word in brackets: as in the text, or else as the model can read it
                 there
    unknown      letters of the query that the model cannot read; only text written by a person has them
    query        the query
    key          of its page in the index
    unjudged     the probability without people's verdicts on this hit and others
    place        of the line on its page, as in the index
    """

    page: Path
    number: int
    line: str
    text: str
    probability: float
    box: Box
    snippet: str
    unknown: str
    query: str = field(repr=False)
    key: PageKey = field(repr=False)
    unjudged: float = field(default=0.0, repr=False)
    place: bytes = field(default=b"", repr=False)

    @property
    def file(self) -> str:
        """The scan as text."""
        return file_named(self.key, self.page)

    def to_json(self) -> dict[str, Any]:
        """The hit as plain values, as in `drethtr search --json`.

        `number` is omitted for the first page of a file, `unknown` if there are no such letters.
        """
        return {
            "page": self.file,
            "line": self.line,
            "text": self.text,
            "probability": round(self.probability, 4),
            "box": list(self.box),
            "snippet": self.snippet,
            **({"number": self.number} if self.number > 1 else {}),
            **({"unknown": self.unknown} if self.unknown else {}),
        }


class Matches(NamedTuple):
    """A query with its matches, from which hits are made."""

    query: Query
    automatons: Sequence[Automaton]
    scanned: Scanned
    unknown: str


class SearchIndex:
    """An open index; several threads may search it at once.

    Args:
        threads: Threads to search with; by default one for each free processor.
    """

    def __init__(self, store: Records, threads: int | None = None) -> None:
        self.store = store
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
        """The numbers of pages and lines."""
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
        rejected: bool = False,
        on: tuple[Path, int] | None = None,
    ) -> list[Hit]:
        """The lines that match a query, most probable first.

        Args:
            query: See `docs/search.md`.
            strict: Distinguish case, accents and older spellings.
            whole_pages: AND, OR and minus apply to pages instead of lines; a hit is the best line of its page.
            least: Minimum probability of a hit.
            limit: Maximum number of hits.
            rejected: Also return rejected hits, last and with probability 0.
            on: Only hits on this page: its scan, and its number there.

        Raises:
            ConfigError: if the query has nothing to search for, or is too long or too broad, or a number is outside its
                range.
            DataError: if the index is damaged.
        """
        check_number("least", least, Real)
        check_number("limit", 1 if limit is None else limit)
        if not 0 <= least <= 1:
            raise ConfigError(f"the minimum probability must be between 0 and 1, not {least}")
        if limit is not None and limit < 1:
            raise ConfigError(f"limit must be at least 1, not {limit}; leave it out for all hits")
        parsed = parse(query, Spelling(strict))
        automatons = automatons_of(parsed)
        scanned = scan(self.store, automatons, self.threads)
        verdicts = self.store.verdicts()

        def chances(calibration: SearchCalibration) -> tuple[Floats, Ints]:
            """The probability of each line, or of each page and its best line."""
            of_terms = [
                calibration(sums.sum(1), len(term.pattern.letters), scanned.lines)
                for term, sums in zip(parsed.terms, scanned.chances, strict=True)
            ]
            if whole_pages:
                return of_pages(parsed, of_terms, scanned.pages)
            return combined(parsed, of_terms), np.arange(len(scanned.pages))

        found, best = chances(shipped().shifted(verdicts))
        # A verdict is compared with the probability without verdicts, or verdicts would reinforce each other.
        unjudged = chances(shipped())[0] if verdicts else found
        verdict = np.zeros(len(found))
        for (page, number), stands in self._judged(parsed, verdicts).items():
            verdict[(scanned.pages[best] == page) & (scanned.numbers[best] == number)] = 1 if stands else -1
        shown = np.clip(found + verdict, 0, 1)  # a verdict makes a hit certain, or removes it
        # Always above 0: even with a minimum of 0, a line that certainly lacks the words is not a hit.
        kept = (shown >= max(least, np.finfo(np.float64).tiny)) | (rejected & (verdict < 0))
        if on is not None:
            id = self.store.page_id(self.store.key(*on))
            kept &= scanned.pages[best] == (-1 if id is None else id)
        order = np.argsort(-(shown + verdict), kind="stable")  # confirmed hits first, rejected ones last
        order = order[kept[order]][:limit]
        ranked = zip(best[order].tolist(), shown[order].tolist(), unjudged[order].tolist(), strict=True)
        found_by = Matches(parsed, automatons, scanned, self._unknown_letters(parsed))
        return [self._hit(found_by, *one) for one in ranked]

    def unknown(self, query: str, *, strict: bool = False) -> str:
        """Letters of a query the model of the index cannot read, which only text written by a person has.

        Raises:
            ConfigError: if the query has nothing to search for, or is too long or too broad.
        """
        return self._unknown_letters(parse(query, Spelling(strict)))

    def _unknown_letters(self, query: Query) -> str:
        """The folded letters of a query that are not in the alphabet of the model."""
        alphabet = self.about.get("alphabet")
        known = set(query.spelling.fold(alphabet)) if isinstance(alphabet, str) else None
        letters = "".join(term.pattern.letters for term in query.terms)
        return "" if known is None else "".join(c for c in dict.fromkeys(letters) if c not in known)

    def _judged(self, query: Query, verdicts: Sequence[Verdict]) -> dict[tuple[int, int], bool]:
        """Verdicts on hits of a query, by page id and line number; without lines whose ids others now have."""
        found = {}
        for verdict in verdicts:
            id = self.store.page_id(verdict.page) if verdict.query == key_of(query) else None
            if id is not None:
                for number, line in enumerate(self.store.page(id)[1]):
                    if line.id == verdict.line and is_on(verdict, line):
                        found[id, number] = verdict.stands
        return found

    def _hit(self, by: Matches, place: int, probability: float, unjudged: float) -> Hit:
        """The scanned line at a place as a hit; its box is around the likeliest of the wanted words.

        `unjudged` is its probability without people's verdicts.
        """
        query, scanned = by.query, by.scanned
        key, lines, posteriors = self.store.page(int(scanned.pages[place]))
        number = int(scanned.numbers[place])
        if number >= len(lines):
            raise DataError("a page was written meanwhile; search again", self.store.name)
        line = unpacked(self.store, posteriors, len(lines)).line(number)
        wanted = [which for which, term in enumerate(query.terms) if term.wanted]
        best = max(wanted, key=lambda which: float(scanned.chances[which, place].sum()))
        own, over = scanned.chances[best, place]
        where = LinePlace.from_bytes(lines[number].place)
        found = locate(line, lines[number].text, where.width, by.automatons[best], over=bool(over > own))
        return Hit(
            page=self.store.scan(key),
            number=key.number,
            line=lines[number].id,
            text=lines[number].text,
            probability=probability,
            box=where.box(found.left, found.right),
            snippet=found.snippet,
            unknown=by.unknown,
            query=key_of(query),
            key=key,
            unjudged=unjudged,
            place=lines[number].place,
        )

    def judge(self, hit: Hit, stands: bool) -> None:
        """Record a person's verdict on a hit: whether it is correct.

        The same search then shows it first, or no longer shows it, and the verdict shifts the probabilities of all
        searches.

        Raises:
            DataError: if another process is writing the index.
        """
        self.store.judge(Verdict(hit.query, hit.key, hit.line, hit.unjudged, stands, hit.place))


def open_index(path: str | Path, *, threads: int | None = None) -> SearchIndex:
    """Open an index from `drethtr index`: a file, or a database by its URL.

    Args:
        threads: Threads to search with; by default one for each free processor.

    Raises:
        DataError: if there is none, or it is damaged or of another version.
        MissingExtraError: for a database, without psycopg.
    """
    store = PostgresStore.open(str(path)) if is_postgres(path) else Store.read(path)
    return SearchIndex(store, threads=threads)


def is_on(verdict: Verdict, line: StoredLine) -> bool:
    """Whether a line is where the judged line of this id was; True if that place is unknown."""
    return not verdict.place or LinePlace.from_bytes(verdict.place).is_same(LinePlace.from_bytes(line.place))


def key_of(query: Query) -> str:
    """The key of a query, for verdicts."""
    return f"{'strict ' if query.spelling.strict else ''}{' '.join(query.text.split())}"


def combined(query: Query, of_terms: Sequence[Floats]) -> Floats:
    """(L,) the probability that all groups match, from those (L,) of their terms, assumed independent."""
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
    """The probability of each page, and the index of its best line."""
    firsts = np.flatnonzero(np.diff(pages, prepend=-1))
    if not len(firsts):
        return np.empty(0), firsts
    on_page = [1 - np.multiply.reduceat(1 - chances, firsts) for chances in of_terms]
    wanted = np.sum([chances for term, chances in zip(query.terms, of_terms, strict=True) if term.wanted], axis=0)
    ends = np.append(firsts[1:], len(pages))
    best = [first + int(np.argmax(wanted[first:end])) for first, end in zip(firsts, ends, strict=True)]
    return combined(query, on_page), np.array(best)
