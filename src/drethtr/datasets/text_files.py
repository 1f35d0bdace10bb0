"""Read the text files of data sets: tables row by row, transcriptions of one line, XML annotations."""

import re
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import NoReturn
from xml.etree import ElementTree
from xml.parsers import expat

from drethtr.base.encoding import decoded, encoding_of
from drethtr.base.errors import DataError
from drethtr.base.links import open_ordinary

NOT_ONE_LINE = "not one line of UTF-8 text"
"""Why a line is left out whose text `read_transcription` refuses."""

ROW_END = re.compile("\r\n?")
"""Ends of rows of Windows and of old Macs."""


def rows_of(path: Path, errors: str = "strict") -> Iterator[tuple[int, str]]:
    """The rows of a text file that are not blank, counted from 1.

    Args:
        errors: How to handle bytes that are not UTF-8, as in `bytes.decode`.

    Raises:
        DataError: if it cannot be read, or is not UTF-8.
    """
    try:
        with open_ordinary(path) as file:
            encoding = encoding_of(file.read(2))
            file.seek(0)
            rows = TextIOWrapper(
                file, encoding=encoding, errors=errors
            )  # not `splitlines`, since U+2028 in a text does not end a row
            for number, row in enumerate(rows, start=1):
                if row.strip():
                    yield number, row.rstrip("\n")
    except UnicodeDecodeError as error:
        raise DataError(f"is not {encoding.removesuffix('-sig').upper()}; save it as UTF-8 ({error})", path) from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from error


def is_quoted(cell: str) -> bool:
    """Whether a cell is quoted as in CSV: in quotation marks, and those inside it doubled."""
    return len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in cell[1:-1].replace('""', "")


def read_transcription(path: Path) -> str:
    """The one line of a text file, without its line ending.

    Raises:
        DataError: if it cannot be read, is not UTF-8 or has more than one line.
    """
    try:
        with open_ordinary(path) as file:
            text = ROW_END.sub("\n", decoded(file.read(), path)).rstrip("\n")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from error
    if "\n" in text:
        raise DataError(f"has {text.count(chr(10)) + 1} lines; expected one line, since the image shows one line", path)
    return text


def read_annotations(path: Path) -> ElementTree.Element:
    """The root element of an XML file; a document type declaration is allowed, as IAM has one, but nothing is fetched.

    Raises:
        DataError: if it cannot be read, is not well-formed, in an unknown encoding, or declares entities.
    """

    def refuse(*_: object) -> NoReturn:
        raise DataError("refused because it declares entities, which can expand without limit", path)

    builder = ElementTree.TreeBuilder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    try:
        with open_ordinary(path) as file:
            parser.ParseFile(file)
    except (LookupError, ValueError) as error:
        raise DataError(f"unknown encoding ({error}); save it as UTF-8", path) from error
    except expat.ExpatError as error:
        raise DataError(f"not well-formed XML: {error}", path) from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from error
    return builder.close()
