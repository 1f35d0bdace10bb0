"""Tables with an image name and its text in each row: Loghi, TrOCR tutorials, the DRetHTR authors' sets, our own.

Rows of a .tsv or .txt file are `file<TAB>text`; a first row with these names is a header and may name further columns,
which are ignored. Cells are used unchanged, unless every cell with a quotation mark is quoted as by spreadsheets and
pandas, with inner ones doubled: then they are unquoted. Rows of a .jsonl file are objects with `file` and `text`, and
optionally `set`, `lang`, `page`, `hand` and `clean`. Files lie beside the table or in image/, images/ or lines/. In a
folder of tables, their names give the split, and the set, unless each is the result of one image.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drethtr.base.encoding import SURROGATE
from drethtr.base.errors import DataError
from drethtr.base.files import is_file
from drethtr.datasets.layouts.layout import Layout
from drethtr.datasets.parquet import shortened, word
from drethtr.datasets.sample import Entry, LeftOut, Sample
from drethtr.datasets.splits import collection_of, set_at, split_named
from drethtr.datasets.text_files import is_quoted, rows_of
from drethtr.documents.beside import IMAGES, is_hidden

ENDINGS = (".tsv", ".jsonl", ".txt")
FOLDERS = (".", "image", "images", "lines")

COLUMNS: Mapping[str, type] = {
    "file": str,
    "text": str,
    "set": str,
    "lang": str,
    "page": str,
    "hand": str,
    "clean": bool,
}
REQUIRED = ("file", "text")
NAMES = ("set", "page", "hand")
"""Columns whose cells may be numbers."""


@dataclass(frozen=True)
class Table(Layout):
    """One table, or all tables of a folder."""

    name = "table"
    description = "rows of file<TAB>text in a .tsv or .txt file, or objects in a .jsonl file, beside images"

    def recognizes(self, source: Path) -> bool:
        return bool(tables_of(source))

    def entries(self, source: Path) -> Iterator[Entry]:
        tables = tables_of(source)
        if not tables:
            raise DataError("no .tsv, .jsonl or .txt whose first row has an image and its text", source)
        named_in: dict[Path, Path] = {}
        for table in tables:
            rows = list(rows_in(table, quoted=is_quoting(table)))
            named_after = collection_of(table.parent) if is_result(table, [row for _, row in rows]) else set_at(table)
            for number, row in rows:
                entry = entry_of(row, table, number, named_after) if isinstance(row, dict) else row
                if isinstance(entry, Sample) and isinstance(entry.image, Path):
                    other = named_in.setdefault(entry.image, table)
                    if other != table:
                        why = "named by two tables"
                        yield LeftOut(entry.key, why, f"{entry.image.name} is in {other.name}, too; give one of them")
                        continue
                yield entry


def tables_of(source: Path) -> list[Path]:
    """The tables at a source. A .tsv or .jsonl given by name is one; in a folder, the first row must name an image."""
    if not source.is_dir():
        is_one = source.suffix.lower() in (".tsv", ".jsonl") or (source.suffix.lower() == ".txt" and is_table(source))
        return [source] * (is_one and source.is_file())
    files = sorted(path for path in source.iterdir() if path.suffix in ENDINGS and not is_hidden(path))
    return [file for file in files if file.is_file() and is_table(file)]


def is_table(path: Path) -> bool:
    """Whether the first row names an image, even if the table is not UTF-8; also if a .tsv or .jsonl cannot be read."""
    try:
        _, first = next(rows_in(path, errors="replace"), (0, {}))
    except DataError:
        return path.suffix.lower() != ".txt"
    return isinstance(first, dict) and Path(str(first.get("file"))).suffix.lower() in IMAGES


def rows_in(
    table: Path, *, quoted: bool = False, errors: str = "strict"
) -> Iterator[tuple[int, dict[str, Any] | LeftOut]]:
    """The cells of each row by column, and the rows that have none, counted from 1."""
    columns = len(REQUIRED)
    for place, (number, row) in enumerate(rows_of(table, errors)):
        key = f"{table} line {number}"
        if table.suffix.lower() == ".jsonl":
            yield number, object_in(row, key)
            continue
        cells = [unquoted(cell) if quoted else cell for cell in row.split("\t")]
        if place == 0 and tuple(cells[: len(REQUIRED)]) == REQUIRED:
            columns = len(cells)
        elif len(cells) == columns:
            yield number, dict(zip(REQUIRED, cells, strict=False))
        else:
            found = f"{len(cells)} columns" if len(cells) > 1 else "no tab"
            cure = "or a header row that starts with file<TAB>text and names the other columns"
            yield number, LeftOut(key, "not file<TAB>text", f"{found}; expected file<TAB>text, {cure}")


def is_result(table: Path, rows: Sequence[dict[str, Any] | LeftOut]) -> bool:
    """Whether a table is of a single image and named after it, as `drethtr transcribe` names its results."""
    files = [Path(str(row.get("file"))).stem for row in rows if isinstance(row, dict)]
    return len(rows) == 1 and files == [table.stem]


def is_quoting(table: Path) -> bool:
    """Whether a table quotes cells: one has quotation marks inside, and all with any are quoted.

    A text merely in quotation marks does not count, since people write those.
    """
    if table.suffix.lower() == ".jsonl":
        return False
    cells = [cell for _, row in rows_of(table) for cell in row.split("\t") if '"' in cell]
    return all(map(is_quoted, cells)) and any('""' in cell[1:-1] for cell in cells)


def unquoted(cell: str) -> str:
    """A cell without the quotation marks of CSV."""
    return cell[1:-1].replace('""', '"') if is_quoted(cell) else cell


def object_in(row: str, key: str) -> dict[str, Any] | LeftOut:
    """The object in a row of JSON Lines."""
    try:
        found = json.loads(row)
    except (ValueError, RecursionError) as error:  # Python limits numbers and nesting more than JSON does
        return LeftOut(key, "invalid JSON", f"invalid JSON: {error}")
    if isinstance(found, dict):
        return found
    return LeftOut(key, "no JSON object", f"expected an object with file and text, got {row[:40]}")


def entry_of(cells: dict[str, Any], table: Path, number: int, named_after: Path) -> Entry:
    """The line of a row, whose set is named after a place if the row names none."""
    key = f"{table} line {number}"
    if missing := [name for name in REQUIRED if cells.get(name) is None]:
        return LeftOut(key, "no file or text", f"no {' and no '.join(missing)}")
    cells |= {name: word(cells[name]) for name in NAMES if type(cells.get(name)) in (int, float)}
    for name, wanted in COLUMNS.items():
        if cells.get(name) is not None and not isinstance(cells[name], wanted):
            return LeftOut(key, f"unusable {name}", f"{name} is {shortened(cells[name])}, expected {wanted.__name__}")
        if wanted is str and SURROGATE.search(cells.get(name) or ""):
            trouble = f"{name} contains an unpaired surrogate, {shortened(cells[name])}; replace it"
            return LeftOut(key, f"unusable {name}", trouble)
    places = [table.parent / folder / cells["file"] for folder in FOLDERS]
    image = next((place for place in places if is_file(place)), None)
    if image is None:
        return LeftOut(key, "no image", f"image {places[0]} does not exist")
    return Sample(
        image,
        cells["text"],
        cells.get("set") or named_after.name,
        cells.get("lang"),
        page=cells.get("page"),
        hand=cells.get("hand"),
        clean=cells.get("clean") is not False,
        key=key,
        id=cells["file"],
        split=split_named(table.stem),
        named_after=None if cells.get("set") else named_after,
    )
