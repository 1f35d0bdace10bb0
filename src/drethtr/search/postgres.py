"""An index in PostgreSQL: the same tables, which many processes may fill and search at once."""

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from drethtr.base.credentials import without_credentials
from drethtr.base.errors import DataError, MissingExtraError, first_line
from drethtr.documents.names import restored, stored
from drethtr.search.query import Spelling
from drethtr.search.records import (
    APPLICATION,
    PLACES,
    PageBlock,
    PageKey,
    PageSelection,
    PageState,
    StoredLine,
    Verdict,
    known_confidences,
    refuse_other_settings,
    stored_lines,
)

if TYPE_CHECKING:
    from psycopg import Connection

FORMAT = 2
"""Version of the tables and their content; raised when an older reader would misunderstand them."""

TABLES = """
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS pages (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    origin TEXT NOT NULL,
    scan TEXT NOT NULL,
    number INTEGER NOT NULL,
    state TEXT NOT NULL,
    digest BYTEA NOT NULL,
    confidences BYTEA NOT NULL,
    posteriors BYTEA NOT NULL,
    UNIQUE (scan, number)
);
CREATE TABLE IF NOT EXISTS lines (
    page BIGINT NOT NULL REFERENCES pages ON DELETE CASCADE,
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    text TEXT NOT NULL,
    folded TEXT NOT NULL,
    place BYTEA NOT NULL,
    PRIMARY KEY (page, number)
);
CREATE INDEX IF NOT EXISTS lines_like ON lines USING gin (folded gin_trgm_ops);
CREATE TABLE IF NOT EXISTS verdicts (
    query TEXT NOT NULL,
    scan TEXT NOT NULL,
    number INTEGER NOT NULL,
    line TEXT NOT NULL,
    probability DOUBLE PRECISION NOT NULL,
    stands BOOLEAN NOT NULL,
    place BYTEA NOT NULL DEFAULT '',
    PRIMARY KEY (query, scan, number, line)
);
"""

SCHEMES = ("postgresql://", "postgres://")

PREFILTER_FROM = 100_000
"""With this many lines or more, only pages with words similar to the query are searched.

Words that only the posteriors contain, and no text resembles, are then not found. In smaller indexes, searching
everything is fast enough. Not measured with other numbers."""

SIMILAR = 0.3
"""Minimum similarity of a part of a text to a word: the share of common trigrams.

Half of PostgreSQL's default of 0.6: a misread letter spoils three of a word's trigrams."""


def is_postgres(place: str | Path) -> bool:
    """Whether the name of an index is the URL of a PostgreSQL database."""
    return str(place).startswith(SCHEMES)


