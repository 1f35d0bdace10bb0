"""Write an Excel workbook: a sheet for each table, cells with doubtful words shaded; of pages without tables, lines.

Source: Office Open XML, ISO 29500.
"""

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from drethtr.base.errors import DataError
from drethtr.documents.document import Document
from drethtr.documents.markup import as_file, clean
from drethtr.documents.page import Region
from drethtr.documents.transcription import SHADES, Grade
from drethtr.documents.writers.office import OFFICE, packed, relations
from drethtr.documents.writers.table import tables_of, text_of_cell

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"

MAX_CHARACTERS, MAX_ROWS, MAX_COLUMNS = 32_767, 1_048_576, 16_384
"""Limits of Excel, which refuses a file that exceeds them: characters of a cell, rows and columns of a sheet."""

DOUBTFUL = 1
"""The number of the style of cells with doubtful words."""

Cells = Sequence[Sequence[Sequence[Region]]]
"""Rows of cells, each with its regions."""


def write_xlsx(document: Document) -> bytes:
    """Write the tables of all pages of a document, each on a sheet, and the lines of pages without tables on one.

    Raises:
        DataError: if one of them is larger than a sheet can be.
    """
    sheets: dict[str, Cells] = {}
    for number, page in zip(document.numbers, document.pages, strict=True):
        for place, table in enumerate(tables_of(page), 1):
            sheets[f"page {number}" + f" table {place}" * (place > 1)] = table
        if f"page {number}" not in sheets:
            sheets[f"page {number}"] = [[[Region("", (line,))]] for line in page.lines if line.transcription]
    names = {name: f"worksheets/sheet{place}.xml" for place, name in enumerate(sheets, 1)}
    kinds = {"/xl/workbook.xml": f"{KIND}.sheet.main+xml", "/xl/styles.xml": f"{KIND}.styles+xml"}
    kinds |= {f"/xl/{name}": f"{KIND}.worksheet+xml" for name in names.values()}
    roles = {**dict.fromkeys(names.values(), f"{OFFICE}/worksheet"), "styles.xml": f"{OFFICE}/styles"}
    parts = {
        "xl/workbook.xml": workbook(list(sheets)),
        "xl/_rels/workbook.xml.rels": relations(roles),
        "xl/styles.xml": styles(),
        **{f"xl/{names[name]}": sheet(table) for name, table in sheets.items()},
    }
    return packed(document, kinds, parts)


def workbook(names: Sequence[str]) -> bytes:
    """The list of sheets, by the numbers of their `relations`."""
    root = ET.Element("workbook", {"xmlns": MAIN, "xmlns:r": OFFICE})
    listed = ET.SubElement(root, "sheets")
    for number, name in enumerate(names, 1):
        ET.SubElement(listed, "sheet", {"name": name, "sheetId": str(number), "r:id": f"r{number}"})
    return as_file(root)


def styles() -> bytes:
    """Two styles of cells: text, and shaded text."""
    root = ET.Element("styleSheet", xmlns=MAIN)
    font = ET.SubElement(ET.SubElement(root, "fonts", count="1"), "font")
    ET.SubElement(font, "sz", val="11")
    ET.SubElement(font, "name", val="Calibri")
    fills = ET.SubElement(root, "fills", count="3")
    for pattern in ("none", "gray125"):  # Excel expects these two in any file
        ET.SubElement(ET.SubElement(fills, "fill"), "patternFill", patternType=pattern)
    shaded = ET.SubElement(ET.SubElement(fills, "fill"), "patternFill", patternType="solid")
    ET.SubElement(shaded, "fgColor", rgb=f"FF{SHADES[Grade.LIKELY].upper()}")
    border = ET.SubElement(ET.SubElement(root, "borders", count="1"), "border")
    for side in ("left", "right", "top", "bottom", "diagonal"):
        ET.SubElement(border, side)
    base = {"numFmtId": "49", "fontId": "0", "fillId": "0", "borderId": "0"}  # 49 is text, so 1/2 is no date
    ET.SubElement(ET.SubElement(root, "cellStyleXfs", count="1"), "xf", base)
    formats = ET.SubElement(root, "cellXfs", count="2")
    for fill in ("0", "2"):
        style = ET.SubElement(formats, "xf", {**base, "fillId": fill, "xfId": "0", "applyNumberFormat": "1"})
        style.set("applyFill", "1")
        style.set("applyAlignment", "1")
        ET.SubElement(style, "alignment", vertical="top", wrapText="1")
    ET.SubElement(ET.SubElement(root, "cellStyles", count="1"), "cellStyle", name="Normal", xfId="0", builtinId="0")
    return as_file(root)


def sheet(table: Cells) -> bytes:
    """A sheet with the texts of cells; numbers stay texts, as they were written."""
    root = ET.Element("worksheet", xmlns=MAIN)
    data = ET.SubElement(root, "sheetData")
    if len(table) > MAX_ROWS or max(map(len, table), default=0) > MAX_COLUMNS:
        raise DataError("a table is too large for an Excel sheet; use --format tables")
    for number, row in enumerate(table, 1):
        element = ET.SubElement(data, "row", r=str(number))
        for column, regions in enumerate(row):
            if text := clean(text_of_cell(regions)):
                if len(text) > MAX_CHARACTERS:
                    raise DataError(
                        "the text of a line or cell is longer than Excel allows; use --format csv or tables"
                    )
                doubtful = any(word.doubtful for region in regions for line in region.lines for word in line.words)
                place = {"r": f"{letters(column)}{number}", "t": "inlineStr", "s": str(DOUBTFUL * doubtful)}
                of_text = ET.SubElement(ET.SubElement(element, "c", place), "is")
                ET.SubElement(of_text, "t", {"xml:space": "preserve"}).text = text
    return as_file(root)


def letters(column: int) -> str:
    """The name of a column: A to Z, AA and on."""
    name = ""
    while column >= 0:
        column, letter = column // 26 - 1, chr(ord("A") + column % 26)
        name = letter + name
    return name
