"""Read the output of a CTC head: the best path, the best texts, the place of each token.

Shapes, everywhere in this file:
    log_probs  (B, S, V) or (S, V), log-probabilities of V tokens at each of S steps; at most 0, -inf is allowed
    steps      (B,) how many of the steps are not padding
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
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from drethtr.language.ngrams import State
from drethtr.language.voice import SILENT, Voice
from drethtr.text.tokenizer import EOS

SURE = -1e-3
"""A blank of more than this log-probability is beyond doubt."""


class CTCPath(NamedTuple):
    """A text, and the steps on which its tokens stand.

    tokens                   without blanks and repetitions
    token_log_probabilities  of each token, at the one of its steps where it is surest
    spans                    first step of each token, and the step after its last
    """

    tokens: tuple[int, ...]
    token_log_probabilities: tuple[float, ...]
    spans: tuple[tuple[int, int], ...]


def best_path(log_probs: Tensor, steps: Tensor, blank: int) -> list[CTCPath]:
    """The likeliest token at every step, repetitions joined and blanks dropped, for each of B lines."""
    values, tokens = (part.cpu().numpy() for part in log_probs.float().max(-1))
    return [collapse(*line, blank) for line in zip(tokens, values, steps.tolist(), strict=True)]


def collapse(tokens: NDArray[np.int64], values: NDArray[np.float32], steps: int, blank: int) -> CTCPath:
    """The path of one line from its token at each step and the log-probability of that."""
    if not steps:
        return CTCPath((), (), ())
    tokens, values = tokens[:steps], values[:steps]
    starts = np.flatnonzero(np.diff(tokens, prepend=-1))
    ends = np.append(starts[1:], steps)
    surest = np.maximum.reduceat(values, starts)
    real = tokens[starts] != blank
    spans = zip(starts[real].tolist(), ends[real].tolist(), strict=True)
    return CTCPath(tuple(tokens[starts][real].tolist()), tuple(surest[real].tolist()), tuple(spans))


class CTCText(NamedTuple):
    """A text, its log-probability summed over paths, and that with the vote of language, if there is one."""

    tokens: tuple[int, ...]
    log_probability: float
    score: float


class Prefix:
    """The beginning of a text: its last token and what stands before that; with all others it forms a tree.

    in_blank   log-probability that just this is written up to the present step, and the step is a blank
    in_token   the same where the step is the last token
    total      of both
    vote       what language says of the tokens
    votes      and of them with one more: a token that is weighed at a step often is at the next, too
    state      where it is after them; None until somebody asks
    """

    __slots__ = ("after", "before", "in_blank", "in_token", "state", "token", "total", "vote", "votes")

    def __init__(self, token: int, before: "Prefix | None", vote: float = 0.0) -> None:
        self.token = token
        self.before = before
        self.after: dict[int, Prefix] = {}
        self.in_blank = self.in_token = self.total = -inf
        self.vote = vote
        self.votes: dict[int, float] = {}
        self.state: State | None = None

    @property
    def score(self) -> float:
        """What prefixes are compared by."""
        return self.total + self.vote

    def place(self, voice: Voice) -> State:
        """Where language is after the tokens."""
        if self.state is None:
            self.state = voice.after(self.before.place(voice), self.token) if self.before else voice.start
        return self.state

    def vote_with(self, token: int, voice: Voice) -> float:
        """What language says of the tokens and this one."""
        vote = self.votes.get(token)
        if vote is None:
            vote = self.votes[token] = self.vote + voice.vote(self.place(voice), token)
        return vote

    def text(self, voice: Voice) -> CTCText:
        """The text, if it ends here."""
        end = self.vote_with(EOS, voice)
        tokens, prefix = [], self
        while prefix.before is not None:
            tokens.append(prefix.token)
            prefix = prefix.before
        return CTCText(tuple(reversed(tokens)), self.total, self.total + end)


def prefix_search(
    log_probs: Tensor,
    blank: int,
    *,
    beams: int = 10,
    tokens_per_step: int = 8,
    margin: float = inf,
    voice: Voice = SILENT,
) -> list[CTCText]:
    """The likeliest texts of one line, best first; the probability of a text is the sum over all its paths.

    Args:
        log_probs: (S, V), without padding.
        beams: Prefixes kept at every step, and so the most texts that come back.
        tokens_per_step: Likeliest tokens by which prefixes may grow at a step.
        margin: A prefix whose score is so much below the best one's is given up. Steps with `nothing_new` are passed
            over, too, by which log-probabilities get some hundredths lower.
        voice: What language has to say.
    """
    rows = log_probs.cpu().double()
    idle = nothing_new(rows[:, blank]) & (margin < inf)
    skipped, rows = rows[idle, blank].sum().item(), rows[~idle]
    growth = rows.index_fill(1, torch.tensor(blank), -inf).topk(min(tokens_per_step, rows.shape[1]))
    root = Prefix(token=blank, before=None)
    root.in_blank = root.total = skipped
    kept = [root]
    rest = [row.data for row in rows.numpy()]  # of which few numbers are asked for
    for row, gains, tokens in zip(rest, growth.values.tolist(), growth.indices.tolist(), strict=True):
        kept = advance(kept, row, list(zip(tokens, gains, strict=True)), blank, beams, margin, voice)
    return sorted((prefix.text(voice) for prefix in kept), key=attrgetter("score"), reverse=True)


def nothing_new(blanks: Tensor) -> Tensor:
    """The steps (S,) that are blank beyond doubt, as those before them are: all that they change is the sum."""
    sure = blanks > SURE
    return sure & F.pad(sure[:-1], (1, 0), value=True)


def advance(
    kept: list[Prefix],
    row: memoryview,
    growth: list[tuple[int, float]],
    blank: int,
    beams: int,
    margin: float,
    voice: Voice,
) -> list[Prefix]:
    """The prefixes in the race after one more step, best first; `growth` are tokens with their gains, best first."""
    stays = [stay(prefix, row, blank) for prefix in kept]
    scores = [total + prefix.vote for prefix, (_, _, total) in zip(kept, stays, strict=True)]
    floor = max(scores) - margin
    leaders = [max(score, floor) for score in scores] + [floor] * (beams - len(stays))
    heapify(leaders)  # the best scores so far; what is no better than the least of them has no future
    grown: list[tuple[float, float, Prefix, int]] = []
    most = voice.most
    for prefix in kept:
        for token, gain in growth:
            if prefix.score + gain + most <= leaders[0]:
                break
            made = gain + (prefix.in_blank if prefix.token == token else prefix.total)
            # A longer prefix that is in the race already has got this from `stay`.
            if token in prefix.after and prefix.after[token].total > -inf:
                continue
            score = made + prefix.vote_with(token, voice)
            if score > leaders[0]:
                grown.append((score, made, prefix, token))
                heapreplace(leaders, score)
    for prefix, masses in zip(kept, stays, strict=True):
        prefix.in_blank, prefix.in_token, prefix.total = masses
    children = [begin(prefix, token, made, voice) for score, made, prefix, token in grown if score >= leaders[0]]
    ranked = sorted(kept + children, key=attrgetter("score"), reverse=True)
    survivors = [prefix for prefix in ranked[:beams] if prefix.score > max(ranked[0].score - margin, floor)]
    for prefix in ranked[len(survivors) :]:
        prefix.in_blank = prefix.in_token = prefix.total = -inf
    return survivors


def stay(prefix: Prefix, row: memoryview, blank: int) -> tuple[float, float, float]:
    """`in_blank`, `in_token` and `total` of a prefix after a step that leaves it, or makes it from the one before."""
    in_blank = prefix.total + row[blank]
    in_token = prefix.in_token + row[prefix.token]
    before = prefix.before
    if before is not None and before.total > -inf:
        # After the same token, only a blank tells a second one from the first going on.
        made = row[prefix.token] + (before.in_blank if before.token == prefix.token else before.total)
        in_token = log_add(in_token, made)
    return in_blank, in_token, log_add(in_blank, in_token)


def begin(before: Prefix, token: int, made: float, voice: Voice) -> Prefix:
    """The prefix one token longer, (again) in the race."""
    if token not in before.after:
        before.after[token] = Prefix(token, before, before.vote_with(token, voice))
    prefix = before.after[token]
    prefix.in_token = prefix.total = made
    return prefix


def log_add(a: float, b: float) -> float:
    """log(exp(a) + exp(b))."""
    low, high = (a, b) if a < b else (b, a)
    return high if low == -inf else high + log1p(exp(low - high))


def align(log_probs: Tensor, tokens: Sequence[int], blank: int) -> CTCPath:
    """The likeliest path of one line (S, V) that reads as `tokens`.

    Where no path does, because they are too many or one of them is impossible, they share the steps evenly.
    """
    rows = log_probs.cpu().double().numpy()
    spans = viterbi_spans(rows, np.array(tokens, dtype=np.int64), blank) or even_spans(len(rows), len(tokens))
    surest = (rows[first:last, token].max(initial=-inf) for token, (first, last) in zip(tokens, spans, strict=True))
    return CTCPath(tuple(tokens), tuple(map(float, surest)), tuple(spans))


def viterbi_spans(rows: NDArray[np.float64], tokens: NDArray[np.int64], blank: int) -> list[tuple[int, int]]:
    """Spans of the tokens on their likeliest path; none if there is no path."""
    labels = np.full(2 * len(tokens) + 1, blank)  # blank, token, blank, token, ..., blank
    labels[1::2] = tokens
    emissions = rows[:, labels]
    from_token = np.full(len(labels), -inf)  # what it costs to come straight from the token before
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
    place = len(labels) - 1 - int(scores[-2:].argmax() == 0 and len(tokens) > 0)
    if scores[place] == -inf:
        return []
    path = np.empty(len(rows), dtype=np.int64)
    for step in range(len(rows) - 1, -1, -1):
        path[step] = place
        place -= moves[step, place]
    odd = np.arange(1, len(labels), 2)
    firsts, lasts = np.searchsorted(path, odd), np.searchsorted(path, odd, side="right")
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


def even_spans(steps: int, tokens: int) -> list[tuple[int, int]]:
    """Spans of equal length, at least one step each; they overlap if there are more tokens than steps."""
    edges = [steps * token // tokens for token in range(tokens + 1)] if tokens else [0]
    return [(first, min(max(last, first + 1), steps)) for first, last in pairwise(edges)]


def ctc_log_likelihood(log_probs: Tensor, steps: Tensor, texts: Sequence[Sequence[int]], blank: int) -> Tensor:
    """Log-probability (B,) of one text per line, summed over all its paths; -inf where it does not fit."""
    lengths = torch.tensor([len(text) for text in texts])
    targets = torch.tensor([token for text in texts for token in text], dtype=torch.long, device=log_probs.device)
    return -F.ctc_loss(log_probs.transpose(0, 1), targets, steps, lengths, blank=blank, reduction="none")
