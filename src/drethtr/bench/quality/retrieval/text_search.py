"""Search the readings as text, for comparison: exactly, or fuzzily up to some edits."""

from collections.abc import Sequence

import numpy as np
from rapidfuzz.distance import Levenshtein

from drethtr.bench.quality.retrieval.lines import LabeledLines
from drethtr.evaluation.confidence import Floats
from drethtr.recognition.confidence.logistic import Logistic

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
