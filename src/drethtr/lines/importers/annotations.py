"""Read XML annotations of data sets safely."""

from pathlib import Path
from typing import NoReturn
from xml.etree import ElementTree
from xml.parsers import expat

from drethtr.base.errors import DataError


def annotations(path: Path) -> ElementTree.Element:
    """The root element of a file; a document type declaration is allowed, as IAM has one, but nothing is fetched.

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
        parser.Parse(path.read_bytes(), True)
    except (LookupError, ValueError) as error:
        raise DataError(f"unknown encoding ({error}); save it as UTF-8", path) from error
    except expat.ExpatError as error:
        raise DataError(f"not well-formed XML: {error}", path) from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from error
    return builder.close()
