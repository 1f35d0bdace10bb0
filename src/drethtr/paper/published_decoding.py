"""Decoding with the scores of the released code, for comparison with published figures, not for reading.

The decoder may emit every token, including BOS and PAD. Beam search sums log-probabilities without length
normalization. A text that has ended continues, paying for tokens that are cut off later, until all beams of its line
have ended; the highest sum wins, cut at its first end. Here each line is decoded as if it were alone; in the released
code, the text of a line depends on its batch.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from drethtr.base.arrays import Booleans, Floats, Ints
from drethtr.base.errors import ConfigError
from drethtr.language.languages import NO_LANGUAGE, Languages
from drethtr.recognition.decoding.decoded import Decoded, View
from drethtr.recognition.decoding.scorer import NetworkScorer
from drethtr.recognition.decoding.stepwise import BeamSearch, Hypothesis, Scorer, State, beam_search, highest
from drethtr.recognition.decoding.strategies import DECODERS, NUMBERED, Strategy
from drethtr.recognition.protocol import Network
from drethtr.text.tokenizer import BOS, EOS, PAD

LIMIT = 94
"""Maximum tokens of a text including its end: as released, the longest IAM line plus two, without the start."""

MAX_LIMIT = 10_000
"""The highest limit, since a file could set any number."""


class Beams(NamedTuple):
    """The texts so far; the beams of a line are adjacent rows.

    tokens  (rows, N)
    gains   (rows, N)  log-probability of each token
    scores  (rows,)    their sum
    ended   (rows,)    whether the end is among the tokens
    """

    tokens: Ints
    gains: Floats
    scores: Floats
    ended: Booleans

    @classmethod
    def empty(cls, lines: int) -> "Beams":
        """One empty beam per line."""
        nothing = np.zeros((lines, 0))
        return cls(nothing.astype(np.int64), nothing, np.zeros(lines), np.zeros(lines, dtype=np.bool_))

    def select(self, rows: Ints) -> "Beams":
        """Keep, repeat or reorder rows."""
        tokens, gains, scores, ended = self
        return Beams(tokens[rows], gains[rows], scores[rows], ended[rows])

    def followed_by(self, tokens: Ints, gains: Floats, end: int) -> "Beams":
        """Append a token to each row."""
        return Beams(
            np.concatenate([self.tokens, tokens[:, None]], axis=1),
            np.concatenate([self.gains, gains[:, None]], axis=1),
            self.scores + gains,
            self.ended | (tokens == end),
        )


def published_beam_search(
    scorer: Scorer[State], state: State, first: Ints, *, end: int, beams: int, limit: int
) -> list[Hypothesis]:
    """Find the text with the highest sum for each line; `first` (lines,) are the first tokens."""
    found: dict[int, Hypothesis] = {}
    numbers, written, last = np.arange(len(first)), Beams.empty(len(first)), first
    for position in range(limit):
        log_probabilities, state = scorer.step(last, state)
        # As released, an ended text keeps competing: its further tokens cost it log-probability.
        rows, last, gains = extended(written, log_probabilities, len(numbers), beams)
        written, state = written.select(rows).followed_by(last, gains, end), scorer.reorder(state, rows)
        # As released: a line goes on until all its beams have ended, however bad those are.
        done = written.ended.reshape(len(numbers), -1).all(1) | (position == limit - 1)
        if not done.any():
            continue
        width, rest = len(last) // len(numbers), np.flatnonzero(~done)
        found |= {int(numbers[line]): best_of(written, line, width, end) for line in np.flatnonzero(done).tolist()}
        numbers = numbers[rest]
        if not len(rest):
            break
        kept = (rest[:, None] * width + np.arange(width)).ravel()
        scorer, state = scorer.keep(rest), scorer.reorder(state, kept)
        written, last = written.select(kept), last[kept]
    return [found[number] for number in range(len(first))]


def extended(written: Beams, log_probabilities: Floats, lines: int, beams: int) -> tuple[Ints, Ints, Floats]:
    """The best continuations per line: the rows they extend, the new tokens, and their gains, (new rows,) each."""
    vocabulary = log_probabilities.shape[1]
    sums = (written.scores[:, None] + log_probabilities).reshape(lines, -1)
    best = (highest(sums, beams) + np.arange(lines)[:, None] * sums.shape[1]).ravel()
    return best // vocabulary, best % vocabulary, log_probabilities.ravel()[best]


def best_of(written: Beams, line: int, width: int, end: int) -> Hypothesis:
    """The beam of a line with the highest sum, cut at its first end."""
    row = line * width + int(written.scores[line * width : (line + 1) * width].argmax())
    tokens, gains = written.tokens[row].tolist(), written.gains[row].tolist()
    length = tokens.index(end) if end in tokens else len(tokens)
    gains = gains[: length + 1]
    return Hypothesis(tuple(tokens[:length]), sum(gains), tuple(gains))


def without_marks(hypothesis: Hypothesis) -> Hypothesis:
    """Remove BOS and PAD from the tokens of a hypothesis."""
    tokens, gains = hypothesis.tokens, hypothesis.token_log_probabilities
    kept = [place for place, token in enumerate(tokens) if token not in (BOS, PAD)]
    return hypothesis._replace(
        tokens=tuple(tokens[place] for place in kept),
        token_log_probabilities=(*(gains[place] for place in kept), *gains[len(tokens) :]),
    )


class Published(Strategy):
    """Base of strategies that decode as the released code; they give no alternatives."""

    @property
    def most_alternatives(self) -> int:
        return 0

    def find(
        self, network: Network, views: Sequence[View], alternatives: int = 0, languages: Languages = NO_LANGUAGE
    ) -> list[Decoded]:
        [view] = views
        found = self.search(NetworkScorer(network, view.memory, forbidden=()))
        return view.locate(list(map(without_marks, found)))

    @abstractmethod
    def search(self, scorer: NetworkScorer) -> list[Hypothesis]:
        """The text of each line, with special tokens."""


@dataclass(frozen=True)
class PublishedGreedy(Published):
    """Greedy decoding as in the released code."""

    limit: int = LIMIT

    def __post_init__(self) -> None:
        check_limit(self.limit)

    def search(self, scorer: NetworkScorer) -> list[Hypothesis]:
        first = scorer.first_tokens()
        found = beam_search(scorer, scorer.begin(), first, BeamSearch(1, np.full(len(first), self.limit), EOS))
        return [best for [best] in found]


@dataclass(frozen=True)
class PublishedBeam(Published):
    """Beam search as in the released code; the paper's best results have 5 beams."""

    beams: int = 5
    limit: int = LIMIT

    def __post_init__(self) -> None:
        check_limit(self.limit)
        if not 1 <= self.beams <= 100:
            raise ConfigError(f"beams must be between 1 and 100, not {self.beams}")

    def search(self, scorer: NetworkScorer) -> list[Hypothesis]:
        first = scorer.first_tokens()
        return published_beam_search(scorer, scorer.begin(), first, end=EOS, beams=self.beams, limit=self.limit)


def check_limit(limit: int) -> None:
    """Refuse a limit out of range."""
    if not 1 <= limit <= MAX_LIMIT:
        raise ConfigError(f"limit must be between 1 and {MAX_LIMIT:,} tokens, including the end, not {limit}")


DECODERS["published"] = PublishedGreedy()
NUMBERED["published"] = PublishedBeam
