"""Tables with an image name and its text in each row: Loghi, TrOCR tutorials, the DRetHTR authors' sets.

Rows are `file<TAB>text`; a first row with these names is a header and may name further columns. Files lie beside the
table or in image/, images/ or lines/. In a folder of tables, their names give the split.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from drethtr.base.errors import DataError
from drethtr.documents.beside import IMAGES
from drethtr.lines.importers.importer import Entry, ImportedLine, Importer
from drethtr.lines.sample import LeftOut, Sample
from drethtr.lines.sources.table import misshapen, tsv_rows_of
from drethtr.lines.split_names import set_named, split_named
from drethtr.text.normalize import nfc

ENDINGS = (".txt", ".tsv")
FOLDERS = (".", "image", "images", "lines")


@dataclass(frozen=True)
class Table(Importer):
    """One table, or all tables of a folder."""

    name = "table"
    layout = "a table: rows of file<TAB>text in a .txt or .tsv file, images beside it or in image/, images/, lines/"

    def recognizes(self, source: Path) -> bool:
        return bool(tables_of(source))

    def entries(self, source: Path) -> Iterator[Entry]:
        tables = tables_of(source)
        if not tables:
            raise DataError("no .txt or .tsv whose first row is file<TAB>text", source)
        for table in tables:
            split = split_named(table.stem)
            name = source.resolve().name if source.is_dir() else set_named(source)
            for number, cells in tsv_rows_of(table):
                yield entry(cells, table.parent, split, name, f"{table} line {number}")


def tables_of(source: Path) -> list[Path]:
    """The tables at a source: files whose first row names an image."""
    files = sorted(source.iterdir()) if source.is_dir() else [source]
    return [file for file in files if file.suffix in ENDINGS and file.is_file() and is_table(file)]


def is_table(path: Path) -> bool:
    """Whether the first row looks like one of a table."""
    try:
        cells = next((cells for _, cells in tsv_rows_of(path)), [])
    except DataError:  # not a table, such as a readme in another encoding
        return False
    return len(cells) > 1 and Path(cells[0]).suffix.lower() in IMAGES


def entry(cells: Sequence[str], folder: Path, split: str, name: str, where: str) -> Entry:
    """One row."""
    if trouble := misshapen(cells):
        return LeftOut(where, trouble)
    file, text = cells
    image = next((folder / place / file for place in FOLDERS if (folder / place / file).is_file()), None)
    if image is None:
        return LeftOut(f"{where}: {file}", "no image")
    return ImportedLine(split, Sample(image, nfc(text), name, key=str(image), id=file))
