"""One spelling for texts that look alike: pure functions from str to str."""

import unicodedata
from collections.abc import Callable
from typing import TypeAlias

Spelling: TypeAlias = Callable[[str], str]
"""How texts are spelled when they are read from a file."""


def nfc(text: str) -> str:
    """Write accents as one code point where Unicode has one (normalization form C)."""
    return unicodedata.normalize("NFC", text)


def as_written(text: str) -> str:
    """Leave a text as it is, to look at how it was written."""
    return text


def fold_spaces(text: str) -> str:
    """Make every run of white space one space, and none at the ends; Unicode says what white space is."""
    return " ".join(text.split())


def for_scoring(text: str) -> str:
    """The form in which texts are compared: NFC, white space folded; case and punctuation stay."""
    return fold_spaces(nfc(text))
