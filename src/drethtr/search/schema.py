"""The tables in the file of an index: make them, complete those of an earlier version, refuse others."""

from pathlib import Path

from drethtr.base.database import Database
from drethtr.base.errors import DataError
from drethtr.search.records import APPLICATION, PLACES

FORMAT = 4
"""Version of the tables and their content; raised when an older reader would misunderstand them.

A file of version 3 has no places of verdicts, and one of version 2 also has no readings: it can be searched, and is
completed when it is written."""

WITHOUT_READINGS = 2

PLACE = "place BLOB NOT NULL DEFAULT x''"
"""The column of the places of verdicts. It stands on the line of the column before it, where `ALTER TABLE` puts it, as
`refuse_other_tables` compares the statements letter by letter."""

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
    f"""CREATE TABLE verdicts (
    query TEXT NOT NULL,
    scan TEXT NOT NULL,
    number INTEGER NOT NULL,
    line TEXT NOT NULL,
    probability REAL NOT NULL,
    stands INTEGER NOT NULL, {PLACE},
    PRIMARY KEY (query, scan, number, line)
) WITHOUT ROWID""",
    """CREATE TABLE readings (page INTEGER PRIMARY KEY REFERENCES pages ON DELETE CASCADE, content BLOB NOT NULL)""",
)
"""The statements of the tables, which a SQLite file keeps verbatim."""

WITHOUT_PLACES = tuple(statement.replace(f", {PLACE}", "") for statement in STATEMENTS)

TABLES = {FORMAT: STATEMENTS, 3: WITHOUT_PLACES, WITHOUT_READINGS: WITHOUT_PLACES[:-1]}
"""The tables of each version of a file that can be read."""


def has_tables(database: Database) -> bool:
    """Whether a file has tables; not if it is new, or its writer was stopped before its first commit."""
    return database.execute("SELECT 1 FROM sqlite_master WHERE type = 'table'").fetchone() is not None


def make_tables(database: Database) -> None:
    """Create the tables of a new file."""
    for statement in STATEMENTS:
        database.execute(statement)
    database.execute(f"PRAGMA application_id = {APPLICATION}")
    database.execute(f"PRAGMA user_version = {FORMAT}")


def complete_tables(database: Database) -> None:
    """Create what a file of an earlier version lacks; the caller has begun a transaction."""
    version = version_of(database)
    if version == WITHOUT_READINGS:
        database.execute(STATEMENTS[-1])
    if version != FORMAT:
        database.execute(f"ALTER TABLE verdicts ADD COLUMN {PLACE}")
        database.execute(PLACES)
        database.execute(f"PRAGMA user_version = {FORMAT}")


def version_of(database: Database) -> int:
    """The version of the tables in a file."""
    return pragma(database, "user_version")


def pragma(database: Database, name: str) -> int:
    """A number in the header of a file."""
    return int(database.execute(f"PRAGMA {name}").fetchone()[0])


def refuse_other_tables(database: Database, path: Path) -> None:
    """Refuse a file that is not an index which this version understands.

    Raises:
        DataError: if it is not.
    """
    if pragma(database, "application_id") != APPLICATION:
        raise no_index(path)
    version = version_of(database)
    if version not in TABLES:
        raise DataError(
            f"an index of format {version}, but this drethtr reads format {FORMAT}; delete it and "
            "make it again with drethtr index",
            path,
        )
    statements = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite@_%' ESCAPE '@'"
    if sorted(database.execute(statements)) != sorted((table,) for table in TABLES[version]):
        raise damaged(path, "its tables are not those of an index")  # views and triggers could run forever


def no_index(path: Path) -> DataError:
    """The error for a file that is not an index, and must not be overwritten."""
    return DataError("not an index; create one with drethtr index FOLDER --output ANOTHER_FILE", path)


def damaged(path: Path, why: str) -> DataError:
    """The error for a file that `drethtr index` did not write."""
    return DataError(f"a damaged index ({why}); delete it and run drethtr index again", path)
