"""Greedy and beam search: the most likely text, one token at a time.

Search is independent of images, retention and characters: it gets scores of the next token from a `Scorer`, and passes
a state from step to step, which only the scorer interprets. Data that all candidates of a line share, such as the keys
and values of its image, stays with the scorer and is stored once per line. Finished lines leave the batch, so none
waits for the longest, and no line affects the text of another.

Shapes, everywhere in this file:
    lines   lines in this batch
    rows    lines x candidates; the candidates of a line are neighbors
"""

from typing import NamedTuple, Protocol, Self, TypeVar

import numpy as np

from drethtr.base.arrays import Booleans, Floats, Ints

State = TypeVar("State")


class Scorer(Protocol[State]):
    """Gives the probability of each next token, for some lines."""

    def step(self, tokens: Ints, state: State) -> tuple[Floats, State]:
        """Log-probabilities (rows, vocabulary) after one more token in each row, tokens (rows,), and the new state.

        Every line has equally many rows: one at the first step, later as many as there are beams.
        """

    def reorder(self, state: State, rows: Ints) -> State:
        """Keep, repeat or reorder the rows of a state."""

    def keep(self, lines: Ints) -> Self:
        """The scorer of some of its lines, given by ascending numbers (kept,); they are renumbered from 0."""


class Hypothesis(NamedTuple):
    """A decoded text.

    tokens                   without start and end
    log_probability          of the whole text
    token_log_probabilities  of each token given those before it, then of the end, unless a limit truncated the text
    """

    tokens: tuple[int, ...]
    log_probability: float
    token_log_probabilities: tuple[float, ...]

    @property
    def ended(self) -> bool:
        """Whether the text ended before a limit."""
        return len(self.token_log_probabilities) > len(self.tokens)


class BeamSearch(NamedTuple):
    """A search to run, see `beam_search`.

    limits           (lines,) maximum tokens of each line's text, including the end, at least 1
    end              token that ends a text
    forbidden        tokens that are never written; a `Scorer` gives them no probability
    length_exponent  at least 0
    nbest            maximum texts per line, at most `beams`
    """

    beams: int
    limits: Ints
    end: int
    forbidden: tuple[int, ...] = ()
    length_exponent: float = 1.0
    nbest: int = 1

    def keep(self, lines: Ints) -> "BeamSearch":
        """The search for some of its lines, see `Scorer.keep`."""
        return self._replace(limits=self.limits[lines])


class Candidates(NamedTuple):
    """The texts so far, one row per candidate.

    tokens   (rows, limit)  with the end, without the start; meaningless from `lengths` on
    gains    (rows, limit)  log-probability of each token
    scores   (rows,)        sum of the gains; -inf for unused and dropped rows
    lengths  (rows,)        number of tokens, including the end
    closed   (rows,)        ended or truncated
    """

    tokens: Ints
    gains: Floats
    scores: Floats
    lengths: Ints
    closed: Booleans

    @classmethod
    def empty(cls, lines: int, limit: int) -> "Candidates":
        """One empty candidate per line."""
        return cls(
            np.zeros((lines, limit), dtype=np.int64),
            np.zeros((lines, limit)),
            np.zeros(lines),
            np.zeros(lines, dtype=np.int64),
            np.zeros(lines, dtype=np.bool_),
        )

    def select(self, rows: Ints) -> "Candidates":
        """Keep, repeat or reorder rows."""
        tokens, gains, scores, lengths, closed = self
        return Candidates(tokens[rows], gains[rows], scores[rows], lengths[rows], closed[rows])

    def quality(self, length_exponent: float) -> Floats:
        """The score by which closed candidates are ranked, (rows,)."""
        return self.scores / self.lengths**length_exponent


