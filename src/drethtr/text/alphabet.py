"""How an alphabet changes when a model goes on to other texts, and which known character a new one looks like."""

import unicodedata
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from drethtr.base.errors import ConfigError
from drethtr.text.normalize import nfc
from drethtr.text.tokenizer import Characters, Tokenizer

RELATIVES = dict(zip("ſ’‘“”„–—¬œæ", 's\'\'"""---oa', strict=True))
"""Characters that look like another, which Unicode does not tell."""


def relative(character: str, known: Container[str]) -> str | None:
    """The known character that another one looks most like: without its accents, else in the other case."""
    return next((like for like in looks(character) if like and like in known), None)


def looks(character: str) -> Iterator[str]:
    """Characters that one looks like, the most similar first, and some empty texts."""
    for form in (character, character.swapcase()):
        if len(form) != 1:  # a token of several characters, or ß, which is SS in the other case
            continue
        yield form
        yield RELATIVES.get(form, "")
        plain = [unicodedata.normalize(kind, form)[:1] for kind in ("NFD", "NFKD")]
        yield from (*plain, unstroked(form))
        yield from (RELATIVES.get(like, "") for like in plain)


def unstroked(character: str) -> str:
    """The letter under a stroke, hook or bar that Unicode does not take apart: `ø` is an `o`."""
    letter, mark, _ = unicodedata.name(character, "").partition(" WITH ")
    try:
        return unicodedata.lookup(letter) if mark else ""
    except KeyError:
        return ""


@dataclass(frozen=True)
class AlphabetChange:
    """From one alphabet to another.

    tokenizer   the alphabet after it
    added       new characters and how often the texts have them, most frequent first
    rare        characters that are too rare in the texts to be added: they stay unknown
    dropped     characters taken away, for no line has them
    """

    tokenizer: Tokenizer
    added: Mapping[str, int]
    rare: Mapping[str, int]
    dropped: str = ""

    @classmethod
    def between(
        cls,
        known: Tokenizer,
        texts: Iterable[str],
        others: Iterable[str] = (),
        *,
        minimum: int = 1,
        drop_unused: bool = False,
        change: bool = True,
    ) -> Self:
        """What `texts` ask of an alphabet.

        Args:
            others: Texts to read, not to learn from: they add nothing, but nothing that they have is dropped.
            minimum: How often a new character must occur to be added.
            drop_unused: Take away what none has.
            change: False leaves the alphabet as it is; all that is new then counts as rare.

        Raises:
            ConfigError: if the alphabet must change and is not one of single characters.
        """
        counts = Counter(character for text in texts for character in nfc(text))
        new = Counter({character: counts[character] for character in known.count_unknown(counts)})
        added = {character: n for character, n in new.most_common() if change and n >= minimum}
        rare = {character: n for character, n in new.most_common() if character not in added}
        if not added and not (drop_unused and change):
            return cls(known, {}, rare)
        if not isinstance(known, Characters):
            raise ConfigError("a model that writes more than single characters keeps its alphabet; train a new one")
        used = set(counts).union(*map(nfc, others))
        dropped = "".join(c for c in known.characters if c not in used) if drop_unused else ""
        after = set(known.characters).difference(dropped).union(added)
        return cls(Characters("".join(sorted(after))), added, rare, dropped)

    def origin(self, character: str) -> str | None:
        """The known character that a new one begins as; None where none is alike."""
        kept = self.tokenizer.decode(range(self.tokenizer.size))
        return relative(character, set(kept).difference(self.added))
