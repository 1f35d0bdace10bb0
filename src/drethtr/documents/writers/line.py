"""Write transcriptions of line images, as rows of a table or as one file each."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from drethtr.documents.document import Provenance
from drethtr.documents.transcription import Transcription
from drethtr.documents.writers.text import marked

TABLE_HEADER = "file\ttext\tconfidence\tflags\tmade by\n"


class LineEntry(NamedTuple):
    """The transcription of an image file, its details as plain values, and its provenance.

    `made_by` is called only if needed, since naming a model requires hashing its weights.
    """

    path: Path
    transcription: Transcription
    details: Mapping[str, Any]
    made_by: Callable[[], Provenance]


def text_row(entry: LineEntry) -> str:
    """`file<TAB>text`."""
    return f"{one_line(str(entry.path))}\t{one_line(entry.transcription.text)}\n"


def text_file(entry: LineEntry) -> str:
    """The text alone."""
    return f"{entry.transcription.text}\n"


def marked_row(entry: LineEntry) -> str:
    """`file<TAB>text` with marked doubts."""
    return f"{one_line(str(entry.path))}\t{one_line(marked(entry.transcription))}\n"


def marked_file(entry: LineEntry) -> str:
    """The text alone, with marked doubts."""
    return f"{marked(entry.transcription)}\n"


def table_row(entry: LineEntry) -> str:
    """A row of the table with `TABLE_HEADER`."""
    path, line, _, made_by = entry
    flags = "; ".join(map(str, line.flags))
    cells = one_line(str(path)), one_line(line.text), f"{line.confidence or 0:.4f}", one_line(flags), str(made_by())
    return "\t".join(cells) + "\n"


def json_row(entry: LineEntry) -> str:
    """All details as a JSON object in one row."""
    return json.dumps(to_json(entry), ensure_ascii=False) + "\n"


def json_file(entry: LineEntry) -> str:
    """All details as indented JSON."""
    return json.dumps(to_json(entry), ensure_ascii=False, indent=1) + "\n"


def to_json(entry: LineEntry) -> dict[str, Any]:
    """The details with the file name and the provenance."""
    return {"file": str(entry.path), **entry.details, "made_by": entry.made_by().to_json()}


def one_line(text: str) -> str:
    """Replace tabs and line breaks by spaces."""
    return text.replace("\t", " ").replace("\n", " ")
