"""Samples from a table that names image files: TSV or JSON Lines."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from drethtr.base.errors import DataError
from drethtr.documents.beside import is_file
from drethtr.lines.sample import Sample
from drethtr.lines.split_names import set_named
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
HALVES = re.compile("[\ud800-\udfff]")
"""Surrogates; JSON can contain a single one, which cannot be encoded."""


def read_tsv(path: Path, spelling: Spelling = nfc) -> Iterator[Sample | DataError]:
    """One sample per row `file<TAB>text`, without quoting, or the reason why it cannot be used.

    A first row with these names is a header; further columns it names are ignored. Files are relative to the table.

    Raises:
        DataError: if the table cannot be read.
    """
    for number, cells in tsv_rows_of(path):
        if trouble := misshapen(cells):
            yield DataError(trouble, f"{path} line {number}")
        else:
            yield sample_of(dict(zip(REQUIRED, cells, strict=True)), path, number, spelling)


def read_jsonl(path: Path, spelling: Spelling = nfc) -> Iterator[Sample | DataError]:
    """One sample per object with `file` and `text`, and optionally `set`, `lang`, `page`, `hand`, `clean`.

    Files are relative to the table; other keys are ignored. Invalid rows yield the reason.

    Raises:
        DataError: if the table cannot be read.
    """
    for number, row in rows_of(path):
        try:
            entry = json.loads(row)
        except (ValueError, RecursionError) as error:  # Python limits numbers and nesting more than JSON does
            yield DataError(f"invalid JSON: {error}", f"{path} line {number}")
            continue
        if isinstance(entry, dict):
            yield sample_of(entry, path, number, spelling)
        else:
            yield DataError(f"expected an object with file and text, got {row[:40]}", f"{path} line {number}")


def rows_of(path: Path) -> Iterator[tuple[int, str]]:
    """The rows of a text file that are not blank, counted from 1.

    Raises:
        DataError: if it cannot be read, or is not UTF-8.
    """
    try:
        with path.open(encoding="utf-8-sig") as rows:  # not `splitlines`, since U+2028 in a text does not end a row
            for number, row in enumerate(rows, start=1):
                if row.strip():
                    yield number, row.rstrip("\n")
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8: {error}", path) from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from error


def tsv_rows_of(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The cells of the rows of a TSV, without an optional header and without further columns."""
    columns = len(REQUIRED)
    for number, row in rows_of(path):
        cells = row.split("\t")
        if number == 1 and tuple(cells[: len(REQUIRED)]) == REQUIRED:
            columns = len(cells)
        else:
            yield number, cells[: len(REQUIRED)] if len(cells) == columns else cells


def misshapen(cells: Sequence[str]) -> str:
    """What is wrong with a row that should have a file and a text, or ""."""
    if len(cells) == len(REQUIRED):
        return ""
    found = f"{len(cells)} columns" if len(cells) > 1 else "no tab"
    return (
        f"{found}; expected file<TAB>text, or a header row that starts with file<TAB>text and names the other columns"
    )


def sample_of(entry: dict[str, Any], table: Path, number: int, spelling: Spelling) -> Sample | DataError:
    """The sample of a row, counted from 1, or the reason why it cannot be used."""
    key = f"{table} line {number}"
    if missing := [name for name in REQUIRED if entry.get(name) is None]:
        return DataError(f"no {' and no '.join(missing)}", key)
    for name, wanted in TYPES.items():
        if entry.get(name) is not None and not isinstance(entry[name], wanted):
            return DataError(f"{name} is {entry[name]!r}, expected {wanted.__name__}", key)
        if wanted is str and HALVES.search(entry.get(name) or ""):
            return DataError(f"{name} contains an unpaired surrogate, {entry[name]!r}; replace it", key)
    image = table.parent / entry["file"]
    if not is_file(image):
        return DataError(f"image {image} does not exist", key)
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
        id=entry["file"],
    )
