"""The three published conventions of what a word is, for word error rates."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeAlias

Words: TypeAlias = Callable[[str], list[str]]

APART = "!\"#%&'()*+,-./:;<=>?[]_{}°—€"
"""The signs that HTR-VT, VAN and DAN separate from words; not others such as “, ’ or –."""


def between_spaces(text: str) -> list[str]:
    """Words separated by white space, with attached punctuation; as counted by `jiwer`."""
    return text.split()


def with_punctuation_apart(text: str) -> list[str]:
    """Words separated by white space, with each of the signs in `APART` as a word of its own."""
    apart = (f" {character} " if character in APART else character for character in text)
    return "".join(apart).split()


# Of Unicode's word break classes: L letter, N digit, I ideograph, m inside letters, n inside numbers, b inside both,
# _ joins, x belongs to the character before it, k is a word by itself.
MIDDLES = {
    **dict.fromkeys(":\u00b7\u0387\u055f\u05f4\u2027\ufe13\ufe55\uff1a", "m"),
    **dict.fromkeys(",;\u037e\u0589\u060c\u060d\u066c\u07f8\u2044\ufe10\ufe14\ufe50\ufe54\uff0c\uff1b", "n"),
    **dict.fromkeys(".'\u2018\u2019\u2024\ufe52\uff07\uff0e", "b"),
    "\u202f": "_",
    "\u200b": "o",
}
CLASSES = {**dict.fromkeys(("Lu", "Ll", "Lt", "Lm", "Lo", "Nl", "Co"), "L"), "Nd": "N", "Pc": "_", "No": "k", "Cn": "k"}
"""By Unicode category; dinglehopper treats private-use characters (Co) as letters."""
EXTENDING = ("Mn", "Mc", "Me", "Cf")
ALONE = ("CJK ", "HIRAGANA", "THAI", "LAO ", "KHMER", "MYANMAR")
WORD = re.compile(r"(?:Lx*(?:[mb]x*(?=L))?|Nx*(?:[nb]x*(?=N))?|_x*)+|Ix*|kx*")


def by_unicode(text: str) -> list[str]:
    """Words by the default rules of Unicode Annex 29, without those that are only punctuation; as in dinglehopper."""
    classes = "".join(map(class_of, text))
    found = (match.span() for match in WORD.finditer(classes))
    return [text[start:end] for start, end in found if not set(classes[start:end]) <= {"_", "x"}]


@lru_cache(maxsize=4096)
def class_of(character: str) -> str:
    """The word break class of a character, `o` for characters outside words."""
    if character in MIDDLES:
        return MIDDLES[character]
    category = unicodedata.category(character)
    if category in EXTENDING:
        return "x"
    if category == "Lo" and unicodedata.name(character, "").startswith(ALONE):
        return "I"
    return CLASSES.get(category, "o")


WORD_CONVENTIONS: Mapping[str, Words] = {
    "wer": between_spaces,
    "wer_punctuation": with_punctuation_apart,
    "wer_unicode": by_unicode,
}
"""The JSON name of each rate, with its definition of words."""
