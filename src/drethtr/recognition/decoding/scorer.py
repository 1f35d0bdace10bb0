"""Scorers for the search: a network gives log-probabilities of the next token, or of whole texts at once."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from drethtr.base.arrays import Floats, Ints
from drethtr.recognition.decoding.stepwise import BeamSearch, Hypothesis, beam_search
from drethtr.recognition.protocol import ImageMemory, Logits, Network, State, TextTree
from drethtr.text.tokenizer import BOS, EOS, PAD

MAX_TOKENS = 400
"""Maximum tokens of a text without a CTC head: twice as many characters as fit on a line."""

FORBIDDEN = (BOS, PAD)
"""Special tokens that are never written."""


class NetworkScorer(NamedTuple):
    """A network and the image memory of B lines, which is stored here once per line.

    `forbidden` tokens are never written.
    """

    network: Network
    memory: ImageMemory
    forbidden: tuple[int, ...] = FORBIDDEN

    def step(self, tokens: Ints, state: State) -> tuple[Floats, State]:
        logits, state = self.network.step(self.memory, tokens, state)
        return log_softmax(allowed(logits, self.forbidden)), state

    def reorder(self, state: State, rows: Ints) -> State:
        return self.network.reorder(state, rows)

    def keep(self, lines: Ints) -> "NetworkScorer":
        return self._replace(memory=self.network.keep(self.memory, lines.tolist()))

    def begin(self) -> State:
        """The state before the first token."""
        return self.network.begin(self.memory)

    def first_tokens(self) -> Ints:
        """The start of every line's text, (B,)."""
        return np.full(self.memory.lines, BOS)

    def text_limits(self) -> Ints:
        """The maximum length of each line's text, (B,), including its end: no text has more tokens than CTC steps."""
        ctc = self.memory.ctc
        return np.array([MAX_TOKENS] * self.memory.lines if ctc is None else [len(line) + 1 for line in ctc])

    def search(self, beams: int, length_exponent: float = 1.0, nbest: int = 1) -> list[list[Hypothesis]]:
        """The best texts of each line by `beam_search`."""
        wanted = BeamSearch(beams, self.text_limits(), EOS, self.forbidden, length_exponent, nbest)
        found = self.network.search(self.memory, wanted)
        return beam_search(self, self.begin(), self.first_tokens(), wanted) if found is None else found

    def logits(self, trees: Sequence[TextTree]) -> list[Floats]:
        """Logits (nodes, V) of the token after each node of one tree of texts per line, -inf for forbidden tokens."""
        return [allowed(logits, self.forbidden) for logits in self.network.score_trees(self.memory, trees)]

    def score_trees(self, trees: Sequence[TextTree]) -> list[Floats]:
        """Log-probabilities (nodes, V) of the token after each node of one tree of texts per line."""
        return [log_softmax(logits) for logits in self.logits(trees)]


class LanguageScorer(NamedTuple):
    """A network as a language model, see `Network.score_texts`."""

    network: Network

    def score_trees(self, trees: Sequence[TextTree]) -> list[Floats]:
        """Log-probabilities (nodes, V) of the token after each node of some trees of texts."""
        return [log_softmax(allowed(logits, FORBIDDEN)) for logits in self.network.score_texts(trees)]


def allowed(logits: Logits, forbidden: Sequence[int]) -> Floats:
    """The logits in double precision, -inf for forbidden tokens.

    Raises:
        FloatingPointError: if the network's numbers overflow.
    """
    if not np.isfinite(logits).all():
        raise FloatingPointError("logits that are not finite")
    values = logits.astype(np.float64)
    values[:, list(forbidden)] = -np.inf
    return values


def log_softmax(logits: Floats) -> Floats:
    """Log-probabilities of logits (..., V)."""
    values: Floats = logits - logits.max(-1, keepdims=True)
    values -= np.log(np.exp(values).sum(-1, keepdims=True))
    return values
