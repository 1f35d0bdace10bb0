"""The base class of tokenizers, and `Characters`, which has one token per character.

Ids 0-3 are the same in every tokenizer.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Self

from drethtr.base.errors import ConfigError
from drethtr.text.normalize import nfc

# Beginning of text, padding, end of text, unknown character.
BOS, PAD, EOS, UNK = range(4)
SPECIALS = 4

BLANK = PAD
"""The blank of CTC; it can share the id of padding, which no text contains."""


class Tokenizer(ABC):
    """Converts text to ids and back; a frozen dataclass of plain fields, stored with the model's weights."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of ids, including the four special ones."""

    @property
    @abstractmethod
    def alphabet(self) -> str:
        """The characters that texts may contain."""

    @abstractmethod
    def encode(self, text: str) -> list[int]:
        """Convert text to the ids of its NFC form, without `BOS` and `EOS`; unknown characters become `UNK`."""

    @abstractmethod
    def decode(self, ids: Iterable[int]) -> str:
        """Convert ids to text; special ids are skipped."""

    def count_unknown(self, texts: Iterable[str]) -> Counter[str]:
        """Count the characters that `encode` cannot express."""
        counts = count_characters(texts)
        return Counter({character: n for character, n in counts.items() if UNK in self.encode(character)})


@dataclass(frozen=True)
class Characters(Tokenizer):
    """One token per code point; `characters` are sorted and have the ids from 4 on.

    Raises:
        ConfigError: if `characters` are not sorted, or one occurs twice.
    """

    characters: str

    def __post_init__(self) -> None:
        for before, after in pairwise(self.characters):
            if before >= after:
                raise ConfigError(f"characters must be sorted and unique, but {after!r} follows {before!r}")

    @classmethod
    def learn(cls, texts: Iterable[str], minimum: int = 1) -> Self:
        """Collect the characters that occur at least `minimum` times in `texts`; use training texts only."""
        counts = count_characters(texts)
        return cls("".join(sorted(character for character, n in counts.items() if n >= minimum)))

    @property
    def size(self) -> int:
        return SPECIALS + len(self.characters)

    @property
    def alphabet(self) -> str:
        return self.characters

    @cached_property
    def ids(self) -> dict[str, int]:
        return numbered(self.characters)

    def encode(self, text: str) -> list[int]:
        return [self.ids.get(character, UNK) for character in nfc(text)]

    def decode(self, ids: Iterable[int]) -> str:
        return spelled(self.characters, ids)


def count_characters(texts: Iterable[str]) -> Counter[str]:
    """Count the characters of texts in NFC."""
    return Counter(character for text in texts for character in nfc(text))


def numbered(tokens: Sequence[str]) -> dict[str, int]:
    """The id of each token, starting after the special ids."""
    return {token: number for number, token in enumerate(tokens, start=SPECIALS)}


def spelled(tokens: Sequence[str], ids: Iterable[int]) -> str:
    """Join the tokens of ids; special ids are skipped."""
    return "".join(tokens[number - SPECIALS] for number in ids if number >= SPECIALS)
