"""Benchmark queries in an index of many lines, made by repeating the pages of a real one."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from shutil import copyfile
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import NamedTuple

from drethtr.base.errors import DataError
from drethtr.paper.speed.report import markdown_table
from drethtr.search.index import LEAST, SearchIndex, open_index
from drethtr.search.scan import recent
from drethtr.search.store import Store

LIMIT = 20
"""Hits per query, as on a first page of results."""

TIMES = 3
"""Repetitions of each query."""

REPEAT = (
    """INSERT INTO pages (id, scan, number, state, digest, confidences, posteriors)
    SELECT id + :begin, scan || ' ' || :begin, number, state, digest, confidences, posteriors FROM pages
    WHERE id <= :last""",
    "INSERT INTO lines SELECT page + :begin, number, id, text, place FROM lines WHERE page <= :last",
)
"""Copies all pages up to `last` with their lines, adding `begin` to their ids."""


class QueryTime(NamedTuple):
    """Seconds until a query has its first hits: median, minimum and maximum; `busy` is processor time."""

    query: str
    hits: int
    seconds: float
    least: float
    greatest: float
    busy: float


def measure(index: Path, queries: Sequence[str], lines: int, threads: int | None) -> tuple[int, list[QueryTime]]:
    """Repeat the pages of an index until it has `lines` lines, and time queries; also returns the number of lines.

    Raises:
        DataError: if it is not an index, or has no lines.
    """
    with TemporaryDirectory() as folder:
        large = Path(folder) / "large.sqlite"
        grow(index, large, lines)
        with open_index(large, threads=threads) as opened:
            return opened.size[1], [timed(opened, query) for query in queries]


def grow(index: Path, large: Path, lines: int) -> None:
    """Write an index that repeats all pages of another until it has `lines` lines.

    Raises:
        DataError: if the other is not an index, or has no lines.
    """
    with Store.read(index) as store:
        own = store.size()[1]
    if not own:
        raise DataError("has no lines", index)
    copyfile(index, large)
    with closing(sqlite3.connect(large)) as database, database:
        [(last,)] = database.execute("SELECT max(id) FROM pages")
        for turn in range(1, -(-lines // own)):
            for statement in REPEAT:
                database.execute(statement, {"begin": turn * last, "last": last})


def timed(index: SearchIndex, query: str) -> QueryTime:
    """Run a query several times, each time as if it were new."""
    seconds, busy, hits = [], [], 0
    for _ in range(TIMES):
        recent.clear()
        began, worked = perf_counter(), process_time()
        hits = len(index.search(query, least=LEAST, limit=LIMIT))
        seconds.append(perf_counter() - began)
        busy.append(process_time() - worked)
    return QueryTime(query, hits, median(seconds), min(seconds), max(seconds), median(busy))


def table(lines: int, figures: Sequence[QueryTime]) -> str:
    """The figures in Markdown."""
    rows = [
        (f.query, str(f.hits), f"{f.seconds:.2f} [{f.least:.2f}, {f.greatest:.2f}]", f"{f.busy:.2f}") for f in figures
    ]
    head = (f"query in {lines:,} lines", f"hits, at most {LIMIT}", "seconds [range]", "of processors")
    return markdown_table(head, rows)