@dataclass(frozen=True)
class PostgresStore:
    """An open index in PostgreSQL; scans are identified by absolute paths."""

    url: str
    database: "Connection[Any]"

    @classmethod
    def open(cls, url: str) -> Self:
        """Open an index to search it.

        Raises:
            DataError: if the database cannot be reached, or has no index, or one of another version.
            MissingExtraError: without psycopg.
        """
        store = cls(url, connect(url))
        try:
            store.check_format()
        except DataError:
            store.close()
            raise
        return store

    @classmethod
    def write(cls, url: str, about: Mapping[str, Any]) -> Self:
        """Open an index for writing, or create it; other processes may write to it at the same time.

        Raises:
            DataError: if the database cannot be reached, or its index has other settings or another version.
            MissingExtraError: without psycopg.
        """
        store = cls(url, connect(url))
        described = {**about, "format": FORMAT}
        try:
            with store.guarded(), store.database.transaction():
                # CREATE TABLE IF NOT EXISTS fails if two processes begin at once; the lock ends with the transaction.
                store.database.execute("SELECT pg_advisory_xact_lock(%s)", (APPLICATION,))
                store.database.execute(TABLES)
                store.complete_verdicts()
                rows = [(name, json.dumps(value, ensure_ascii=False)) for name, value in described.items()]
                if not store.about():
                    store.database.cursor().executemany("INSERT INTO about VALUES (%s, %s)", rows)
            store.check_format()
            refuse_other_settings(store.name, store.about(), about, "use the same, or another database")
        except BaseException:
            store.close()
            raise
        return store

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Convert errors of the database to errors that name it."""
        from psycopg import Error
        from psycopg.errors import UndefinedTable

        try:
            yield
        except UndefinedTable as error:
            raise DataError("no index; create one with drethtr index FOLDER --to URL", self.name) from error
        except Error as error:
            raise DataError(f"cannot be used: {first_line(error)}", self.name) from error

    @property
    def name(self) -> str:
        """The URL without its password."""
        return without_credentials(self.url)

    def close(self) -> None:
        """Close the connection."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def about(self) -> dict[str, Any]:
        """The settings of the index, by name."""
        with self.guarded():
            return {name: json.loads(value) for name, value in self.database.execute("SELECT * FROM about")}

    def check_format(self) -> None:
        """Check that this version understands the index.

        Raises:
            DataError: if it does not.
        """
        found = self.about().get("format")
        if found != FORMAT:
            raise DataError(
                f"an index of format {found}, but this drethtr reads format {FORMAT}; fill another "
                "database with drethtr index --to",
                self.name,
            )

    def complete_verdicts(self) -> None:
        """Add the places of verdicts to tables of an earlier version; the caller has begun a transaction."""
        select = "SELECT FROM pg_attribute WHERE attrelid = 'verdicts'::regclass AND attname = 'place'"
        if self.database.execute(select).fetchone() is None:
            self.database.execute("ALTER TABLE verdicts ADD COLUMN IF NOT EXISTS place BYTEA NOT NULL DEFAULT ''")
            self.database.execute(PLACES)

    def key(self, scan: Path, number: int) -> PageKey:
        """The key of a page."""
        return PageKey(stored(scan.resolve().as_posix()), number)

    def scan(self, key: PageKey) -> Path:
        """The scan of a page."""
        return Path(restored(key.scan))

    def states(self, origin: str) -> dict[PageKey, PageState]:
        """The state of every page from one origin, when it was read."""
        with self.guarded():
            rows = self.database.execute("SELECT scan, number, state, digest FROM pages WHERE origin = %s", (origin,))
            return {PageKey(scan, number): PageState(state, digest) for scan, number, state, digest in rows}

    def put(self, origin: str, key: PageKey, state: PageState, lines: Sequence[StoredLine], posteriors: bytes) -> None:
        """Write a page with its lines in one transaction, replacing an earlier version."""
        with self.guarded(), self.database.transaction():
            [(page,)] = self.database.execute(
                "INSERT INTO pages (origin, scan, number, state, digest, confidences, posteriors) "
                "VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (scan, number) DO UPDATE SET "
                "origin = EXCLUDED.origin, state = EXCLUDED.state, digest = EXCLUDED.digest, "
                "confidences = EXCLUDED.confidences, posteriors = EXCLUDED.posteriors RETURNING id",
                (origin, *key, *state, known_confidences(lines), posteriors),
            ).fetchall()
            self.database.execute("DELETE FROM lines WHERE page = %s", (page,))
            fold = Spelling().fold
            rows = [
                (page, number, line.id, line.text, fold(line.text), line.place) for number, line in enumerate(lines)
            ]
            self.database.cursor().executemany("INSERT INTO lines VALUES (%s, %s, %s, %s, %s, %s)", rows)

    def remove(self, origin: str, key: PageKey) -> None:
        """Remove a page and its lines, unless an index of another origin has written it since."""
        with self.guarded():
            delete = "DELETE FROM pages WHERE origin = %s AND scan = %s AND number = %s"
            self.database.execute(delete, (origin, *key))

    def version(self) -> Hashable:
        """The number of pages and the sum of the transactions that wrote them."""
        # No shared counter is used, since concurrent writers would wait for each other on it.
        with self.guarded():
            [row] = self.database.execute("SELECT count(*), sum(xmin::text::bigint) FROM pages").fetchall()
            return tuple(row)

    def size(self) -> tuple[int, int]:
        """The numbers of pages and lines."""
        # One byte of confidence per line: they are counted without reading lines.
        with self.guarded():
            [row] = self.database.execute(
                "SELECT count(*), coalesce(sum(length(confidences)), 0) FROM pages"
            ).fetchall()
            return int(row[0]), int(row[1])

    def select(self, words: Sequence[str]) -> PageSelection:
        """The pages to search for a query; in a large index, those with something similar to one of the words."""
        lines = self.size()[1]
        with self.guarded():
            if lines < PREFILTER_FROM or not all(words):
                return PageSelection([id for (id,) in self.database.execute("SELECT id FROM pages ORDER BY id")])
            self.database.execute(f"SET pg_trgm.word_similarity_threshold = {SIMILAR}")
            alike = " OR ".join(["folded %%> %s"] * len(words))
            rows = self.database.execute(f"SELECT DISTINCT page FROM lines WHERE {alike} ORDER BY page", tuple(words))
            return PageSelection([id for (id,) in rows], lines)

    def blocks(self, ids: Sequence[int]) -> Iterator[PageBlock]:
        """The data of pages for a query, from a separate connection."""
        with self.guarded(), connect(self.url) as database:
            select = "SELECT id, confidences, posteriors FROM pages WHERE id = ANY(%s) ORDER BY id"
            for id, confidences, posteriors in database.execute(select, (list(ids),), binary=True):
                yield PageBlock(id, np.frombuffer(confidences, np.uint8), posteriors)

    def page_id(self, key: PageKey) -> int | None:
        """The id of a page, if it is there."""
        with self.guarded():
            row = self.database.execute("SELECT id FROM pages WHERE scan = %s AND number = %s", key).fetchone()
            return None if row is None else int(row[0])

    def page(self, id: int) -> tuple[PageKey, list[StoredLine], bytes]:
        """A page with its lines and packed posteriors.

        Raises:
            DataError: if it is not there.
        """
        with self.guarded(), self.database.transaction():
            select = "SELECT scan, number, confidences, posteriors FROM pages WHERE id = %s"
            row = self.database.execute(select, (id,), binary=True).fetchone()
            select = "SELECT id, text, place FROM lines WHERE page = %s ORDER BY number"
            lines = self.database.execute(select, (id,), binary=True).fetchall()
        if row is None or len(row[2]) != len(lines):
            raise DataError(f"page {id} is being written; search again", self.name)
        return PageKey(row[0], row[1]), stored_lines(lines, row[2]), row[3]

    def verdicts(self) -> list[Verdict]:
        """All verdicts of people on hits."""
        with self.guarded():
            # A prepared statement would fail once another process has completed the table.
            rows = self.database.execute("SELECT * FROM verdicts", prepare=False)
            return [  # an earlier version has no place
                Verdict(query, PageKey(scan, number), line, chance, stands, *place)
                for query, scan, number, line, chance, stands, *place in rows
            ]

    def judge(self, verdict: Verdict) -> None:
        """Record a person's verdict on a hit."""
        row = (verdict.query, *verdict.page, verdict.line, verdict.probability, verdict.stands, verdict.place)
        with self.guarded(), self.database.transaction():
            self.complete_verdicts()
            self.database.execute(
                "INSERT INTO verdicts VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (query, scan, number, line) "
                "DO UPDATE SET probability = EXCLUDED.probability, stands = EXCLUDED.stands, place = EXCLUDED.place",
                row,
            )


def connect(url: str) -> "Connection[Any]":
    """A connection in autocommit mode.

    Raises:
        DataError: if the database cannot be reached.
        MissingExtraError: without psycopg.
    """
    try:
        import psycopg
    except ImportError as error:
        raise MissingExtraError("psycopg", "postgresql") from error
    try:
        return psycopg.connect(url, autocommit=True)
    except psycopg.Error as error:
        raise DataError(f"cannot be reached: {first_line(error)}", url) from error
