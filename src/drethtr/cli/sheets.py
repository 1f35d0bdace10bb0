"""The pages of a file that is a document: read, and written or shown as sheets of it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from drethtr.base.errors import DataError
from drethtr.cli.line_formats import one_line
from drethtr.cli.outputs import is_there, write_bytes
from drethtr.cli.shelf import ReadPage
from drethtr.cli.work import Work, report

if TYPE_CHECKING:
    from drethtr.documents.document import Provenance, Sheet
    from drethtr.documents.formats import Format


def read_sheets(work: Work, read: ReadPage, reader: str, provenance: "Provenance") -> "list[Sheet | None]":
    """The pages of a file, None where one cannot be read, after saying why; `reader` decides about their text."""
    from drethtr.documents.document import Sheet

    sheets: list[Sheet | None] = []
    for original in work.originals:
        try:
            page = read(original) if work.shelf is None else work.shelf.page(original, read, reader, provenance)
        except DataError as error:
            report(error)
            sheets.append(None)
        else:
            sheets.append(Sheet(page, original.scan(), original.source.number))
    return sheets


def write_all(
    work: Work,
    sheets: "Sequence[Sheet | None]",
    provenance: "Provenance",
    formats: "Mapping[str, Format]",
    *,
    force: bool,
) -> None:
    """Write what is not there yet, or everything if forced, and anew what lacks pages that are known by now.

    Then remove the shelf; it stays while a page is missing anywhere, so that the next run reads no more than that.

    Raises:
        DataError: if something cannot be written.
    """
    from drethtr.documents.document import Document
    from drethtr.images.page import is_pdf

    there = tuple(sheet for sheet in sheets if sheet is not None)
    lost = [original for original, sheet in zip(work.originals, sheets, strict=True) if sheet is None]
    missing = frozenset(str(original.source.number) for original in lost)
    for name, paths in work.targets.items():
        if formats[name].together or len(sheets) == 1:
            pdf = work.path if len(there) == len(sheets) and is_pdf(work.path) else None
            parts = [(paths[0], Document(there, provenance, pdf))]
        else:
            known = (path for path, sheet in zip(paths, sheets, strict=True) if sheet is not None)
            parts = [(path, Document((sheet,), provenance)) for path, sheet in zip(known, there, strict=True)]
        lacking = missing if formats[name].together else frozenset()
        for path, document in parts:
            if force or not is_there(path) or lacking < work.lacking(path):
                content = formats[name].write(document)
                if work.shelf is None:
                    write_bytes(path, content)
                else:
                    work.shelf.write(path, content, lacking)
    if work.shelf is not None and not missing:
        work.shelf.remove()


def on_screen(work: Work, sheets: "Sequence[Sheet]", provenance: "Provenance", format: "Format", *, alone: bool) -> str:
    """What a file would hold; text of one file among several as rows that name it."""
    from drethtr.documents.document import Document

    document = Document(tuple(sheets), provenance)
    if format.ending == ".txt" and not alone:
        texts = (text for page in document.apart() for text in format.write(page).decode().split("\n")[:-1])
        return "".join(f"{one_line(str(work.path))}\t{one_line(text)}\n" for text in texts)
    parts = (document,) if format.together else document.apart()
    return "".join(format.write(part).decode() for part in parts)
