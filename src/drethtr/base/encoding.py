"""The encoding of texts that people save: UTF-8, with or without a byte order mark, or UTF-16 with one (Windows)."""

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path

from drethtr.base.errors import DataError


def encoding_of(start: bytes) -> str:
    """The encoding of a text, by its first two bytes; the byte order mark is no part of the decoded text."""
    return "utf-16" if start.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"


def decoded(content: bytes, name: str | Path) -> str:
    """Decode the content of a file.

    Raises:
        DataError: if it is in another encoding.
    """
    encoding = encoding_of(content)
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise DataError(f"is not {encoding.removesuffix('-sig').upper()}; save it as UTF-8 ({error})", name) from error
