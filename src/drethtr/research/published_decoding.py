"""Decoding as the released code scores it, for comparing with published figures; for reading, use the other strategies.

Every token may be written, the start and padding included. A beam search sums log-probabilities without regard to
length, and a text that has ended goes on, paying for tokens that nobody will read, until all beams of its line have
ended; the highest sum wins, cut at its first end. That is done here for each line as if it were alone: in the released
code, what a line gets depends on its batch.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from drethtr.base.errors import ConfigError
from drethtr.language.ngrams import NGrams
from drethtr.network.network import DRetHTR, ImageMemory
from drethtr.recognition.search.decoded import Decoded, located
from drethtr.recognition.search.decoder import OneView
from drethtr.recognition.search.scorer import NetworkScorer
from drethtr.recognition.search.search import Hypothesis, Scorer, State, greedy, select_rows
from drethtr.text.tokenizer import BOS, EOS, PAD

LIMIT = 94
"""Tokens of a text with its end: two more than the longest line of IAM has characters, less the start."""

LONGEST_LIMIT = 10_000
"""No line is longer; a file could name any number."""


class Beams(NamedTuple):
    """What is written so far, the beams of a line next to each other.

    tokens  (rows, N)
    gains   (rows, N)  log-probability of each token
    scores  (rows,)    their sum
    ended   (rows,)    whether the end is among the tokens
    """

    tokens: Tensor
    gains: Tensor
    scores: Tensor
    ended: Tensor

    @classmethod
    def blank(cls, first: Tensor) -> "Beams":
        """One beam for each line, nothing written."""
        nothing = first.new_zeros(len(first), 0)
        gains = torch.zeros(len(first), 0, device=first.device)
        return cls(nothing, gains, gains.new_zeros(len(first)), first.new_zeros(len(first), dtype=torch.bool))


def published_beam_search(
    scorer: Scorer[State], state: State, first: Tensor, *, end: int, beams: int, limit: int
) -> list[Hypothesis]:
    """The text of each line with the highest sum, in the order of `first` (lines,)."""
    found: dict[int, Hypothesis] = {}
    numbers, written, last = list(range(len(first))), Beams.blank(first), first
    for position in range(limit):
        log_probabilities, state = scorer.step(last, state)
        rows, last, gains = extended(written, log_probabilities, len(numbers), beams)
        written, state = select_rows((written, state), rows)
        written = Beams(
            torch.cat([written.tokens, last[:, None]], dim=1),
            torch.cat([written.gains, gains[:, None]], dim=1),
            written.scores + gains,
            written.ended | (last == end),
        )
        done = written.ended.view(len(numbers), -1).all(1) | (position == limit - 1)
        if not bool(done.any()):
            continue
        width, going = len(last) // len(numbers), (~done).nonzero().flatten()
        found |= {numbers[line]: best_of(written, line, width, end) for line in done.nonzero().flatten().tolist()}
        numbers = [numbers[line] for line in going.tolist()]
        if not numbers:
            break
        kept = (going[:, None] * width + torch.arange(width, device=going.device)).flatten()
        scorer = scorer.keep(going)
        written, state, last = select_rows((written, state, last), kept)
    return [found[number] for number in range(len(first))]


def extended(written: Beams, log_probabilities: Tensor, lines: int, beams: int) -> tuple[Tensor, Tensor, Tensor]:
    """The best continuations of each line: rows they continue, tokens they add, what these gain; (new rows,) each."""
    vocabulary = log_probabilities.shape[1]
    sums = (written.scores[:, None] + log_probabilities).view(lines, -1)
    best = sums.topk(min(beams, sums.shape[1])).indices
    best = (best + torch.arange(lines, device=best.device)[:, None] * sums.shape[1]).flatten()
    return best // vocabulary, best % vocabulary, log_probabilities.flatten()[best]


def best_of(written: Beams, line: int, width: int, end: int) -> Hypothesis:
    """The beam of a line with the highest sum, up to its first end."""
    row = line * width + int(written.scores[line * width : (line + 1) * width].argmax())
    tokens, gains = written.tokens[row].tolist(), written.gains[row].tolist()
    length = tokens.index(end) if end in tokens else len(tokens)
    gains = gains[: length + 1]
    return Hypothesis(tuple(tokens[:length]), sum(gains), tuple(gains))


def readable(hypothesis: Hypothesis) -> Hypothesis:
    """The same without the marks that stand for no text."""
    tokens, gains = hypothesis.tokens, hypothesis.token_log_probabilities
    kept = [place for place, token in enumerate(tokens) if token not in (BOS, PAD)]
    return hypothesis._replace(
        tokens=tuple(tokens[place] for place in kept),
        token_log_probabilities=(*(gains[place] for place in kept), *gains[len(tokens) :]),
    )


@dataclass(frozen=True)
class PublishedGreedy(OneView):
    """The likeliest token at every step, as the released code takes it."""

    limit: int = LIMIT

    def __post_init__(self) -> None:
        check_limit(self.limit)

    @property
    def most_alternatives(self) -> int:
        return 0

    def decode(
        self, network: DRetHTR, memory: ImageMemory, alternatives: int = 0, ngrams: NGrams | None = None
    ) -> list[Decoded]:
        scorer = NetworkScorer(network, memory, forbidden=())
        found = greedy(scorer, network.initial_state(memory), scorer.first_tokens(), end=EOS, limit=self.limit)
        return located(network, memory, [readable(hypothesis) for hypothesis in found])


@dataclass(frozen=True)
class PublishedBeam(OneView):
    """The released beam search, whose best texts the paper reports at 5 beams."""

    beams: int = 5
    limit: int = LIMIT

    def __post_init__(self) -> None:
        check_limit(self.limit)
        if not 1 <= self.beams <= 100:
            raise ConfigError(f"a beam search keeps 1 to 100 beams, not {self.beams}")

    @property
    def most_alternatives(self) -> int:
        return 0

    def decode(
        self, network: DRetHTR, memory: ImageMemory, alternatives: int = 0, ngrams: NGrams | None = None
    ) -> list[Decoded]:
        scorer = NetworkScorer(network, memory, forbidden=())
        found = published_beam_search(
            scorer,
            network.initial_state(memory),
            scorer.first_tokens(),
            end=EOS,
            beams=self.beams,
            limit=self.limit,
        )
        return located(network, memory, [readable(hypothesis) for hypothesis in found])


def check_limit(limit: int) -> None:
    """Refuse a limit that leaves no room for any token, or for more than any line has."""
    if not 1 <= limit <= LONGEST_LIMIT:
        raise ConfigError(f"a text has 1 token, its end, to {LONGEST_LIMIT:,}, so the limit cannot be {limit}")
