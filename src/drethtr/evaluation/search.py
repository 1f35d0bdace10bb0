"""Judge the search for words on lines with known text, beside searching the text that was read.

Lines are objects, and each is searched by itself. Three methods are compared: `exact` finds words of the text that was
read, ranked by their confidence; `fuzzy` also words up to two edits away, ranked by a logistic model of similarity,
confidence and length; `search` is what `drethtr search` does.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from drethtr.base.errors import DataError
from drethtr.evaluation.crowd import FOLDED, PAGE, Crowd, folded_words, stored_confidences
from drethtr.evaluation.evaluate import Advance, read_lines
from drethtr.evaluation.retrieval import Retrieval, judge
from drethtr.language.languages import Languages
from drethtr.language.ngrams import NGrams
from drethtr.lines.sample import Sample, page_of
from drethtr.recognition.confidence.logistic import Logistic
from drethtr.recognition.packed import PackedLines
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer
from drethtr.search.probability import Calibration, Candidates
from drethtr.text.tokenizer import Tokenizer

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]

SHORTEST = 3
"""Letters of the shortest word that is searched for."""

EDITS = 2
"""By how many edits fuzzy search goes wrong."""

BEGINNING = 3
"""Letters that a made-up word shares with one that occurs, so that it is of the same language."""

LONGEST = 24
"""Letters of the longest made-up word."""

TRIES = 20

LanguageModel: TypeAlias = tuple[Tokenizer, Languages]


class ReadWord(NamedTuple):
    """A word of the text that was read, folded, with its confidence."""

    text: str
    confidence: float


class Situation(NamedTuple):
    """Queries and the lines they are put to.

    relevant  (Q, L) whether the query is on the line
    chances   (Q, L) the sum over all readings of the line
    """

    queries: Sequence[str]
    relevant: Truths
    chances: Floats


@dataclass(frozen=True)
class Lines:
    """L lines of known text, as they were read."""

    samples: Sequence[Sample]
    readings: Sequence[Reading]

    @cached_property
    def truths(self) -> list[frozenset[str]]:
        """The folded words of each line."""
        return [frozenset(folded_words(sample.text)) for sample in self.samples]

    @cached_property
    def read(self) -> list[list[ReadWord]]:
        """The folded words of each text that was read."""
        return [
            [ReadWord(part, word.confidence) for word in reading.words() for part in folded_words(word.text)]
            for reading in self.readings
        ]

    @cached_property
    def crowd(self) -> Crowd:
        """The same, as an index keeps them."""
        kept = [reading.posteriors for reading in self.readings if reading.posteriors is not None]
        packed = [PackedLines.of(kept[start : start + PAGE]) for start in range(0, len(kept), PAGE)]
        return Crowd(self.truths, stored_confidences([reading.confidence for reading in self.readings]), packed)

    @cached_property
    def pages(self) -> NDArray[np.int64]:
        """(L,) the number of the page of each line; a line of unknown page is one."""
        names = [page_of(sample) or place for place, sample in enumerate(self.samples)]
        known = {name: number for number, name in enumerate(dict.fromkeys(names))}
        return np.array([known[name] for name in names], dtype=np.int64)

    def __len__(self) -> int:
        return len(self.samples)

    def of(self, places: Sequence[int]) -> "Lines":
        """Some of the lines."""
        return Lines([self.samples[place] for place in places], [self.readings[place] for place in places])

    def with_others(self, others: "Lines") -> "Lines":
        """These lines, then others."""
        return Lines([*self.samples, *others.samples], [*self.readings, *others.readings])

    def by_set(self) -> dict[str, "Lines"]:
        """The lines of each set, by name."""
        places: dict[str, list[int]] = defaultdict(list)
        for place, sample in enumerate(self.samples):
            places[sample.set].append(place)
        return {name: self.of(some) for name, some in sorted(places.items())}

    def situation(self, queries: Sequence[str]) -> Situation:
        """Put queries to these lines."""
        relevant = np.array([[query in words for words in self.truths] for query in queries], dtype=np.bool_)
        chances = np.stack([self.crowd.chances(query) for query in queries])
        return Situation(queries, relevant.reshape(len(queries), len(self)), chances)


def read_for_search(recognizer: Recognizer, samples: Sequence[Sample], advance: Advance | None = None) -> Lines:
    """Read lines; the recognizer must keep posteriors.

    Raises:
        DataError: naming the sample, if an image cannot be used.
    """
    return Lines(samples, read_lines(recognizer, samples, advance))


def queries_of(lines: Lines, model: LanguageModel, seed: int = 0) -> list[str]:
    """All distinct words of the lines that are long enough, and as many that are on none of them.

    Raises:
        DataError: if there are no words.
    """
    occurring = sorted({word for words in lines.truths for word in words if len(word) >= SHORTEST})
    if not occurring:
        raise DataError(f"none of {len(lines)} lines has a word of {SHORTEST} letters to search for")
    return [*occurring, *made_up(occurring, {word for words in lines.truths for word in words}, model, seed)]


def made_up(words: Sequence[str], known: set[str], model: LanguageModel, seed: int) -> list[str]:
    """For each word another one that begins as it does, goes on as n-grams say, and is not known."""
    rng = np.random.default_rng(seed)
    tokenizer, languages = model
    ngrams = languages.models[languages.of_texts(map(tokenizer.encode, words))]
    found: dict[str, None] = {}
    for word in words:
        for _ in range(TRIES):
            other = go_on(word[:BEGINNING], tokenizer, ngrams, rng)
            if len(other) >= SHORTEST and other not in known and other not in found:
                found[other] = None
                break
    return list(found)


def go_on(beginning: str, tokenizer: Tokenizer, ngrams: NGrams, rng: np.random.Generator) -> str:
    """A folded word of n-grams."""
    state = ngrams.start
    for token in tokenizer.encode(f" {beginning}"):
        state = ngrams.after(state, token)
    letters = {token: text for token in range(tokenizer.size) if len(text := FOLDED.fold(tokenizer.decode([token])))}
    word = beginning
    while len(word) < LONGEST:
        chances = np.exp([ngrams.next(state, token) for token in letters])
        token = list(letters)[int(rng.choice(len(chances), p=chances / chances.sum()))]
        if not folded_words(letters[token]):
            break
        word += letters[token]
        state = ngrams.after(state, token)
    return word


def exact_scores(queries: Sequence[str], lines: Lines) -> Floats:
    """(Q, L) the highest confidence of a word that was read as the query, 0 if there is none."""
    best = [
        {word.text: max(w.confidence for w in words if w.text == word.text) for word in words} for words in lines.read
    ]
    return np.array([[of_line.get(query, 0.0) for of_line in best] for query in queries])


def fuzzy_features(queries: Sequence[str], lines: Lines) -> Floats:
    """(Q, L, 4) of the word most similar to the query: similarity, edits, confidence; and letters of the query.

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


