"""Decode the output of a CTC head for one line: the best path, the best texts, the alignment of a text.

Shapes, everywhere in this file:
    log_probs  (S, V), log-probabilities of V tokens at each of S steps; at most 0, -inf is allowed
Source: Graves et al., Connectionist Temporal Classification, ICML 2006; prefix search after Hannun et al.,
arXiv 1408.2873.
"""

from collections.abc import Sequence
from heapq import heapify, heapreplace
from itertools import pairwise
from math import exp, inf, log1p
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from drethtr.base.arrays import Booleans, Floats, Ints
from drethtr.base.native import native
from drethtr.language.languages import BONUS_PER_TOKEN, NO_LANGUAGE_MODEL, WeightedLanguages, WeightedNGrams
from drethtr.language.ngrams import State
from drethtr.text.tokenizer import BLANK, BOS, EOS

SURE = -1e-3
"""Blanks with a higher log-probability are certain.

This skips a third of all steps, and the four best texts stay the same; from a probability of 0.995 on they differ
(LOG.md, 2026-11-24, later)."""


class CTCPath(NamedTuple):
    """A text and the steps of its tokens.

    tokens                   without blanks and repetitions
    token_log_probabilities  of each token, the highest of its steps
    spans                    first step of each token, and the step after its last
    """

    tokens: tuple[int, ...]
    token_log_probabilities: tuple[float, ...]
    spans: tuple[tuple[int, int], ...]


def best_path(log_probs: NDArray[np.float32]) -> CTCPath:
    """The likeliest token at every step, repetitions joined and blanks dropped."""
    steps = len(log_probs)
    if not steps:
        return CTCPath((), (), ())
    tokens = log_probs.argmax(1)
    values = log_probs[np.arange(steps), tokens]
    # No token is -1, so that the first step begins a run, too.
    starts = np.flatnonzero(np.diff(tokens, prepend=-1))
    ends = np.append(starts[1:], steps)
    surest = np.maximum.reduceat(values, starts)
    real = tokens[starts] != BLANK
    spans = zip(starts[real].tolist(), ends[real].tolist(), strict=True)
    return CTCPath(tuple(tokens[starts][real].tolist()), tuple(surest[real].tolist()), tuple(spans))


class CTCText(NamedTuple):
    """A text, its log-probability summed over paths, and its score: that plus the weighted language model."""

    tokens: tuple[int, ...]
    log_probability: float
    score: float


def prefix_search(
    log_probs: NDArray[np.float32],
    *,
    beams: int = 10,
    tokens_per_step: int = 8,
    margin: float = inf,
    language_model: WeightedNGrams = NO_LANGUAGE_MODEL,
) -> list[CTCText]:
    """The likeliest texts of a line, best first; the probability of a text is the sum over all its paths.

    Args:
        beams: Prefixes kept at every step, and the maximum number of texts returned.
        tokens_per_step: Number of likeliest tokens that may extend prefixes at a step.
        margin: Prefixes with a score this much below the best are dropped. A finite margin also skips the steps of
            `nothing_new`, which lowers log-probabilities by some hundredths.
        language_model: A language model whose scores count during the search.
    """
    rows = np.ascontiguousarray(log_probs, dtype=np.float32)
    if native is None:
        return prefix_search_in_python(rows, beams, tokens_per_step, margin, language_model)
    table = language_model.ngrams.table if language_model.ngrams is not None and language_model.active else None
    limits = beams, tokens_per_step, margin
    found = native.prefix_search(
        rows, rows.shape[1], BLANK, *limits, language_model.weight, BONUS_PER_TOKEN, (BOS, EOS), table
    )
    return [CTCText(*text) for text in found]


def search_languages(
    log_probs: NDArray[np.float32],
    language_models: WeightedLanguages,
    draft: Sequence[int],
    *,
    beams: int,
    tokens_per_step: int = 8,
    margin: float = inf,
) -> list[CTCText]:
    """The likeliest texts of a line in any of the languages that its best path, `draft`, may be in, best first."""
    found = dict[tuple[int, ...], CTCText]()
    for language_model in language_models.near(draft):
        for text in prefix_search(
            log_probs, beams=beams, tokens_per_step=tokens_per_step, margin=margin, language_model=language_model
        ):
            # Several languages may propose one text; the language that finds it likeliest decides.
            known = found.setdefault(text.tokens, text)
            if text.score > known.score:
                found[text.tokens] = text
    return sorted(found.values(), key=attrgetter("score"), reverse=True)[:beams]


def prefix_search_in_python(
    log_probs: NDArray[np.float32],
    beams: int,
    tokens_per_step: int,
    margin: float,
    language_model: WeightedNGrams,
) -> list[CTCText]:
    """The definition of `prefix_search`."""
    rows = log_probs.astype(np.float64)
    idle = nothing_new(rows[:, BLANK]) & (margin < inf)
    skipped, rows = float(rows[idle, BLANK].sum()), rows[~idle]
    root = Prefix(token=BLANK, before=None)
    # Before the first token every step is a blank, the skipped ones included.
    root.in_blank = root.total = skipped
    kept = [root]
    for row, growth in zip(rows, likeliest(rows, tokens_per_step), strict=True):
        if kept:  # or no token was possible at a step before
            kept = advance(kept, row.data, growth, beams, margin, language_model)
    return sorted((prefix.text(language_model) for prefix in kept), key=attrgetter("score"), reverse=True)


