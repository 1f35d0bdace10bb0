"""Transcribed lines with their readings, in the form of an index; queries on them; and text search in the readings.

With more lines, a word has more false hits, so other `IndexedLines` are searched with those that are judged.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from drethtr.base.arrays import Booleans, Floats, Ints
from drethtr.base.errors import DataError
from drethtr.bulk.indexing import open_results, rows_of
from drethtr.datasets.open import open_all
from drethtr.datasets.sample import Sample, clean_lines, page_of
from drethtr.language.languages import Languages
from drethtr.language.ngrams import NGrams
from drethtr.recognition.confidence.logistic import Logistic
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer
from drethtr.search.automaton import automaton_of
from drethtr.search.forward import probabilities
from drethtr.search.packed import PackedLines
from drethtr.search.query import Spelling, pattern_of, words_of
from drethtr.search.records import stored_confidence
from drethtr.text.tokenizer import Tokenizer

FOLDED = Spelling()

PAGE = 25
"""Lines packed together, like those of a page."""


@dataclass(frozen=True)
class IndexedLines:
    """L lines in the form of an index.

    words        the folded words of each transcription
    confidences  (L,) of the readings, in 255ths
    packed       the posteriors, some lines at a time
    """

    words: Sequence[frozenset[str]]
    confidences: NDArray[np.uint8]
    packed: Sequence[PackedLines]

    @classmethod
    def of_batch(cls, folder: str, recognizer: Recognizer) -> Self:
        """The clean lines in the results of `drethtr batch --posteriors` on transcribed lines.

        Raises:
            DataError: if they have no posteriors or texts, or were read by another model.
        """
        results, job = open_results(folder)
        if job["model"] != recognizer.model.hash:
            raise DataError("read by another model, so its lines are not comparable", folder)
        rows = [row for part in sorted(results.parts()) for row in rows_of(folder, part)]
        samples = clean_lines(open_all(sorted({row["input"] for row in rows})))
        words = {sample.key: frozenset(folded_words(sample.text)) for sample in samples}
        keys = [f"{row['input']} row {row['row']}" for row in rows]
        known = [(words[key], row) for key, row in zip(keys, rows, strict=True) if key in words and not row["error"]]
        lines = [PackedLines.from_bytes(row["posteriors"]).line(0) for _, row in known]
        return cls(
            [of_line for of_line, _ in known],
            stored_confidences([row["confidence"] for _, row in known]),
            [PackedLines.of(lines[start : start + PAGE]) for start in range(0, len(lines), PAGE)],
        )

    @classmethod
    def joined(cls, parts: Sequence["IndexedLines"]) -> Self:
        """Concatenate lines."""
        return cls(
            [words for part in parts for words in part.words],
            np.concatenate([stored_confidences([]), *(part.confidences for part in parts)]),
            [lines for part in parts for lines in part.packed],
        )

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def steps(self) -> NDArray[np.uint16]:
        """(L,) steps of each line."""
        return np.concatenate([np.empty(0, np.uint16), *(lines.sizes for lines in self.packed)])

    @property
    def stored_bytes(self) -> int:
        """The bytes of their posteriors in an index."""
        return sum(len(lines.content) for lines in self.packed)

    def search(self, queries: Sequence[str]) -> "SearchResults":
        """Search these lines for at least one word."""
        # Without wildcards, since words are drawn from texts, where a question mark is not a pattern.
        automata = [automaton_of(pattern_of(query, FOLDED, plain=True), FOLDED) for query in queries]
        chances = np.stack([probabilities(self.packed, automaton)[:, 0] for automaton in automata])
        relevant = np.array([[query in words for words in self.words] for query in queries], dtype=np.bool_)
        return SearchResults(queries, relevant.reshape(len(queries), len(self)), chances)


def folded_words(text: str) -> list[str]:
    """The words of a text, folded."""
    return words_of(FOLDED.fold(text))


def stored_confidences(confidences: Sequence[float]) -> NDArray[np.uint8]:
    """Confidences of readings, as stored in an index."""
    return np.array(list(map(stored_confidence, confidences)), dtype=np.uint8)


class ReadWord(NamedTuple):
    """A word of a reading, folded, with its confidence."""

    text: str
    confidence: float


class SearchResults(NamedTuple):
    """The results of queries on some lines.

    relevant  (Q, L) whether the query is on the line
    chances   (Q, L) the sum over all readings of the line
    """

    queries: Sequence[str]
    relevant: Booleans
    chances: Floats


@dataclass(frozen=True)
class LabeledLines:
    """L transcribed lines with their readings."""

    samples: Sequence[Sample]
    readings: Sequence[Reading]

    @cached_property
    def truths(self) -> list[frozenset[str]]:
        """The folded words of each transcription."""
        return [frozenset(folded_words(sample.text)) for sample in self.samples]

    @cached_property
    def read(self) -> list[list[ReadWord]]:
        """The folded words of each reading."""
        return [
            [ReadWord(part, word.confidence) for word in reading.words() for part in folded_words(word.text)]
            for reading in self.readings
        ]

    @cached_property
    def indexed(self) -> IndexedLines:
        """The lines in the form of an index."""
        kept = [reading.posteriors for reading in self.readings if reading.posteriors is not None]
        packed = [PackedLines.of(kept[start : start + PAGE]) for start in range(0, len(kept), PAGE)]
        return IndexedLines(self.truths, stored_confidences([reading.confidence for reading in self.readings]), packed)

    @cached_property
    def pages(self) -> Ints:
        """(L,) the number of the page of each line; a line of unknown page is one."""
        names = [page_of(sample) or place for place, sample in enumerate(self.samples)]
        known = {name: number for number, name in enumerate(dict.fromkeys(names))}
        return np.array([known[name] for name in names], dtype=np.int64)

    def __len__(self) -> int:
        return len(self.samples)

    def of(self, places: Sequence[int]) -> "LabeledLines":
        """Some of the lines."""
        return LabeledLines([self.samples[place] for place in places], [self.readings[place] for place in places])

    def by_set(self) -> dict[str, "LabeledLines"]:
        """The lines of each set, by name."""
        places: dict[str, list[int]] = defaultdict(list)
        for place, sample in enumerate(self.samples):
            places[sample.set].append(place)
        return {name: self.of(some) for name, some in sorted(places.items())}


LanguageModel: TypeAlias = tuple[Tokenizer, Languages]

MIN_LETTERS = 3
"""Minimum letters of a query."""

BEGINNING = 3
"""Letters that a made-up word shares with a real one, so that it is of the same language."""

MAX_LETTERS = 24
"""Maximum letters of a made-up word."""

TRIES = 20
"""Maximum attempts to make up a word that does not occur."""


def queries_of(lines: LabeledLines, model: LanguageModel) -> list[str]:
    """All distinct words of the lines that are long enough, and as many that do not occur.

    Raises:
        DataError: if there are no words.
    """
    occurring = sorted({word for words in lines.truths for word in words if len(word) >= MIN_LETTERS})
    if not occurring:
        raise DataError(f"none of {len(lines)} lines has a word of {MIN_LETTERS} letters to search for")
    return [*occurring, *made_up(occurring, {word for words in lines.truths for word in words}, model)]


def made_up(words: Sequence[str], known: set[str], model: LanguageModel) -> list[str]:
    """For each word, a made-up one with the same beginning, continued with n-grams, that is not in `known`."""
    rng = np.random.default_rng(0)
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


EDITS = 2
"""Maximum edits between a query and a match of fuzzy search."""


def exact_scores(queries: Sequence[str], lines: LabeledLines) -> Floats:
    """(Q, L) the highest confidence of a word that equals the query, 0 if there is none."""
    best = [
        {word.text: max(w.confidence for w in words if w.text == word.text) for word in words} for words in lines.read
    ]
    return np.array([[of_line.get(query, 0.0) for of_line in best] for query in queries])


def fuzzy_features(queries: Sequence[str], lines: LabeledLines) -> Floats:
    """(Q, L, 4) similarity, edits and confidence of the most similar word, and letters of the query.

    Similarity is 0 if no word is at most `EDITS` away.
    """
    found = np.zeros((len(queries), len(lines), 4))
    known: dict[tuple[str, str], int] = {}
    for row, query in enumerate(queries):
        found[row, :, 3] = len(query)
        for column, words in enumerate(lines.read):
            for word in words:
                pair = (query, word.text)
                if pair not in known:
                    known[pair] = Levenshtein.distance(*pair, score_cutoff=EDITS)
                edits = known[pair]
                similarity = 1 - edits / max(len(query), len(word.text))
                if edits <= EDITS and (similarity, word.confidence) > (found[row, column, 0], found[row, column, 2]):
                    found[row, column, :3] = similarity, edits, word.confidence
    return found


def fuzzy_scores(queries: Sequence[str], lines: LabeledLines, weights: Logistic) -> Floats:
    """(Q, L) the probability that the most similar word is the query, 0 if none is similar."""
    features = fuzzy_features(queries, lines)
    scores = weights(features.reshape(-1, features.shape[2])).reshape(features.shape[:2])
    found: Floats = np.where(features[:, :, 0] > 0, scores, 0.0)
    return found
