"""The query language: words and "phrases", AND (or nothing), OR, -not; `?`, `*` and `~` in words.

OR binds more tightly than AND: `mill river OR brook` needs a mill, and a river or a brook. Spellings that count as
equal, such as those of older hands, are folded to the same letters, in queries as on lines.
"""

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from drethtr.base.errors import ConfigError
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
    plain = unicodedata.normalize("NFKD", text.replace("ſ", "s").casefold()).casefold()  # again, for №
    return "".join(c for c in plain if not unicodedata.category(c).startswith("M")).translate(ALIKE)


@lru_cache(maxsize=1 << 12)
def is_letter(symbol: str) -> bool:
    """Whether a character is part of words: letters, digits, combining marks, and unreadable characters."""
    return unicodedata.category(symbol)[0] in "LNM" or symbol == "\ufffd"


def words_of(text: str, signs: Collection[str] = ()) -> list[str]:
    """The words of a text, without punctuation, but with some signs."""
    return "".join(c if is_letter(c) or c in signs else " " for c in nfc(visible(text))).split()


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
    # Other signs separate words, as they do on a line.
    for part in words_of(text, () if plain else (ANY, STAR, NEARLY)):
        if not part.strip(NEARLY):
            continue  # a ~ by itself
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


def letters_of(character: str, spelling: Spelling) -> str:
    """The folded letters of a character, without signs that folding may produce."""
    return "".join(symbol for symbol in spelling.fold(character) if is_letter(symbol))


MAX_LENGTH = 1000
"""Maximum characters of a query."""

MAX_TERMS = 20
"""Maximum words and phrases of a query."""

MAX_NEARLY_LETTERS = 100
"""Maximum letters of its words with `~`, which take a second of preparation."""

PARTS = re.compile(r'(-?)(?:["“”„«»]([^"“”„«»]*)["“”„«»]?|(\S+))')
"""A phrase in any quotation marks, or a word; with an optional minus."""

AND, OR = "AND", "OR"


@dataclass(frozen=True)
class Term:
    """A pattern that must occur, or must not."""

    pattern: Pattern
    wanted: bool = True


@dataclass(frozen=True)
class Query:
    """A parsed query: one term of each group must match."""

    text: str
    groups: tuple[tuple[Term, ...], ...]
    spelling: Spelling

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms, in the order of their groups."""
        return tuple(term for group in self.groups for term in group)


def parse(text: str, spelling: Spelling = Spelling()) -> Query:  # a value
    """Parse a query.

    Raises:
        ConfigError: if it is empty, too long, has only excluded terms, or has a word that cannot be searched for.
    """
    if len(text) > MAX_LENGTH:
        raise ConfigError(f"the query has {len(text):,} characters; give at most {MAX_LENGTH:,}")
    groups: list[list[Term]] = []
    joins = False
    for minus, phrase, word in PARTS.findall(text):
        if word in (AND, OR) and not minus and groups:
            joins = word == OR
            continue
        if not any(map(is_letter, word or phrase)):
            continue  # a dash or a quotation mark by itself
        term = Term(pattern_of(word or phrase, spelling), wanted=not minus)
        if joins:
            groups[-1].append(term)
        else:
            groups.append([term])
        joins = False
    query = Query(text, tuple(map(tuple, groups)), spelling)
    if len(query.terms) > MAX_TERMS:
        raise ConfigError(f"the query has {len(query.terms)} words and phrases; give at most {MAX_TERMS}")
    nearly = sum(len(word.letters) for term in query.terms for word in term.pattern.words if word.edits)
    if nearly > MAX_NEARLY_LETTERS:
        raise ConfigError(f"the words with ~ have {nearly} letters together; give at most {MAX_NEARLY_LETTERS}")
    if not groups:
        raise ConfigError(f"{text[:60]!r} has no letters to search for")
    if not any(all(term.wanted for term in group) for group in query.groups):
        raise ConfigError(f"{text[:60]!r} excludes words but includes none; add a word without a minus")
    return query


def unclosed(text: str) -> str | None:
    """The phrase at the end of a query whose quotation mark is not closed, None if all are."""
    for found in PARTS.finditer(text):
        if found[2] is not None and found.end() == found.end(2) and any(map(is_letter, found[2])):
            return found[2].strip()
    return None