def nothing_new(blanks: Floats) -> Booleans:
    """The steps (S,) at which the blank is certain, as at the step before: they only change the sum."""
    sure = blanks > SURE
    sure[1:] &= sure[:-1].copy()
    return sure


def likeliest(rows: Floats, number: int) -> list[list[tuple[int, float]]]:
    """The likeliest tokens of each step with their log-probabilities, best first, without the blank."""
    left = rows.copy()
    left[:, BLANK] = -inf
    every, tokens, gains = np.arange(len(rows)), [], []
    for _ in range(min(number, rows.shape[1])):
        best = left.argmax(1)
        tokens.append(best)
        gains.append(left[every, best])
        left[every, best] = -inf
    pairs = zip(np.stack(tokens, 1).tolist(), np.stack(gains, 1).tolist(), strict=True)
    return [list(zip(*pair, strict=True)) for pair in pairs]


class Prefix:
    """The prefix of a text: its last token and the prefix before that; all prefixes form a tree.

    in_blank         log-probability that the steps so far read as this prefix, and the last one is a blank
    in_token         log-probability that they do, and the last one is the last token
    total            sum of both
    language_score   weighted score of the tokens by the language model
    extended_scores  the same with one more token, cached: most tokens of a step come again at the next
    state            of the language model after the tokens, computed when needed
    """

    __slots__ = (
        "after",
        "before",
        "extended_scores",
        "in_blank",
        "in_token",
        "language_score",
        "state",
        "token",
        "total",
    )

    def __init__(self, token: int, before: "Prefix | None", language_score: float = 0.0) -> None:
        self.token = token
        self.before = before
        self.after: dict[int, Prefix] = {}
        self.in_blank = self.in_token = self.total = -inf
        self.language_score = language_score
        self.extended_scores: dict[int, float] = {}
        self.state: State | None = None

    @property
    def score(self) -> float:
        """The score by which prefixes are ranked."""
        return self.total + self.language_score

    def language_state(self, language_model: WeightedNGrams) -> State:
        """The state of the language model after the tokens."""
        if self.state is None:
            if self.before is None:
                self.state = language_model.start
            else:
                self.state = language_model.state_after(self.before.language_state(language_model), self.token)
        return self.state

    def language_score_with(self, token: int, language_model: WeightedNGrams) -> float:
        """The score of the tokens and one more by the language model."""
        score = self.extended_scores.get(token)
        if score is None:
            gain = language_model.score(self.language_state(language_model), token)
            score = self.extended_scores[token] = self.language_score + gain
        return score

    def text(self, language_model: WeightedNGrams) -> CTCText:
        """The prefix as a whole text."""
        end = self.language_score_with(EOS, language_model)
        tokens, prefix = [], self
        while prefix.before is not None:
            tokens.append(prefix.token)
            prefix = prefix.before
        return CTCText(tuple(reversed(tokens)), self.total, self.total + end)


def advance(
    kept: list[Prefix],
    row: memoryview,
    growth: list[tuple[int, float]],
    beams: int,
    margin: float,
    language_model: WeightedNGrams,
) -> list[Prefix]:
    """The prefixes kept after one more step, best first; `growth` are the step's `likeliest` tokens.

    Prefixes stay before any of them grows: probability that a prefix passes to a longer one already kept is counted in
    `stay`, and must not be counted again. The scores of those that stay also set the bar for those that grow, so most
    are dropped before the language model is asked. Probabilities are replaced last, as growing needs the old ones.
    """
    stays = [stay(prefix, row) for prefix in kept]
    scores = [total + prefix.language_score for prefix, (_, _, total) in zip(kept, stays, strict=True)]
    floor = max(scores) - margin
    leaders = [max(score, floor) for score in scores] + [floor] * (beams - len(stays))
    heapify(leaders)  # the best scores so far; whatever does not beat the lowest of them is dropped
    grown: list[tuple[float, float, Prefix, int]] = []
    most = language_model.max_score
    for prefix in kept:
        for token, gain in growth:
            if prefix.score + gain + most <= leaders[0]:
                break  # gains fall from here on, and no language score exceeds `most`
            made = gain + (prefix.in_blank if prefix.token == token else prefix.total)
            # `stay` has added this to the longer prefix, which is already kept.
            if token in prefix.after and prefix.after[token].total > -inf:
                continue
            score = made + prefix.language_score_with(token, language_model)
            if score > leaders[0]:
                grown.append((score, made, prefix, token))
                heapreplace(leaders, score)
    for prefix, masses in zip(kept, stays, strict=True):
        prefix.in_blank, prefix.in_token, prefix.total = masses
    children = [
        begin(prefix, token, made, language_model) for score, made, prefix, token in grown if score >= leaders[0]
    ]
    ranked = sorted(kept + children, key=attrgetter("score"), reverse=True)
    survivors = [prefix for prefix in ranked[:beams] if prefix.score > max(ranked[0].score - margin, floor)]
    for prefix in ranked[len(survivors) :]:
        prefix.in_blank = prefix.in_token = prefix.total = -inf
    return survivors


