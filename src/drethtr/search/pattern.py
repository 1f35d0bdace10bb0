"""Patterns: one word or several consecutive ones, with wildcards."""

from dataclasses import dataclass
from typing import TypeAlias

from drethtr.base.errors import ConfigError
from drethtr.search.spelling import Spelling, is_letter, words_of

ANY, STAR, NEARLY = "?", "*", "~"

MAX_LETTERS = 100
"""Maximum letters of a pattern."""

MIN_NEARLY_LENGTH = 3
"""Minimum letters of a word with `~`."""

Item: TypeAlias = str
"""A folded letter, `ANY` for one letter, or `STAR` for any number of them."""


@dataclass(frozen=True)
class WordPattern:
    """A word: its letters, and the number of edits by which a match may differ."""

    items: tuple[Item, ...]
    edits: int = 0

    @property
    def letters(self) -> str:
        """Its letters, without wildcards."""
        return "".join(item for item in self.items if item not in (ANY, STAR))


@dataclass(frozen=True)
class Pattern:
    """One word or several consecutive ones; `text` is what the user typed."""

    text: str
    words: tuple[WordPattern, ...]

    @property
    def letters(self) -> str:
        """The letters of all words."""
        return "".join(word.letters for word in self.words)


def pattern_of(text: str, spelling: Spelling, *, plain: bool = False) -> Pattern:
    """Parse a pattern: words with `?`, `*`, and `~` before or after them.

    Args:
        plain: Treat these signs as separators of words, for words from a text.

    Raises:
        ConfigError: if it has no letters or too many, or `~` at a word that is too short.
    """
    words = []
    for part in words_of(text) if plain else parts_of(text):
        nearly = NEARLY in part
        items = [
            item
            for character in part
            for item in (character if character in (ANY, STAR) else letters_of(character, spelling))
        ]
        word = WordPattern(tuple(items), int(nearly))
        if nearly and len(word.letters) < MIN_NEARLY_LENGTH:
            raise ConfigError(f"{part!r}: ~ needs a word of at least {MIN_NEARLY_LENGTH} letters")
        words.append(word)
    pattern = Pattern(text, tuple(words))
    if not words or not all(word.letters for word in words):
        raise ConfigError(f"{text[:60]!r} has no letters to search for; give at least one in each word")
    if sum(len(word.items) for word in words) > MAX_LETTERS:
        raise ConfigError(f"{text[:30]!r}… is too long; search for at most {MAX_LETTERS} letters at once")
    return pattern


def parts_of(text: str) -> list[str]:
    """The words of a pattern with their wildcards; other signs separate words, as they do on a line."""
    kept = (c if is_letter(c) or c in (ANY, STAR, NEARLY) else " " for c in text)
    return [part for part in "".join(kept).split() if part.strip(NEARLY)]


def letters_of(character: str, spelling: Spelling) -> str:
    """The folded letters of a character, without signs that folding may produce."""
    return "".join(symbol for symbol in spelling.fold(character) if is_letter(symbol))
