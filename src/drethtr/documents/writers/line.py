"""Write images of single lines: a row of a table, or a JSON object with all details of the reading."""

import json
from typing import Any

from drethtr.documents.document import Document
from drethtr.documents.transcription import Transcription
from drethtr.documents.writers.text import one_line

TABLE_HEADER = b"file\ttext\tconfidence\tflags\tmade by\n"


def write_line_table(document: Document) -> bytes:
    """Write a line as a table of one row."""
    return TABLE_HEADER + line_table_row(document)


def line_table_row(document: Document) -> bytes:
    """The row of a line in a table with `TABLE_HEADER`."""
    line = transcription_in(document)
    flags = "; ".join(map(str, line.flags))
    confidence = f"{line.confidence or 0:.4f}"
    cells = (one_line(document.name), one_line(line.text), confidence, one_line(flags), str(document.provenance))
    return ("\t".join(cells) + "\n").encode("utf-8", "replace")


def write_line_json(document: Document) -> bytes:
    """Write a line as an indented JSON object."""
    return (json.dumps(content_of(document), ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")


def line_json_row(document: Document) -> bytes:
    """A line as a JSON object in one row."""
    return (json.dumps(content_of(document), ensure_ascii=False) + "\n").encode("utf-8", "replace")


def content_of(document: Document) -> dict[str, Any]:
    """The details of the reading, with the name of the file and the provenance."""
    [sheet] = document.sheets
    return {"file": document.name, **sheet.details, "made_by": document.provenance.to_json()}


def transcription_in(document: Document) -> Transcription:
    """The transcription of the only line of a document."""
    [page] = document.pages
    [line] = page.lines
    assert line.transcription is not None
    return line.transcription
