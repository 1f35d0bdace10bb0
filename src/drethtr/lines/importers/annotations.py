"""XML annotations of data sets, read without trusting the file."""

from pathlib import Path
from typing import NoReturn
from xml.etree import ElementTree
from xml.parsers import expat

from drethtr.base.errors import DataError


def annotations(path: Path) -> ElementTree.Element:
    """The root element of a file; a document type may be named, as IAM does, but none is fetched.

    Raises:
        DataError: if it cannot be read, is not well-formed, in an unknown encoding, or declares entities.
    """

    def refuse(*_: object) -> NoReturn:
        raise DataError(f"{path}: refused: it declares entities, which may grow without bounds")

    builder = ElementTree.TreeBuilder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(path.read_bytes(), True)
    except (LookupError, ValueError) as error:
        raise DataError(f"{path}: in an encoding that is not understood ({error}); save it as UTF-8") from error
    except expat.ExpatError as error:
        raise DataError(f"{path}: not well-formed XML: {error}") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
    return builder.close()
