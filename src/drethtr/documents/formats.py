"""`FORMATS`: the formats in which pages can be written, and `LINE_FORMATS`: those of images of single lines."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from io import BytesIO
from typing import NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile

from drethtr.base.archive import portable
from drethtr.base.config import named
from drethtr.base.errors import ConfigError
from drethtr.documents.alto.writer import write_alto
from drethtr.documents.document import Document
from drethtr.documents.json import line_json_row, write_json, write_line_json
from drethtr.documents.markdown import write_markdown, write_prose
from drethtr.documents.names import folded, free_name
from drethtr.documents.page_xml.writer import write_page_xml
from drethtr.documents.writers.docx import write_docx, write_word_prose
from drethtr.documents.writers.hocr import write_hocr
from drethtr.documents.writers.iiif import write_iiif
from drethtr.documents.writers.pdf import write_pdf, write_pdf_a
from drethtr.documents.writers.print import write_print
from drethtr.documents.writers.table import (
    LINE_COLUMNS,
    line_table_row,
    write_cells,
    write_line_table,
    write_table,
    write_tags,
)
from drethtr.documents.writers.tei import write_tei
from drethtr.documents.writers.text import text_rows, write_text, write_text_with_doubts
from drethtr.documents.writers.view import write_view
from drethtr.documents.writers.xlsx import write_xlsx


class Format(NamedTuple):
    """A format in which pages can be written.

    ending    file extension
    media     MIME type
    write     returns the content of a file
    together  whether all pages of a document go into one file; otherwise `write` takes one page at a time, see
              `Document.apart`
    printed   whether it makes sense to print it to a terminal or pipe
    doubts    whether it marks doubtful words
    row       writes a document as rows that can follow those of other files on a screen; None if it cannot
    header    what precedes such rows, once
    """

    ending: str
    media: str
    write: Callable[[Document], bytes]
    together: bool
    printed: bool = True
    doubts: bool = True
    row: Callable[[Document], bytes] | None = None
    header: bytes = b""

    def archive(self, files: Iterable[tuple[str, bytes]]) -> bytes:
        """A ZIP file of files in this format, given by their names without the ending; equal names are numbered."""
        archive, names = BytesIO(), set[str]()
        with ZipFile(archive, "w", ZIP_DEFLATED) as opened:
            for name, content in files:
                opened.writestr(f"{free_name(portable(name), names, folded)}{self.ending}", content)
        return archive.getvalue()


ZIP = "application/zip"
EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

FORMATS: Mapping[str, Format] = {
    "txt": Format(".txt", "text/plain", write_text, together=True, doubts=False, row=text_rows),
    "md": Format(".md", "text/markdown", write_markdown, together=True),
    "docx": Format(".docx", WORD, write_docx, together=True, printed=False),
    "prose": Format(".prose.md", "text/markdown", write_prose, together=True, doubts=False),
    "word": Format(".prose.docx", WORD, write_word_prose, together=True, printed=False, doubts=False),
    "print": Format(".prose.pdf", "application/pdf", write_print, together=True, printed=False, doubts=False),
    "page": Format(".page.xml", "application/xml", write_page_xml, together=False),
    "alto": Format(".alto.xml", "application/xml", write_alto, together=False),
    "tei": Format(".tei.xml", "application/tei+xml", write_tei, together=True),
    "hocr": Format(".hocr", "text/html", write_hocr, together=True, doubts=False),
    "json": Format(".json", "application/json", write_json, together=False),
    "iiif": Format(".iiif.json", "application/ld+json", write_iiif, together=False),
    "csv": Format(".csv", "text/csv", write_table, together=True),
    "tables": Format(".tables.csv", "text/csv", write_cells, together=True, doubts=False),
    "tags": Format(".tags.csv", "text/csv", write_tags, together=True, doubts=False),
    "xlsx": Format(".xlsx", EXCEL, write_xlsx, together=True, printed=False),
    "html": Format(".html", "text/html", write_view, together=False, printed=False),
    "pdf": Format(".pdf", "application/pdf", write_pdf, together=True, printed=False, doubts=False),
    "pdfa": Format(".pdf", "application/pdf", write_pdf_a, together=True, printed=False, doubts=False),
}

TEXT_WITH_DOUBTS = FORMATS["txt"]._replace(
    write=write_text_with_doubts, doubts=True, row=partial(text_rows, write=write_text_with_doubts)
)
"""Text with marked doubts."""

TSV = "text/tab-separated-values"

LINE_FORMATS: Mapping[str, Format] = {
    "txt": FORMATS["txt"],
    "json": Format(".json", "application/json", write_line_json, together=False, row=line_json_row),
    "tsv": Format(".tsv", TSV, write_line_table, together=False, doubts=False, row=line_table_row, header=LINE_COLUMNS),
}
"""The formats of images of single lines; `json` has another form than that of pages."""


def formats_named(names: Iterable[str], known: Mapping[str, Format] = FORMATS) -> dict[str, Format]:
    """Formats by their names, each once.

    Raises:
        ConfigError: if one is unknown, or two have the same extension.
    """
    formats = {name: named("format", name, known) for name in map(str.strip, names)}
    owners: dict[str, str] = {}
    for name, format in formats.items():
        if (owner := owners.setdefault(format.ending, name)) != name:
            raise ConfigError(
                f"{owner} and {name} are both written to files ending in {format.ending}; choose one of them"
            )
    return formats
