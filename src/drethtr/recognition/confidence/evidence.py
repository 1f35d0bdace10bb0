"""Evidence about a text, from the outputs of the network."""

from collections.abc import Hashable, Sequence
from itertools import starmap

import numpy as np
from rapidfuzz.distance import Levenshtein

from drethtr.base.arrays import Booleans, Floats
from drethtr.language.languages import NO_LANGUAGE, Languages
from drethtr.recognition.decoding.ctc_search import CTCPath
from drethtr.recognition.decoding.decoded import Decoded, Entropies, LogProbs, View
from drethtr.recognition.protocol import Dimensions
from drethtr.recognition.reading import Evidence
from drethtr.text.tokenizer import BLANK

Features = Floats

READING_FEATURES = 3
"""Number of features that `reading_features` gives."""


def gather(view: View, found: Sequence[Decoded], languages: Languages = NO_LANGUAGE) -> list[tuple[Evidence, ...]]:
    """Evidence for each token of the text found on each line of a view."""
    surprises = [languages.surprises(decoded.tokens) if languages else [0.0] * len(decoded.tokens) for decoded in found]
    if view.ctc is None:
        return [
            tuple(Evidence(own, surprise=lost) for own, lost in zip(decoded.confidences, losses, strict=True))
            for decoded, losses in zip(found, surprises, strict=True)
        ]
    lines = zip(found, surprises, view.ctc.lines, view.ctc.entropies, strict=True)
    return [gather_line(*line, view.ctc.steps_per_token) for line in lines]


def gather_line(
    decoded: Decoded, surprises: Sequence[float], scores: LogProbs, entropies: Entropies, steps: int
) -> tuple[Evidence, ...]:
    """Evidence for each token of a text.

    Args:
        scores: CTC log-probabilities (S, V).
        entropies: Of each step, (S,).
        steps: CTC steps per image token.
    """
    if not decoded.tokens:
        return ()
    agreeing = in_both(decoded.tokens, decoded.tokens if decoded.draft is None else decoded.draft.tokens).tolist()
    # Tokens may share a step or end beyond the last one; each gets at least one step.
    first, last = (np.array(decoded.spans) * steps).round().astype(int).T
    first = np.minimum(first, len(scores) - 1)
    last = np.maximum(last, first + 1)
    # The margin is taken where the token peaks: CTC emits blanks around its spike, where any margin is noise.
    spans = zip(decoded.tokens, first.tolist(), last.tolist(), strict=True)
    peaks = [begin + int(scores[begin:end, token].argmax()) for token, begin, end in spans]
    each, tokens = np.arange(len(peaks)), np.array(decoded.tokens)
    others = scores[peaks]
    own = others[each, tokens]
    others[each, tokens] = others[:, BLANK] = -np.inf
    margins = (own - others.max(1)).tolist()
    entropy = np.concatenate([[0.0], entropies.cumsum()])
    inside = (entropy[last] - entropy[first]).tolist()
    return tuple(starmap(Evidence, zip(decoded.confidences, margins, agreeing, inside, surprises, strict=True)))


def in_both(tokens: Sequence[Hashable], others: Sequence[Hashable]) -> Booleans:
    """Which of the tokens, characters or words a shortest edit script leaves unchanged, (tokens,)."""
    kept = np.zeros(len(tokens), dtype=np.bool_)
    for block in Levenshtein.opcodes(others, tokens):
        if block.tag == "equal":
            kept[block.dest_start : block.dest_end] = True
    return kept


def feature_count(dimensions: Dimensions) -> int:
    """Number of line features of a network with these dimensions."""
    return dimensions.features + (READING_FEATURES if dimensions.steps_per_token is not None else 0)


def line_features(view: View) -> Features:
    """Out-of-distribution features of each line, (B, features): how clearly it reads, mean key and mean value."""
    mean, ctc = view.memory.mean.astype(np.float64), view.ctc
    return mean if ctc is None else np.column_stack([list(map(reading_features, ctc.paths, ctc.entropies)), mean])


def reading_features(path: CTCPath, entropies: Entropies) -> tuple[float, float, float]:
    """Mean confidence of the characters, logarithm of the entropy per character, and characters per step."""
    number = len(path.tokens)
    sure = float(np.exp(path.token_log_probabilities).mean()) if number else 0.0
    entropy = float(entropies.sum()) / max(number, 1)
    # Avoids log(0) where the network is entirely certain of a line.
    return sure, float(np.log(entropy + 0.01)), number / len(entropies)