def stay(prefix: Prefix, row: memoryview) -> tuple[float, float, float]:
    """`in_blank`, `in_token` and `total` after a step that keeps the prefix, or extends the previous one to it."""
    in_blank = prefix.total + row[BLANK]
    in_token = prefix.in_token + row[prefix.token]
    before = prefix.before
    if before is not None and before.total > -inf:
        # Only a blank separates a repeated token from a longer one.
        made = row[prefix.token] + (before.in_blank if before.token == prefix.token else before.total)
        in_token = log_add(in_token, made)
    return in_blank, in_token, log_add(in_blank, in_token)


def begin(before: Prefix, token: int, made: float, language_model: WeightedNGrams) -> Prefix:
    """The prefix extended by a token, now kept."""
    if token not in before.after:
        before.after[token] = Prefix(token, before, before.language_score_with(token, language_model))
    prefix = before.after[token]
    prefix.in_token = prefix.total = made
    return prefix


def log_add(a: float, b: float) -> float:
    """log(exp(a) + exp(b))."""
    low, high = (a, b) if a < b else (b, a)
    return high if low == -inf else high + log1p(exp(low - high))


def align(log_probs: NDArray[np.float32], tokens: Sequence[int]) -> CTCPath:
    """The likeliest path of `tokens` through a line.

    If there is none, because there are too many tokens or one is impossible, they share the steps evenly.
    """
    rows = np.ascontiguousarray(log_probs, dtype=np.float32)
    text = np.array(tokens, dtype=np.int64)
    path = viterbi(rows, text)
    spans = even_spans(len(rows), len(text)) if path is None else spans_of(path, len(text))
    surest = (rows[first:last, token].max(initial=-inf) for token, (first, last) in zip(tokens, spans, strict=True))
    return CTCPath(tuple(tokens), tuple(map(float, surest)), tuple(spans))


def spans_of(path: NDArray[np.int32], tokens: int) -> list[tuple[int, int]]:
    """The spans of the tokens on a path of labels."""
    labels = 2 * np.arange(tokens) + 1
    firsts, lasts = np.searchsorted(path, labels), np.searchsorted(path, labels, side="right")
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


def viterbi(rows: NDArray[np.float32], tokens: Ints) -> NDArray[np.int32] | None:
    """The label of each step on the likeliest path, counted as blank, token, blank, …, blank; None if there is none."""
    if native is None:
        return viterbi_in_python(rows, tokens)
    path = np.empty(len(rows), dtype=np.int32)
    return path if native.viterbi(rows, rows.shape[1], tokens.astype(np.int32), BLANK, path) else None


def viterbi_in_python(rows: NDArray[np.float32], tokens: Ints) -> NDArray[np.int32] | None:
    """The definition of `viterbi`."""
    if len(tokens) > len(rows):
        return None  # vectorized over labels, in memory that does not grow with the text
    labels = np.full(2 * len(tokens) + 1, BLANK)
    labels[1::2] = tokens
    emissions = rows[:, labels].astype(np.float64)
    # A path may skip the blank between two tokens, unless they are equal: repeated without a blank, they are one token.
    from_token = np.full(len(labels), -inf)
    from_token[3::2] = np.where(tokens[1:] != tokens[:-1], 0, -inf)
    scores = np.full(len(labels), -inf)
    scores[:1] = 0
    options = np.full((3, len(labels)), -inf)
    moves = np.empty(emissions.shape, dtype=np.int64)
    for step, emission in enumerate(emissions):
        options[0] = scores
        options[1, 1:] = scores[:-1]
        options[2, 2:] = scores[:-2] + from_token[2:]
        moves[step] = options.argmax(0)
        scores = options.max(0) + emission
    # A path ends in the last token or in the blank after it, in the token if both are equally likely.
    place = len(labels) - 1 - int(scores[-2:].argmax() == 0 and len(tokens) > 0)
    if scores[place] == -inf:
        return None
    path = np.empty(len(rows), dtype=np.int32)
    for step in range(len(rows) - 1, -1, -1):
        path[step] = place
        place -= moves[step, place]
    return path


def even_spans(steps: int, tokens: int) -> list[tuple[int, int]]:
    """Spans of equal length, at least one step each, which overlap if there are more tokens than steps."""
    edges = [steps * token // tokens for token in range(tokens + 1)] if tokens else [0]
    return [(first, min(max(last, first + 1), steps)) for first, last in pairwise(edges)]
