"""Read pages from PAGE XML, ALTO and JSON; write them in these formats, TEI, text, HTML, PDF and others.

    from drethtr.documents import read_page
    texts = {line.id: line.text for line in read_page("0001.xml").lines}

page.py, transcription.py, points.py  a page, the text of a line, and their positions
document.py, formats.py               the input of writers; all formats by name
read.py, json.py                      read any description of a page; our JSON format
page_xml/, alto/                      the XML formats: a reader, a writer and an editor each
markup.py, editor.py, page_file.py    XML with the positions of its elements, edited without changing any other byte
update.py                             add texts to such a file
writers/                              the other formats, a module each
html.py, markdown.py, reflow.py       parts that several formats share
running_text.py                       text without positions, from files of any origin
beside.py, names.py                   which files belong together; names of files
"""

from typing import TYPE_CHECKING

from drethtr.base.lazy import names_of

if TYPE_CHECKING:
    from drethtr.documents.beside import image_beside
    from drethtr.documents.document import Canvas, Document, Provenance, Scan, Sheet
    from drethtr.documents.formats import FORMATS, Format
    from drethtr.documents.page import CellPlace, Page, Region, TextLine
    from drethtr.documents.points import Box, Point, Points
    from drethtr.documents.read import read_page
    from drethtr.documents.transcription import PageFlag, PageWord, Review, Tag, Transcription
else:
    __getattr__ = names_of(__name__, "beside", "document", "formats", "page", "points", "read", "transcription")

__all__ = [
    "FORMATS",
    "Box",
    "Canvas",
    "CellPlace",
    "Document",
    "Format",
    "Page",
    "PageFlag",
    "PageWord",
    "Point",
    "Points",
    "Provenance",
    "Region",
    "Review",
    "Scan",
    "Sheet",
    "Tag",
    "TextLine",
    "Transcription",
    "image_beside",
    "read_page",
]
