"""Readings of line images as text: one entry of `LINE_FORMATS` for each value of `--format`."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from drethtr.cli.doubts import marked
from drethtr.recognition.reading import is_doubtful

if TYPE_CHECKING:
    from drethtr.documents.document import Provenance
    from drethtr.recognition.reading import Reading


class Entry(NamedTuple):
    """What there is to write: the reading of an image file, and who made it."""

    path: Path
    reading: "Reading"
    made_by: "Provenance"


class LineFormat(NamedTuple):
    """How readings are written.

    header  the first row of the screen or file, if there is one
    row     an entry as one row, for a table of several
    file    the same, for a file or screen of its own
    """

    header: str
    row: Callable[[Entry], str]
    file: Callable[[Entry], str]

    @property
    def is_table(self) -> bool:
        """Whether other commands read what it writes, and look for images from where that lies."""
        return bool(self.header)


def text_row(entry: Entry) -> str:
    """`file<TAB>text`."""
    return f"{one_line(str(entry.path))}\t{one_line(entry.reading.text)}\n"


def text_file(entry: Entry) -> str:
    """The text alone."""
    return f"{entry.reading.text}\n"


def doubts_row(entry: Entry) -> str:
    """`file<TAB>text`, doubts marked."""
    return f"{one_line(str(entry.path))}\t{one_line(with_doubts(entry.reading))}\n"


def doubts_file(entry: Entry) -> str:
    """The text alone, doubts marked."""
    return f"{with_doubts(entry.reading)}\n"


def with_doubts(reading: "Reading") -> str:
    """The text with doubtful words as `[word?]`, and what is odd about the line behind it."""
    return marked(((word.text, is_doubtful(word, reading)) for word in reading.words()), reading.flags)


def table_row(entry: Entry) -> str:
    """As `TABLE` names the cells."""
    path, reading, made_by = entry
    flags = "; ".join(map(str, reading.flags))
    cells = one_line(str(path)), one_line(reading.text), f"{reading.confidence:.4f}", one_line(flags), str(made_by)
    return "\t".join(cells) + "\n"


def json_row(entry: Entry) -> str:
    """All that is known, as an object in one row."""
    return json.dumps(to_json(entry), ensure_ascii=False) + "\n"


def json_file(entry: Entry) -> str:
    """The same, for reading."""
    return json.dumps(to_json(entry), ensure_ascii=False, indent=1) + "\n"


def to_json(entry: Entry) -> dict[str, Any]:
    """A reading in plain values, with the names of the file and of who read it."""
    return {"file": str(entry.path), **entry.reading.to_json(), "made_by": entry.made_by.to_json()}


def one_line(text: str) -> str:
    """The text without what ends a row or a cell."""
    return text.replace("\t", " ").replace("\n", " ")


TABLE = "file\ttext\tconfidence\tflags\tmade by\n"

LINE_FORMATS: Mapping[str, LineFormat] = {
    "txt": LineFormat("", text_row, text_file),
    "json": LineFormat("", json_row, json_file),
    "tsv": LineFormat(TABLE, table_row, table_row),
}

TEXT_WITH_DOUBTS = LineFormat("", doubts_row, doubts_file)
"""What `--doubts` makes of `txt`."""
