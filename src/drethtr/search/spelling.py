"""Folding: spellings that count as equal, such as those of older hands, become the same letters."""

import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from drethtr.text.normalize import nfc, visible

HYPHENS = frozenset("-‐‑–—¬=⸗")
"""Signs that break a word at the end of a line; older hands write two strokes."""

ALIKE = str.maketrans({"ſ": "s", "v": "u", "j": "i", "y": "i", "ß": "ss", "œ": "oe", "æ": "ae", "ø": "o", "ı": "i"})
"""Letters that older hands interchange, in lower case and without accents."""


@dataclass(frozen=True)
class Spelling:
    """How letters are compared: `strict`, or ignoring case, accents and variants of older spellings."""

    strict: bool = False

    def fold(self, text: str) -> str:
        """The folded letters and signs of a text; some characters become two, or none."""
        return nfc(text) if self.strict else folded(text)


@lru_cache(maxsize=1 << 16)
def folded(text: str) -> str:
    """A text without case, accents and variants of older spellings."""
    plain = unicodedata.normalize("NFKD", text.replace("ſ", "s").casefold())
    return "".join(c for c in plain if not unicodedata.category(c).startswith("M")).translate(ALIKE)


@lru_cache(maxsize=1 << 12)
def is_letter(symbol: str) -> bool:
    """Whether a character is part of words: letters, digits, combining marks, and unreadable characters."""
    return unicodedata.category(symbol)[0] in "LNM" or symbol == "\ufffd"


def words_of(text: str) -> list[str]:
    """The words of a text, without punctuation."""
    return "".join(c if is_letter(c) else " " for c in nfc(visible(text))).split()
