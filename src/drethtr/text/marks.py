"""Marks of editors: what people write into a text, or tag in it, that is not on the page or could not be read."""

import re
from collections.abc import Iterable

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
    """The marks of editors in a text, and those among its tags; no model should learn such a line.

    Words in other brackets are no marks, since they may be on the page.
    """
    return [*(found[0] for found in MARK.finditer(text)), *sorted(TAGS.intersection(tags))]
