"""Samples from a table that names image files: TSV or JSON Lines."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from drethtr.data.sample import Sample
from drethtr.data.split_names import set_named
from drethtr.documents.beside import is_file
from drethtr.errors import DataError
from drethtr.text.normalize import Spelling, nfc

TYPES: dict[str, type] = {
    "file": str,
    "text": str,
    "set": str,
    "lang": str,
    "page": str,
    "hand": str,
    "clean": bool,
}
REQUIRED = ("file", "text")
HEADER = "\t".join(REQUIRED)
HALVES = re.compile("[\ud800-\udfff]")
"""Halves of characters; JSON can name one alone, and nothing can write it."""


def read_tsv(path: Path, spelling: Spelling = nfc) -> Iterator[Sample | DataError]:
    """One sample per row `file<TAB>text`, without quoting, or why it is none; a first row that says that is a header.

    Files are relative to the table.

    Raises:
        DataError: if the table cannot be read.
    """
    for number, row in tsv_rows_of(path):
        file, tab, text = row.partition("\t")
        if tab:
            yield sample_of({"file": file, "text": text}, path, number, spelling)
        else:
            yield DataError(f"{path} line {number}: no tab; expected file<TAB>text")


def read_jsonl(path: Path, spelling: Spelling = nfc) -> Iterator[Sample | DataError]:
    """One sample per object with `file` and `text`, and `set`, `lang`, `page`, `hand`, `clean` where known.

    Files are relative to the table; other keys are ignored. Of a row that is no such object it says why.

    Raises:
        DataError: if the table cannot be read.
    """
    for number, row in rows_of(path):
        try:
            entry = json.loads(row)
        except (ValueError, RecursionError) as error:  # numbers and nesting have limits beyond those of JSON
            yield DataError(f"{path} line {number}: not JSON that can be read: {error}")
            continue
        if isinstance(entry, dict):
            yield sample_of(entry, path, number, spelling)
        else:
            yield DataError(f"{path} line {number}: expected an object with file and text, got {row[:40]}")


def rows_of(path: Path) -> Iterator[tuple[int, str]]:
    """The rows of a text file that are not blank, counted from 1.

    Raises:
        DataError: if it cannot be read, or is not UTF-8.
    """
    try:
        with path.open(encoding="utf-8-sig") as rows:  # no `splitlines`: U+2028 in a text is no end of a row
            for number, row in enumerate(rows, start=1):
                if row.strip():
                    yield number, row.rstrip("\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8: {error}") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error


def tsv_rows_of(path: Path) -> Iterator[tuple[int, str]]:
    """The same without the header that a TSV may have."""
    return (found for found in rows_of(path) if found != (1, HEADER))


def sample_of(entry: dict[str, Any], table: Path, number: int, spelling: Spelling) -> Sample | DataError:
    """The sample of one row, counted from 1, or why it is none."""
    key = f"{table} line {number}"
    if missing := [name for name in REQUIRED if entry.get(name) is None]:
        return DataError(f"{key}: no {' and no '.join(missing)}")
    for name, wanted in TYPES.items():
        if entry.get(name) is not None and not isinstance(entry[name], wanted):
            return DataError(f"{key}: {name} is {entry[name]!r}, expected {wanted.__name__}")
        if wanted is str and HALVES.search(entry.get(name) or ""):
            return DataError(f"{key}: {name} has half of a character, {entry[name]!r}; write the whole one")
    image = table.parent / entry["file"]
    if not is_file(image):
        return DataError(f"{key}: image {image} does not exist")
    clean = entry.get("clean")
    return Sample(
        image=image,
        text=spelling(entry["text"]),
        set=entry.get("set") or set_named(table),
        language=entry.get("lang"),
        page=entry.get("page"),
        hand=entry.get("hand"),
        clean=True if clean is None else clean,
        key=key,
    )
