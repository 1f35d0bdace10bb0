"""Index the results of `drethtr batch --posteriors`, part by part."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from drethtr.base.errors import DataError
from drethtr.bulk.output import JOB, Output, columns
from drethtr.datasets.parquet import open_parquet
from drethtr.search.locate import LinePlace
from drethtr.search.packed import PackedLines
from drethtr.search.records import PageKey, PageState, StoredLine
from drethtr.search.store import Store

LINES_PER_PAGE = 50
"""Maximum consecutive rows to pack together, like the lines of a page; a search unpacks them together."""

COLUMNS = ["input", "row", "text", "confidence", "error", "posteriors", "width", "height"]

ABOUT = ("model", "decoder", "precision")
"""The settings of a job that its index keeps."""

MAX_ROWS = 1 << 48
"""Rows that an input may have; more would not fit into an index."""


def is_batch(folder: str) -> bool:
    """Whether a folder contains the results of a batch."""
    return (Path(folder) / JOB).is_file()


def index_batch(folder: str, path: Path, *, rebuild: bool = False) -> int:
    """Add new and changed parts of a batch to an index, and remove those that are gone; returns the rows added.

    It may be interrupted at any time, and repeated while the batch continues.

    Raises:
        DataError: if the results have no posteriors, or the index cannot be written.
    """
    results, job = open_results(folder)
    about = {name: job[name] for name in ABOUT} | {"lines": "batch"}
    rows = 0
    with Store.write(path, about, rebuild=rebuild) as store:
        before = store.states()
        digests = {state.digest for state in before.values()}
        there = set()
        for part in sorted(results.parts()):
            digest = blake2b(results.part(part), digest_size=16).digest()
            there.add(digest)
            if digest in digests:
                continue
            with store.writing():
                for key, lines, posteriors in pages_of(folder, part):
                    store.put(key, PageState(part, digest), lines, posteriors)
                    rows += len(lines)
        with store.writing():
            for key, state in store.states().items():
                if state.digest not in there:
                    store.remove(key)
    return rows


def open_results(folder: str) -> tuple[Output, dict[str, Any]]:
    """The results of a batch and the settings of its job.

    Raises:
        DataError: if they have no posteriors, or lack settings.
    """
    import pyarrow

    results = Output(folder, pyarrow.schema([]))
    job = results.job()
    if job is None or not job.get("posteriors"):
        raise DataError("has no posteriors to search; read with drethtr batch --posteriors --force", folder)
    if missing := [name for name in ABOUT if name not in job]:
        raise DataError(f"has no setting {missing[0]!r} of a job", Path(folder) / JOB)
    return results, job


def pages_of(folder: str, part: str) -> Iterator[tuple[PageKey, Sequence[StoredLine], bytes]]:
    """The rows of a part as pages; the number of a page is that of its first row, from 1.

    Raises:
        DataError: if its file is damaged, or unpacks to too much.
    """
    for (input, _), some in groupby(rows_of(folder, part), lambda row: (row["input"], row["row"] // LINES_PER_PAGE)):
        group = [row for row in some if row["error"] is None]
        if group:
            lines = PackedLines.of([PackedLines.from_bytes(row["posteriors"]).line(0) for row in group])
            yield PageKey(input, group[0]["row"] + 1), list(map(stored, group)), lines.content


def rows_of(folder: str, part: str) -> Iterator[dict[str, Any]]:
    """The rows of a part, whose file somebody else may have made.

    Raises:
        DataError: if its file is damaged, unpacks to too much, or was not written by a batch.
    """
    import pyarrow

    file = str(Path(folder, f"{part}.parquet"))
    schema = columns(pyarrow.schema([]), posteriors=True)
    with open_parquet(file) as opened:
        if any(schema.field(name) not in list(opened.schema_arrow) for name in COLUMNS):
            raise DataError("is not a part of a batch with posteriors", file)
        for batch in opened.iter_batches(LINES_PER_PAGE, columns=COLUMNS, use_threads=False):
            for row in batch.to_pylist():
                needed = COLUMNS if row["error"] is None else ("input", "row")
                lacking = [name for name in needed if row[name] is None and name != "error"]
                if lacking or not 0 <= row["row"] < MAX_ROWS:
                    raise DataError("has rows that lack columns of drethtr batch", file)
                if row["error"] is None and not 0 <= row["confidence"] <= 1:
                    raise DataError("has confidences that are not probabilities", file)
                yield row


def stored(row: dict[str, Any]) -> StoredLine:
    """A row as a stored line."""
    width, height = row["width"], row["height"]
    place = LinePlace(width, np.array([[0, 0, 0, height], [width, 0, width, height]], dtype=np.int32))
    return StoredLine(f"row {row['row']}", row["text"], place.to_bytes(), row["confidence"], False)
