"""Change the alphabet of a model for new texts; new characters are initialized from similar known ones."""

import unicodedata
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from drethtr.base.errors import ConfigError
from drethtr.text.normalize import nfc
from drethtr.text.tokenizer import UNK, Characters, Tokenizer, count_characters

RELATIVES = dict(zip("ſ’‘“”„–—¬œæ", 's\'\'"""---oa', strict=True))
"""Similar characters that Unicode does not relate to each other."""

NOT_LEARNED = "written from right to left, but lines are read from left to right; leave out lines with such letters"
"""What is wrong with letters from `right_to_left`."""


def right_to_left(characters: Iterable[str]) -> str:
    """The letters among some characters that are written from right to left, such as Hebrew and Arabic ones."""
    return "".join(character for character in characters if unicodedata.bidirectional(character) in ("R", "AL"))


def relative(character: str, known: Container[str]) -> str | None:
    """The known character most similar to another: without its accents, or in the other case."""
    return next((like for like in looks(character) if like and like in known), None)


def looks(character: str) -> Iterator[str]:
    """Similar characters, most similar first; some may be empty strings."""
    for form in (character, character.swapcase()):
        if len(form) != 1:  # a multi-character token, or ß, whose upper case is SS
            continue
        yield form
        yield RELATIVES.get(form, "")
        plain = [unicodedata.normalize(kind, form)[:1] for kind in ("NFD", "NFKD")]
        yield from (*plain, unstroked(form))
        yield from (RELATIVES.get(like, "") for like in plain)


def unstroked(character: str) -> str:
    """The base letter of a letter with a stroke, hook or bar, which Unicode does not decompose: `o` for `ø`."""
    letter, mark, _ = unicodedata.name(character, "").partition(" WITH ")
    try:
        return unicodedata.lookup(letter) if mark else ""
    except KeyError:
        return ""


@dataclass(frozen=True)
class AlphabetChange:
    """A change from one alphabet to another.

    tokenizer   the new alphabet
    added       new characters and their counts, most frequent first
    rare        new characters too rare to be added, and their counts
    dropped     characters removed because they occur in no line
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
        """The change that `texts` require.

        Args:
            others: Texts whose characters are kept from being dropped, but not added.
            minimum: How often a new character must occur to be added.
            drop_unused: Remove characters that occur in no text.
            change: If false, keep the alphabet; all new characters then count as rare.

        Raises:
            ConfigError: if the alphabet must change but its tokens are not single characters.
        """
        counts = count_characters(texts)
        new = {character: n for character, n in counts.most_common() if UNK in known.encode(character)}
        added = {character: n for character, n in new.items() if change and n >= minimum}
        rare = {character: n for character, n in new.items() if character not in added}
        if not added and not (drop_unused and change):
            return cls(known, {}, rare)
        if not isinstance(known, Characters):
            raise ConfigError("only an alphabet of single characters can change; train a new model")
        used = set(counts).union(*map(nfc, others))
        dropped = "".join(c for c in known.characters if c not in used) if drop_unused else ""
        after = set(known.characters).difference(dropped).union(added)
        return cls(Characters("".join(sorted(after))), added, rare, dropped)

    def origin(self, character: str) -> str | None:
        """The known character that initializes a new one; None if there is no similar one."""
        kept = self.tokenizer.decode(range(self.tokenizer.size))
        return relative(character, set(kept).difference(self.added))