def fuzzy_scores(queries: Sequence[str], lines: Lines, weights: Logistic) -> Floats:
    """(Q, L) the probability that the most similar word is the query, 0 if none is similar."""
    features = fuzzy_features(queries, lines)
    scores = weights(features.reshape(-1, features.shape[2])).reshape(features.shape[:2])
    found: Floats = np.where(features[:, :, 0] > 0, scores, 0.0)
    return found


def search_scores(situation: Situation, lines: Lines, calibration: Calibration) -> Floats:
    """(Q, L) the probability that `drethtr search` gives."""
    candidates = candidates_of(lines.crowd)
    rows = zip(situation.queries, situation.chances, strict=True)
    return np.stack([calibration(chances, len(query), candidates) for query, chances in rows])


@dataclass(frozen=True)
class Among:
    """Queries put to the L lines of a set and the C lines of a crowd.

    relevant  (Q, L + C) whether the query is on the line
    chances   (Q, L + C) the sum over all readings of the line
    """

    lines: Lines
    crowd: Crowd
    queries: Sequence[str]
    relevant: Truths
    chances: Floats

    @classmethod
    def of(cls, own: Situation, lines: Lines, crowd: Crowd) -> "Among":
        """The queries of a situation, put to its lines and to others."""
        relevant = np.stack([crowd.having(query) for query in own.queries])
        chances = np.stack([crowd.chances(query) for query in own.queries])
        return cls(lines, crowd, own.queries, np.hstack([own.relevant, relevant]), np.hstack([own.chances, chances]))

    @cached_property
    def stored(self) -> Crowd:
        """All lines."""
        return Crowd.joined([self.lines.crowd, self.crowd])

    def searched(self, row: int, *, without: bool) -> NDArray[np.int64]:
        """The places of the lines to which a query is put: all, or `without` those of the crowd that have it."""
        strange = np.arange(len(self.stored)) >= len(self.lines)
        return np.flatnonzero(~(strange & self.relevant[row]) if without else np.ones(len(strange)))

    def scores(self, calibration: Calibration, *, without: bool) -> Floats:
        """(Q, L + C) the probability that `drethtr search` gives; 0 for lines that are left out."""
        found = np.zeros(self.chances.shape)
        for row, query in enumerate(self.queries):
            places = self.searched(row, without=without)
            found[row, places] = calibration(self.chances[row, places], len(query), candidates_of(self.stored, places))
        return found

    def judge(self, calibration: Calibration, *, without: bool) -> Retrieval:
        """Judge `drethtr search`; the lines of a crowd are of no pages, so there are no intervals."""
        relevant = self.relevant.copy()
        if without:
            relevant[:, len(self.lines) :] = False
        pages = np.zeros(relevant.shape[1], dtype=np.int64)
        return judge(self.scores(calibration, without=without), relevant, pages, probable=True)


