"""The query language: words and "phrases", AND (or nothing), OR, -not; for wildcards in words see `pattern.py`.

OR binds more tightly than AND: `mill river OR brook` needs a mill, and a river or a brook.
"""

import re
from dataclasses import dataclass

from drethtr.base.errors import ConfigError
from drethtr.search.pattern import Pattern, pattern_of
from drethtr.search.spelling import Spelling, is_letter

MAX_LENGTH = 1000
"""Maximum characters of a query."""

MAX_TERMS = 20
"""Maximum words and phrases of a query."""

MAX_NEARLY_LETTERS = 100
"""Maximum letters of its words with `~`, which take a second of preparation."""

PARTS = re.compile(r'(-?)["“”„«»]([^"“”„«»]*)["“”„«»]?|(\S+)')
"""An optional minus with a phrase in any quotation marks; or a word."""

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


def parse(text: str, spelling: Spelling = Spelling()) -> Query:  # noqa: B008  # a value
    """Parse a query.

    Raises:
        ConfigError: if it is empty, too long, has only excluded terms, or has a word that cannot be searched for.
    """
    if len(text) > MAX_LENGTH:
        raise ConfigError(f"the query has {len(text):,} characters; give at most {MAX_LENGTH:,}")
    groups: list[list[Term]] = []
    joins = False
    for minus, phrase, word in PARTS.findall(text):
        if word in (AND, OR) and groups:
            joins = word == OR
            continue
        if not any(map(is_letter, word or phrase)):
            continue  # a dash or a quotation mark by itself
        term = term_of(word, spelling) if word else Term(pattern_of(phrase, spelling), not minus)
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


def term_of(word: str, spelling: Spelling) -> Term:
    """The term of a word, with or without a minus."""
    minus = word.startswith("-") and len(word) > 1
    return Term(pattern_of(word.removeprefix("-") if minus else word, spelling), not minus)
