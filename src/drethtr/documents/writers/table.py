"""Write tables: the words of pages, or the cells of their tables, as CSV; single lines as tab-separated rows.

CSV is UTF-8 with byte order mark, so that Excel shows accents. Cells that a spreadsheet would take for a formula get a
leading apostrophe.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from unicodedata import category, normalize

from drethtr.documents.document import Document
from drethtr.documents.page import Page, Region, TextLine, rows_of_table
from drethtr.documents.transcription import PageWord
from drethtr.documents.writers.text import one_line

WORD_COLUMNS = (
    *("page", "image", "line", "word", "text", "confidence", "doubtful", "flags"),
    *("left", "top", "right", "bottom", "made by"),
)
TAG_COLUMNS = ("page", "image", "line", "tag", "text", "details", "start", "length", "made by")
LINE_COLUMNS = b"file\ttext\tconfidence\tflags\tmade by\n"
FORMULA_STARTS, CONTROL = frozenset("=+-@"), frozenset("\t\r\n")
CELLS = re.compile(r"(?<=[;\t\r\n])")
"""Where a spreadsheet may begin a new cell, depending on the locale."""

FILLERS = frozenset("\u115f\u1160\u2800")
"""Letters without ink: Hangul fillers, after NFKC, and the empty pattern of Braille."""


def write_table(document: Document) -> bytes:
    """Write all pages, a row per word, or per line if its words are unknown."""
    made_by = str(document.provenance)
    pages = zip(document.numbers, document.pages, strict=True)
    return csv_file([WORD_COLUMNS, *((number, *row, made_by) for number, page in pages for row in rows_of(page))])


def csv_file(rows: Iterable[Sequence[object]]) -> bytes:
    """Rows as a CSV file."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\r\n").writerows(rows)
    return b"\xef\xbb\xbf" + file.getvalue().encode("utf-8", "replace")


def write_tags(document: Document) -> bytes:
    """Write the tags on all pages, one row per name, date or other passage.

    A page without tags has a row without one.
    """
    made_by = str(document.provenance)
    rows: list[Sequence[object]] = [TAG_COLUMNS]
    for number, page in zip(document.numbers, document.pages, strict=True):
        if not any(line.tags for line in page.lines):
            rows.append([number, safe(page.image), *[""] * 6, made_by])
        for line in page.lines:
            for tag in line.tags:
                details = "; ".join(f"{name}: {value}" for name, value in tag.details)
                text = line.text[tag.start : tag.start + tag.length]
                texts = map(safe, (page.image, line.id, tag.name, text, details))
                rows.append([number, *texts, tag.start, tag.length, made_by])
    return csv_file(rows)


def write_cells(document: Document) -> bytes:
    """Write the tables of all pages, a row per row, after its page, image and the number of the table on the page.

    A page without tables has a row without cells.
    """
    rows: list[tuple[int, str, int | str, list[str]]] = []
    for number, page in zip(document.numbers, document.pages, strict=True):
        tables = list(tables_of(page))
        rows += [
            (number, page.image, place, list(map(text_of_cell, row)))
            for place, table in enumerate(tables, 1)
            for row in table
        ]
        rows += [] if tables else [(number, page.image, "", [])]
    columns = range(1, 1 + max(len(cells) for *_, cells in rows))
    head = ("page", "image", "table", "made by", *(f"column {column}" for column in columns))
    made_by = str(document.provenance)
    written = ((number, safe(image), place, made_by, *map(safe, cells)) for number, image, place, cells in rows)
    return csv_file([head, *written])


def tables_of(page: Page) -> Iterator[list[list[Sequence[Region]]]]:
    """The tables of a page in reading order: rows of cells, each of which usually is one region, or none."""
    for block in page.blocks:
        if block[0].cell is not None:
            yield [list(row.values()) for row in rows_of_table(block).values()]


def text_of_cell(regions: Sequence[Region]) -> str:
    """The text of a cell in one line."""
    return " ".join(one_line(line.text) for region in regions for line in region.lines if line.text)


def rows_of(page: Page) -> Iterator[tuple[object, ...]]:
    """The words of a page, with their numbers on the line."""
    for line in page.lines:
        if line.transcription is not None:
            for number, word in enumerate(line.words or [whole(line)], 1):
                confidence = "" if word.confidence is None else f"{word.confidence:.4f}"
                place = word.box or ("", "", "", "")
                doubts = "yes" if word.doubtful else "", "; ".join(map(str, line.flags))
                yield safe(page.image), safe(line.id), number, safe(word.text), confidence, *doubts, *place


def whole(line: TextLine) -> PageWord:
    """A line as a single word."""
    return PageWord(line.text, line.confidence, line.box and line.box.polygon())


def safe(text: str) -> str:
    """Escape text that a spreadsheet could take for a formula, even after skipping invisible characters.

    Full-width signs (＝) count like ordinary ones, as they do for Excel in East Asia. In locales with decimal commas,
    Excel begins a cell after each semicolon, even inside quotation marks.
    """
    marked = "".join(f"'{cell}" if is_formula(cell) else cell for cell in CELLS.split(text))
    return f"'{marked}" if text[:1] in CONTROL else marked


def is_formula(cell: str) -> bool:
    """Whether the first character that is shown begins a formula."""
    shown = (normalize("NFKC", character)[0] for character in cell)
    return next(filter(is_visible, shown), "") in FORMULA_STARTS


def is_visible(character: str) -> bool:
    """Whether a spreadsheet shows a character: not a space, control, combining or filling character."""
    has_ink = character not in FILLERS and not category(character).startswith("M")
    return has_ink and character.isprintable() and not character.isspace()


def write_line_table(document: Document) -> bytes:
    """Write a line as a table of one row."""
    return LINE_COLUMNS + line_table_row(document)


def line_table_row(document: Document) -> bytes:
    """The row of a line in a table with `LINE_COLUMNS`."""
    [page] = document.pages
    [line] = page.lines
    flags = "; ".join(map(str, line.flags))
    confidence = f"{line.confidence or 0:.4f}"
    cells = (one_line(document.name), one_line(line.text), confidence, one_line(flags), str(document.provenance))
    return ("\t".join(cells) + "\n").encode("utf-8", "replace")
