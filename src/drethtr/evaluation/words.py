"""What a word is: the three customs in which word error rates are published.

`Gaitskell's "3.5" (no.)` has three words between white space, twelve with punctuation apart, three by Unicode.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeAlias

Words: TypeAlias = Callable[[str], list[str]]

APART = "!\"#%&'()*+,-./:;<=>?[]_{}°—€"
"""The signs that HTR-VT, VAN and DAN tell from the words they stand at; no others, such as “, ’ or –."""


def between_spaces(text: str) -> list[str]:
    """Words between white space, punctuation glued to them; what `jiwer` counts."""
    return text.split()


def with_punctuation_apart(text: str) -> list[str]:
    """The same, with each of those signs a word of its own."""
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
"""By category; Co, for private use, are letters to dinglehopper."""
EXTENDING = ("Mn", "Mc", "Me", "Cf")
ALONE = ("CJK ", "HIRAGANA", "THAI", "LAO ", "KHMER", "MYANMAR")
WORD = re.compile(r"(?:Lx*(?:[mb]x*(?=L))?|Nx*(?:[nb]x*(?=N))?|_x*)+|Ix*|kx*")


def by_unicode(text: str) -> list[str]:
    """Words by the default rules of Unicode Annex 29, those of punctuation alone left out; what dinglehopper counts."""
    classes = "".join(map(class_of, text))
    found = (match.span() for match in WORD.finditer(classes))
    return [text[start:end] for start, end in found if not set(classes[start:end]) <= {"_", "x"}]


@lru_cache(maxsize=4096)
def class_of(character: str) -> str:
    """The word break class of a character, `o` for all that no word holds."""
    if character in MIDDLES:
        return MIDDLES[character]
    category = unicodedata.category(character)
    if category in EXTENDING:
        return "x"
    if category == "Lo" and unicodedata.name(character, "").startswith(ALONE):
        return "I"
    return CLASSES.get(category, "o")


CUSTOMS: Mapping[str, Words] = {
    "wer": between_spaces,
    "wer_punctuation": with_punctuation_apart,
    "wer_unicode": by_unicode,
}
"""Each rate's name in JSON, and its words."""
