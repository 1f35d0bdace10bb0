"""Queries: words that occur in lines, and made-up ones that do not."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from drethtr.base.errors import DataError
from drethtr.bench.quality.retrieval.crowd import FOLDED, folded_words
from drethtr.bench.quality.retrieval.lines import LabeledLines
from drethtr.language.languages import Languages
from drethtr.language.ngrams import NGrams
from drethtr.text.tokenizer import Tokenizer

LanguageModel: TypeAlias = tuple[Tokenizer, Languages]

MIN_LETTERS = 3
"""Minimum letters of a query."""

BEGINNING = 3
"""Letters that a made-up word shares with a real one, so that it is of the same language."""

MAX_LETTERS = 24
"""Maximum letters of a made-up word."""

TRIES = 20
"""Maximum attempts to make up a word that does not occur."""


def queries_of(lines: LabeledLines, model: LanguageModel, seed: int = 0) -> list[str]:
    """All distinct words of the lines that are long enough, and as many that do not occur.

    Raises:
        DataError: if there are no words.
    """
    occurring = sorted({word for words in lines.truths for word in words if len(word) >= MIN_LETTERS})
    if not occurring:
        raise DataError(f"none of {len(lines)} lines has a word of {MIN_LETTERS} letters to search for")
    return [*occurring, *made_up(occurring, {word for words in lines.truths for word in words}, model, seed)]


def made_up(words: Sequence[str], known: set[str], model: LanguageModel, seed: int) -> list[str]:
    """For each word, a made-up one with the same beginning, continued with n-grams, that is not in `known`."""
    rng = np.random.default_rng(seed)
    tokenizer, languages = model
    ngrams = languages.models[languages.of_texts(map(tokenizer.encode, words))]
    found: dict[str, None] = {}
    for word in words:
        for _ in range(TRIES):
            other = go_on(word[:BEGINNING], tokenizer, ngrams, rng)
            if len(other) >= MIN_LETTERS and other not in known and other not in found:
                found[other] = None
                break
    return list(found)


def go_on(beginning: str, tokenizer: Tokenizer, ngrams: NGrams, rng: np.random.Generator) -> str:
    """A folded word, sampled from n-grams."""
    state = ngrams.start
    for token in tokenizer.encode(f" {beginning}"):
        state = ngrams.after(state, token)
    letters = {token: text for token in range(tokenizer.size) if len(text := FOLDED.fold(tokenizer.decode([token])))}
    word = beginning
    while len(word) < MAX_LETTERS:
        chances = np.exp([ngrams.next(state, token) for token in letters])
        token = list(letters)[int(rng.choice(len(chances), p=chances / chances.sum()))]
        if not folded_words(letters[token]):
            break
        word += letters[token]
        state = ngrams.after(state, token)
    return word
