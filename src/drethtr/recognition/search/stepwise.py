"""Greedy and beam search: the most likely text, one token at a time.

Search knows nothing of images, retention or characters. It asks a `Scorer` for the next token and hands a state from
step to step. A state belongs to the scorer and is reordered by it; what all candidates of a line share, such as the
keys and values of its image, stays with the scorer and is stored once per line. Lines that are done leave the batch, so
none waits for the longest, and no line changes another's text.

Shapes, everywhere in this file:
    lines   texts sought in this batch
    rows    lines x candidates; the candidates of a line are neighbors
"""

from typing import NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

State = TypeVar("State")
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Scorer(Protocol[State]):
    """Knows how likely each token is to come next in each of some lines."""

    def step(self, tokens: Ints, state: State) -> tuple[Floats, State]:
        """Log-probabilities (rows, vocabulary) after one more token in each row, tokens (rows,), and the state then.

        Every line has equally many rows: one at the first step, later as many as there are beams.
        """

    def reorder(self, state: State, rows: Ints) -> State:
        """Keep, repeat or reorder the rows of a state."""

    def keep(self, lines: Ints) -> Self:
        """The scorer of some of its lines, whose numbers (kept,) rise; they are renumbered from 0."""


class Hypothesis(NamedTuple):
    """A text found.

    tokens                   without start and end
    log_probability          of the whole text
    token_log_probabilities  of each token given those before it, then of the end, unless a limit cut the text off
    """

    tokens: tuple[int, ...]
    log_probability: float
    token_log_probabilities: tuple[float, ...]

    @property
    def ended(self) -> bool:
        """Whether the text came to its end before a limit."""
        return len(self.token_log_probabilities) > len(self.tokens)


class Candidates(NamedTuple):
    """What is written so far, one row per candidate.

    tokens   (rows, limit)  with the end, without the start; meaningless from `lengths` on
    gains    (rows, limit)  log-probability of each token
    scores   (rows,)        sum of the gains; -inf: this row is not, or no longer, in the race
    lengths  (rows,)        tokens written, the end included
    closed   (rows,)        ended or cut off: it grows no longer
    """

    tokens: Ints
    gains: Floats
    scores: Floats
    lengths: Ints
    closed: Mask

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
        """What closed candidates are compared by, (rows,)."""
        return self.scores / self.lengths**length_exponent


def beam_search(
    scorer: Scorer[State],
    state: State,
    first: Ints,
    *,
    end: int,
    beams: int = 5,
    limit: int | Ints = 256,
    length_exponent: float = 1.0,
    nbest: int = 1,
) -> list[list[Hypothesis]]:
    """The best texts of each line, best first, keeping `beams` candidates on the way.

    Texts compete by log-probability / length^length_exponent, the end counted in the length: 0 prefers short texts,
    1 compares the mean per token. A candidate that has ended keeps its place among the `beams`, so the search
    narrows; a line is done when nothing still open can beat its `nbest` texts, even if all to come were certain.

    Args:
        first: (lines,) start token of each line.
        end: Token that ends a text.
        limit: Longest text in tokens, the end included, at least 1; one for all, or (lines,).
        length_exponent: At least 0.
        nbest: Texts wanted per line, at most `beams`; fewer come back where fewer are possible.
    """
    found: list[list[Hypothesis]] = [[] for _ in first]
    numbers, limits = np.arange(len(first)), np.broadcast_to(np.asarray(limit, dtype=np.int64), len(first))
    candidates, last = Candidates.empty(len(first), int(limits.max(initial=0))), first
    for position in range(candidates.tokens.shape[1]):
        log_probabilities, state = scorer.step(last, state)
        if beams == 1:  # nothing to reorder, and nothing to give up
            last = log_probabilities.argmax(1)
            gains = np.where(candidates.closed, 0, log_probabilities.max(1))
            candidates = write(candidates, position, last, gains, end, limits)
        else:
            rows, last, gains = choose(candidates, log_probabilities, len(limits), end, beams)
            candidates, state = candidates.select(rows), scorer.reorder(state, rows)
            candidates = write(candidates, position, last, gains, end, limits)
            candidates = give_up(candidates, limits, length_exponent, nbest)
        done = (candidates.closed | np.isneginf(candidates.scores)).reshape(len(limits), -1).all(1)
        if not done.any():
            continue
        width = len(last) // len(limits)
        for line in np.flatnonzero(done):
            of_line = candidates.select(np.arange(line * width, (line + 1) * width))
            found[numbers[line]] = best_of(of_line, end, length_exponent, nbest)
        rest = np.flatnonzero(~done)
        if not len(rest):
            break
        kept = (rest[:, None] * width + np.arange(width)).ravel()
        scorer, numbers, limits = scorer.keep(rest), numbers[rest], limits[rest]
        candidates, state, last = candidates.select(kept), scorer.reorder(state, kept), last[kept]
    return found


