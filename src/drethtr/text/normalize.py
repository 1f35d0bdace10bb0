"""Text normalization: pure functions from str to str."""

import unicodedata
from collections.abc import Callable
from typing import TypeAlias

Spelling: TypeAlias = Callable[[str], str]
"""A normalization of texts from a file."""


def nfc(text: str) -> str:
    """Normalize to NFC: accented letters as one code point where Unicode has one."""
    return unicodedata.normalize("NFC", text)


def as_written(text: str) -> str:
    """Return the text unchanged, to inspect its original form."""
    return text


def fold_spaces(text: str) -> str:
    """Replace every run of white space, as defined by Unicode, by one space, and strip both ends."""
    return " ".join(text.split())


def for_scoring(text: str) -> str:
    """Normalize for comparison: NFC with collapsed white space; case and punctuation are kept."""
    return fold_spaces(nfc(text))