def beam_search(scorer: Scorer[State], state: State, first: Ints, wanted: BeamSearch) -> list[list[Hypothesis]]:
    """The best texts of each line, best first, by beam search; greedy with one beam.

    Texts are ranked by log-probability / length^length_exponent, with the end counted in the length: 0 prefers short
    texts, 1 compares the mean per token. A candidate that has ended keeps its place among the `beams`, so the search
    narrows; a line is done when no open candidate can beat its `nbest` texts, even if all further tokens were certain.

    Args:
        first: (lines,) start token of each line.
    """
    found: list[list[Hypothesis]] = [[] for _ in first]
    numbers = np.arange(len(first))
    candidates, last = Candidates.empty(len(first), int(wanted.limits.max(initial=0))), first
    for position in range(candidates.tokens.shape[1]):
        log_probabilities, state = scorer.step(last, state)
        if wanted.beams == 1:  # nothing to reorder, and nothing to drop
            last = log_probabilities.argmax(1)
            gains = np.where(candidates.closed, 0, log_probabilities.max(1))
            candidates = write(candidates, position, last, gains, wanted)
        else:
            rows, last, gains = choose(candidates, log_probabilities, wanted)
            candidates, state = candidates.select(rows), scorer.reorder(state, rows)
            candidates = give_up(write(candidates, position, last, gains, wanted), wanted)
        done = (candidates.closed | np.isneginf(candidates.scores)).reshape(len(numbers), -1).all(1)
        if not done.any():
            continue
        # Finished lines leave the batch at once: later steps would compute their rows for nothing.
        width = len(last) // len(numbers)
        for line in np.flatnonzero(done):
            of_line = candidates.select(np.arange(line * width, (line + 1) * width))
            found[numbers[line]] = best_of(of_line, wanted)
        rest = np.flatnonzero(~done)
        if not len(rest):
            break
        kept = (rest[:, None] * width + np.arange(width)).ravel()
        scorer, wanted, numbers = scorer.keep(rest), wanted.keep(rest), numbers[rest]
        candidates, state, last = candidates.select(kept), scorer.reorder(state, kept), last[kept]
    return found


def choose(candidates: Candidates, log_probabilities: Floats, wanted: BeamSearch) -> tuple[Ints, Ints, Floats]:
    """The best continuations of each line: the rows they continue, their tokens, and the gains, (new rows,) each.

    Open candidates of a line have the same length, so their sums are compared. Closed ones always stay.
    """
    lines, vocabulary = len(wanted.limits), log_probabilities.shape[1]
    # A closed candidate has one continuation, the end at no cost, and comes first: it keeps its place at any score.
    gains = np.where(candidates.closed[:, None], -np.inf, log_probabilities)
    priority = candidates.scores[:, None] + gains
    priority[candidates.closed, wanted.end] = np.inf
    gains[candidates.closed, wanted.end] = 0
    priority = priority.reshape(lines, -1)
    best = highest(priority, wanted.beams) + np.arange(lines)[:, None] * priority.shape[1]
    best = best.ravel()
    return best // vocabulary, best % vocabulary, gains.ravel()[best]


def highest(values: Floats, number: int) -> Ints:
    """Columns of the `number` highest values of each row, highest first; ties go to the first."""
    return np.argsort(-values, axis=1, kind="stable")[:, :number]


def write(candidates: Candidates, position: int, tokens: Ints, gains: Floats, wanted: BeamSearch) -> Candidates:
    """Add a token to every open candidate, and close those that end with it or reach the limit of their line.

    The gain of a closed candidate is 0, or -inf if it is dropped.
    """
    candidates.tokens[:, position] = tokens
    candidates.gains[:, position] = gains
    scores = candidates.scores + gains
    at_limit = np.repeat(wanted.limits <= position + 1, len(tokens) // len(wanted.limits))
    return candidates._replace(
        scores=scores,
        lengths=candidates.lengths + ~candidates.closed,
        closed=(candidates.closed | (tokens == wanted.end) | at_limit) & ~np.isneginf(scores),
    )


def give_up(candidates: Candidates, wanted: BeamSearch) -> Candidates:
    """Drop open candidates of lines where the best of them can no longer get among the `nbest`."""
    closed = candidates.closed.reshape(len(wanted.limits), -1)
    scores = candidates.scores.reshape(closed.shape)
    qualities = np.where(closed, candidates.quality(wanted.length_exponent).reshape(closed.shape), -np.inf)
    worst = -np.sort(-qualities, axis=1)[:, min(wanted.nbest, closed.shape[1]) - 1]
    # Log-probabilities are at most 0, so the best possible continuation is the longest text at no further cost.
    hope = np.where(closed, -np.inf, scores).max(1) / wanted.limits**wanted.length_exponent
    lost = ~closed & (hope <= worst)[:, None]
    return candidates._replace(scores=np.where(lost, -np.inf, scores).ravel())


def best_of(candidates: Candidates, wanted: BeamSearch) -> list[Hypothesis]:
    """The best texts of one finished line."""
    [order] = highest(candidates.quality(wanted.length_exponent)[None], wanted.nbest)
    texts = []
    for tokens, gains, score, length in zip(*(part[order].tolist() for part in candidates[:4]), strict=True):
        if score != -np.inf:  # nan must not pass silently; the row is dropped only for -inf
            text = tokens[: length - 1] if tokens[length - 1] == wanted.end else tokens[:length]
            texts.append(Hypothesis(tuple(text), score, tuple(gains[:length])))
    return texts
