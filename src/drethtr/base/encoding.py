"""Text files in UTF-8, with or without a byte order mark, or in UTF-16 with one (Windows); JSON from other programs."""

import json
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path
from typing import Any

from drethtr.base.errors import DataError

SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a character: JSON can contain it, as "\\ud800", but no file or response in UTF-8 can."""


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


def json_in(text: str | bytes) -> Any:
    """Parse JSON, with U+FFFD for each half of a character.

    Raises:
        ValueError: if it is not valid JSON.
        RecursionError: if it is nested too deeply.
    """
    return json.loads(SURROGATE.sub("\ufffd", json.dumps(json.loads(text), ensure_ascii=False)))
