"""The tables of an index file. SQLite keeps these statements as they are, and a reader compares them."""

FORMAT = 2
"""Version of the tables; raised when the statements below change."""

APPLICATION = 0x64725458
"""What marks a SQLite file as an index."""

STATEMENTS = (
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
