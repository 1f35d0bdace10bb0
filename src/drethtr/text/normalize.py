"""Text normalization: pure functions from str to str."""

import unicodedata
from collections.abc import Callable
from typing import TypeAlias

Spelling: TypeAlias = Callable[[str], str]
"""A normalization of texts that are read from a file."""


def nfc(text: str) -> str:
    """Write accents as one code point if Unicode has one (normalization form C)."""
    return unicodedata.normalize("NFC", text)


def as_written(text: str) -> str:
    """Return the text unchanged, to inspect how it was written."""
    return text


def fold_spaces(text: str) -> str:
    """Replace every run of white space, as defined by Unicode, by one space, and strip both ends."""
    return " ".join(text.split())


def for_scoring(text: str) -> str:
    """The form in which texts are compared: NFC with white space collapsed; case and punctuation are kept."""
    return fold_spaces(nfc(text))
