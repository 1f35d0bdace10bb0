"""Untrusted indexes: search them, judge hits, and add pages."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from drethtr.documents.points import Box
from drethtr.recognition.posteriors import Posteriors
from drethtr.search.index import open_index
from drethtr.search.locate import LinePlace
from drethtr.search.packed import PackedLines
from drethtr.search.records import PageKey, PageState, StoredLine, Verdict
from drethtr.search.store import Store
from fuzzing.files import NUMBERS, TEXTS, Target, mutated

ABOUT = {"model": "0", "alphabet": " abcdefghijklmnopqrstuvwxyz", "decoder": "ctc"}
LINES = ("dear sir", "the trea-", "sure is hidden")
QUERIES = ('"dear sir"', "treasure OR hid*", "sir -madam", "s?r")
STATE = PageState("1", b"1")


def stored(number: int, text: str) -> tuple[StoredLine, Posteriors]:
    """A line of an index, and its posteriors."""
    place = LinePlace(80, np.array([[0, 0, 0, 20], [80, 0, 80, 20]], dtype=np.int32)).to_bytes()
    lefts = [10.0 * letter for letter in range(len(text))]
    return StoredLine(f"l{number}", text, place, 0.9, False), Posteriors.certain(text, lefts, 4.0)


def index_file(folder: Path) -> bytes:
    """The bytes of a small index with a verdict."""
    path = folder / "made.sqlite"
    lines, posteriors = zip(*(stored(number, text) for number, text in enumerate(LINES)), strict=True)
    with Store.write(path, ABOUT) as store, store.writing():
        for page in range(2):
            store.put(PageKey(f"{page}.png", 1), STATE, lines, PackedLines.of(posteriors).content)
        store.judge(Verdict("sir", PageKey("0.png", 1), "l0", 0.4, True))
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.executescript("PRAGMA page_size = 512; VACUUM")  # keep it small
    return path.read_bytes()


COLUMNS = [
    *(("about", name) for name in ("name", "value")),
    *(("pages", name) for name in ("id", "scan", "number", "state", "digest", "confidences", "posteriors")),
    *(("lines", name) for name in ("page", "number", "id", "text", "place")),
    *(("verdicts", name) for name in ("query", "scan", "number", "line", "probability", "stands", "place")),
]
ODD = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.binary(max_size=60),
    (NUMBERS | TEXTS).map(lambda text: text.encode("utf-8", "replace").decode()),
    st.sampled_from(["[" * 3000, '"\\ud800"', "{}", "[]", "null", "../../../etc/passwd", "/dev/zero"]),
)
SCHEMAS = st.sampled_from(
    [
        "DROP TABLE {table}",
        "ALTER TABLE {table} RENAME TO other; CREATE VIEW {table} AS SELECT * FROM other",
        "ALTER TABLE {table} RENAME TO other; CREATE VIEW {table} AS "
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT i AS {column} FROM n",
        "ALTER TABLE {table} RENAME COLUMN {column} TO other",
        "ALTER TABLE {table} ADD COLUMN more BLOB AS (zeroblob(2000000000))",
        "CREATE TRIGGER t AFTER INSERT ON {table} BEGIN DELETE FROM pages; END",
        "CREATE TRIGGER t BEFORE DELETE ON {table} BEGIN SELECT RAISE(IGNORE); END",
        "CREATE TABLE other (a, b)",
        "CREATE INDEX other ON {table} ({column})",
        "DELETE FROM {table}",
        "PRAGMA user_version = 1000",
        "PRAGMA application_id = 7",
    ]
)
CHANGES = st.lists(st.tuples(st.sampled_from(COLUMNS), ODD | st.just(...), SCHEMAS), max_size=3)


@st.composite
def indexes(draw: Any, made: bytes) -> bytes:
    """An index with changed values, posteriors or tables."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        database.deserialize(made)
        [(packed, place)] = database.execute(
            "SELECT posteriors, place FROM pages JOIN lines ON page = pages.id LIMIT 1"
        )
        database.execute("UPDATE pages SET posteriors = ? WHERE id = 1", (draw(mutated(st.just(packed))),))
        database.execute("UPDATE lines SET place = ? WHERE page = 1", (draw(mutated(st.just(place))),))
        for (table, column), value, schema in draw(CHANGES):
            try:
                if value is ...:
                    database.executescript(schema.format(table=table, column=column))
                else:
                    database.execute(f"UPDATE {table} SET {column} = ?", (value,))
            except sqlite3.Error:
                continue
        return database.serialize()


def use_index(path: Path) -> None:
    """Search an index, judge hits, and add a page."""
    try:
        with open_index(path, threads=1) as index:
            assert all(count >= 0 for count in index.size)
            for query in QUERIES:
                for hit in index.search(query, limit=5):
                    assert 0 <= hit.probability <= 1 and isinstance(hit.box, Box)
                    assert hit.to_json()
                    index.judge(hit, True)
                assert index.search(query, whole_pages=True) is not None
        line, posteriors = stored(0, "more")
        with Store.write(path, ABOUT) as store:
            for key in store.states():
                store.scan(key)
            key = PageKey("2.png", 1)
            with store.writing():
                store.put(key, STATE, [line], PackedLines.of([posteriors]).content)
            assert store.page(store.page_id(key) or 0)[1][0].text == line.text
    finally:
        for left in path.parent.glob(f"{path.name}-*"):  # of a closed database
            left.unlink()


def targets(folder: Path) -> dict[str, Target]:
    """The targets of this module; `folder` is for files generated once."""
    return {"index": Target(".sqlite", mutated(indexes(index_file(folder))), use_index)}
