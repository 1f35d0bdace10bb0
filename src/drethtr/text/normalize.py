"""Text normalization by pure functions from str to str; and editorial marks in texts."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TypeAlias

Normalization: TypeAlias = Callable[[str], str]
"""Turns the text of a line in a file into the text to learn or compare."""

SOFT_HYPHEN = "\u00ad"
AT_LINE_END = re.compile(r"(?<![-\u00ad])\u00ad+(?=[^\S\n]*(?:\n|\Z))")

JOINERS = "\u200c\u200d"
JOINED = re.compile(
    "(ARABIC|SYRIAC|MANDAIC|NKO|MONGOLIAN|DEVANAGARI|BENGALI|GURMUKHI|GUJARATI|ORIYA|TAMIL|TELUGU|KANNADA|MALAYALAM"
    "|SINHALA|TIBETAN|MYANMAR|KHMER|BALINESE|JAVANESE) "
)
"""Scripts in which a joiner changes how letters are written, by the beginnings of the names of their letters."""

SEEN = re.compile("[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd\U00013430-\U0001343f]")
"""Visible signs of category Cf: around numbers and verses, and between hieroglyphs."""


def nfc(text: str) -> str:
    """Normalize to NFC: accented letters as one code point where Unicode has one."""
    return unicodedata.normalize("NFC", text)


def as_written(text: str) -> str:
    """Return the text unchanged, to inspect its original form."""
    return text


def fold_spaces(text: str) -> str:
    """Replace every run of white space, as defined by Unicode, by one space, and strip both ends."""
    return " ".join(text.split())


def visible(text: str) -> str:
    """Remove invisible characters: soft hyphens, direction marks, zero-width spaces (category Cf).

    Joiners are kept in scripts that need them, and so are visible signs that Unicode assigns to this category. A soft
    hyphen at the end of a line is visible, as a hyphen.
    """
    if text.isascii():
        return text
    kept: list[str] = []
    for character in text:
        if character in JOINERS:
            if kept and JOINED.match(unicodedata.name(kept[-1], "")):
                kept.append(character)
        elif not is_invisible(character) or character == SOFT_HYPHEN:
            kept.append(character)
    return AT_LINE_END.sub("-", "".join(kept)).replace(SOFT_HYPHEN, "")


@lru_cache(maxsize=4096)
def is_invisible(character: str) -> bool:
    """Whether a character is never visible: of category Cf, but not one of its few visible signs."""
    return unicodedata.category(character) == "Cf" and not SEEN.match(character)


def for_scoring(text: str) -> str:
    """Normalize for comparison: NFC, visible characters, collapsed white space; case and punctuation stay."""
    return fold_spaces(nfc(visible(text)))


MARK = re.compile(
    r"\[[\s.…?!*#_–—-]*\]"  # [...] [?] [---]
    r"|\[[^\[\]]*\?\s*\]"  # [word?]
    r"|\[!?(?:gap|unclear|illegible|unleserlich|illisible|illeggibile|sic|omitted|deleted|blank|lost)\b[^\[\]]*\]"
    r"|\(\s*\?+\s*\)"  # (?)
    r"|#{3,}"  # ###
    r"|</?[a-z][^<>]*>",  # <unk> <del> <gap/>
    re.IGNORECASE,
)

TAGS = frozenset({"unclear", "gap", "sic", "supplied", "illegible", "blackening", "omission"})
"""Tags of Transkribus, and labels in ALTO, on passages that are uncertain, missing, corrected or added by an editor."""


def marks_in(text: str, tags: Iterable[str] = ()) -> list[str]:
    """The editorial marks in a text and among its tags; no model should learn such a line.

    Words in other brackets are not marks, since they may be on the page.
    """
    return [*(found[0] for found in MARK.finditer(text)), *sorted(TAGS.intersection(tags))]