def greedy(scorer: Scorer[State], state: State, first: Ints, *, end: int, limit: int | Ints = 256) -> list[Hypothesis]:
    """The text of each line that takes the likeliest token at every step: `beam_search` with one beam."""
    return [best for [best] in beam_search(scorer, state, first, end=end, beams=1, limit=limit)]


def choose(
    candidates: Candidates, log_probabilities: Floats, lines: int, end: int, beams: int
) -> tuple[Ints, Ints, Floats]:
    """The best continuations of each line: rows they continue, tokens they add and what these gain, (new rows,) each.

    Open candidates of a line are equally long, so among them the sum decides. Closed ones stay whatever their sum.
    """
    vocabulary = log_probabilities.shape[1]
    gains = np.where(candidates.closed[:, None], -np.inf, log_probabilities)
    priority = candidates.scores[:, None] + gains
    priority[candidates.closed, end] = np.inf
    gains[candidates.closed, end] = 0
    priority = priority.reshape(lines, -1)
    best = highest(priority, beams) + np.arange(lines)[:, None] * priority.shape[1]
    best = best.ravel()
    return best // vocabulary, best % vocabulary, gains.ravel()[best]


def highest(values: Floats, number: int) -> Ints:
    """Columns of at most `number` highest values of each row, highest first; of equals the first."""
    return np.argsort(-values, axis=1, kind="stable")[:, :number]


def write(candidates: Candidates, position: int, tokens: Ints, gains: Floats, end: int, limits: Ints) -> Candidates:
    """Add a token to every candidate, and close those that end with it or reach the limit of their line.

    A closed candidate grows no longer; the gain of 0 that it gets only says that it is still in the race.
    """
    candidates.tokens[:, position] = tokens
    candidates.gains[:, position] = gains
    scores = candidates.scores + gains
    at_limit = np.repeat(limits <= position + 1, len(tokens) // len(limits))
    return candidates._replace(
        scores=scores,
        lengths=candidates.lengths + ~candidates.closed,
        closed=(candidates.closed | (tokens == end) | at_limit) & ~np.isneginf(scores),
    )


def give_up(candidates: Candidates, limits: Ints, length_exponent: float, nbest: int) -> Candidates:
    """Drop open candidates of lines where the best of them can no longer come among the `nbest`."""
    closed = candidates.closed.reshape(len(limits), -1)
    scores = candidates.scores.reshape(closed.shape)
    qualities = np.where(closed, candidates.quality(length_exponent).reshape(closed.shape), -np.inf)
    worst = -np.sort(-qualities, axis=1)[:, min(nbest, closed.shape[1]) - 1]
    # Log-probabilities are at most 0, so the most there is to hope for is a longest text at no further cost.
    hope = np.where(closed, -np.inf, scores).max(1) / limits**length_exponent
    lost = ~closed & (hope <= worst)[:, None]
    return candidates._replace(scores=np.where(lost, -np.inf, scores).ravel())


def best_of(candidates: Candidates, end: int, length_exponent: float, nbest: int) -> list[Hypothesis]:
    """The best texts of one line that is done."""
    [order] = highest(candidates.quality(length_exponent)[None], nbest)
    texts = []
    for tokens, gains, score, length in zip(*(part[order].tolist() for part in candidates[:4]), strict=True):
        if score != -np.inf:  # not a number is no text either, but must not pass silently
            text = tokens[: length - 1] if tokens[length - 1] == end else tokens[:length]
            texts.append(Hypothesis(tuple(text), score, tuple(gains[:length])))
    return texts