def candidates_of(crowd: Crowd, places: NDArray[np.int64] | None = None) -> Candidates:
    """What the calibration needs of lines, or of some of them."""
    which = slice(None) if places is None else places
    return Candidates.of_all(crowd.confidences[which], crowd.steps[which])


@dataclass(frozen=True)
class SearchWeights:
    """What makes probabilities of the features of both methods that need it."""

    search: Calibration
    fuzzy: Logistic


class SetFigures(NamedTuple):
    """How good each method is on the lines of a set.

    queries  of which `occurring` are on one of the lines
    among    `drethtr search` on these lines among `others`, None if there are none
    without  the same among those of the others that do not have the word
    """

    lines: int
    queries: int
    occurring: int
    bytes_per_line: float
    exact: Retrieval
    fuzzy: Retrieval
    search: Retrieval
    others: int
    among: Retrieval | None
    without: Retrieval | None

    def to_json(self) -> dict[str, Any]:
        """The figures in plain values."""
        return {
            name: value.to_json() if isinstance(value, Retrieval) else value for name, value in self._asdict().items()
        }


def figures_of(lines: Lines, crowd: Crowd, model: LanguageModel, weights: SearchWeights) -> SetFigures:
    """Judge all methods on the lines of a set, and the search also among the lines of a crowd."""
    queries = queries_of(lines, model)
    situation = lines.situation(queries)
    methods = {
        "exact": exact_scores(queries, lines),
        "fuzzy": fuzzy_scores(queries, lines, weights.fuzzy),
        "search": search_scores(situation, lines, weights.search),
    }
    judged = {name: judge(scores, situation.relevant, lines.pages, probable=True) for name, scores in methods.items()}
    among = Among.of(situation, lines, crowd) if len(crowd) else None
    return SetFigures(
        lines=len(lines),
        queries=len(queries),
        occurring=int(situation.relevant.any(1).sum()),
        bytes_per_line=lines.crowd.stored_bytes / len(lines),
        others=len(crowd),
        among=None if among is None else among.judge(weights.search, without=False),
        without=None if among is None else among.judge(weights.search, without=True),
        **judged,
    )
