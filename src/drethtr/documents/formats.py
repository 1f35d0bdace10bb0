"""`FORMATS`: the formats in which pages can be written."""

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import NamedTuple

from drethtr.base.errors import MissingExtraError
from drethtr.documents.document import Document
from drethtr.documents.writers.alto import write_alto
from drethtr.documents.writers.hocr import write_hocr
from drethtr.documents.writers.json import write_json
from drethtr.documents.writers.page_xml import write_page_xml
from drethtr.documents.writers.pdf import write_pdf
from drethtr.documents.writers.table import write_table
from drethtr.documents.writers.text import write_text
from drethtr.documents.writers.view import write_view


class Format(NamedTuple):
    """A format: file extension, writer, and whether all pages of a document go `together` into one file.

    If not, the writer takes documents of one page, as made by `Document.apart`. `media` is the MIME type. `package` is
    a
    required package of the extra `page`.
    """

    ending: str
    media: str
    write: Callable[[Document], bytes]
    together: bool
    package: str = ""

    def refuse_missing(self) -> None:
        """Check that the package for this format is installed, before any work begins.

        Raises:
            MissingExtraError: if it is not.
        """
        if self.package and find_spec(self.package) is None:
            raise MissingExtraError(self.package, "page")


FORMATS: Mapping[str, Format] = {
    "txt": Format(".txt", "text/plain", write_text, together=True),
    "page": Format(".page.xml", "application/xml", write_page_xml, together=False),
    "alto": Format(".alto.xml", "application/xml", write_alto, together=False),
    "hocr": Format(".hocr", "text/html", write_hocr, together=True),
    "json": Format(".json", "application/json", write_json, together=False),
    "csv": Format(".csv", "text/csv", write_table, together=True),
    "html": Format(".html", "text/html", write_view, together=False),
    "pdf": Format(".pdf", "application/pdf", write_pdf, together=True, package="pikepdf"),
}
