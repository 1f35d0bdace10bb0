"""The tables of an index, in SQLite and in PostgreSQL.

A SQLite file stores these statements verbatim, and `Store.check` compares them.
"""

FORMAT = 2
"""Version of the tables and their content; raised when an older reader would misunderstand them."""

APPLICATION = 0x64725458
"""Marks a SQLite file as an index; in PostgreSQL, the key of the lock for creating the tables."""

FILE_TABLES = (
    """CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID""",
    """CREATE TABLE pages (
    id INTEGER PRIMARY KEY,
    scan TEXT NOT NULL,
    number INTEGER NOT NULL,
    state TEXT NOT NULL,
    digest BLOB NOT NULL,
    confidences BLOB NOT NULL,
    posteriors BLOB NOT NULL,
    UNIQUE (scan, number)
)""",
    """CREATE TABLE lines (
    page INTEGER NOT NULL REFERENCES pages ON DELETE CASCADE,
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    text TEXT NOT NULL,
    place BLOB NOT NULL,
    PRIMARY KEY (page, number)
) WITHOUT ROWID""",
    """CREATE TABLE verdicts (
    query TEXT NOT NULL,
    scan TEXT NOT NULL,
    number INTEGER NOT NULL,
    line TEXT NOT NULL,
    probability REAL NOT NULL,
    stands INTEGER NOT NULL,
    PRIMARY KEY (query, scan, number, line)
) WITHOUT ROWID""",
)

POSTGRES_TABLES = """
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
    PRIMARY KEY (query, scan, number, line)
);
"""
