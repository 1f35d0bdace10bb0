"""The result of decoding a line: its tokens, their probabilities, and their places on the image.

Tokens are placed by CTC alignment, whichever strategy found them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import exp, inf
from operator import attrgetter
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from drethtr.recognition.decoding.ctc_search import CTCPath, align, best_path
from drethtr.recognition.decoding.stepwise import Hypothesis
from drethtr.recognition.protocol import ImageMemory, Logits
from drethtr.text.tokenizer import BOS, EOS

IMPOSSIBLE = -1e4
"""The logit of an impossible token: finite, because entropies multiply by it."""

LogProbs = NDArray[np.float32]
Entropies = NDArray[np.float32]


class Candidate(NamedTuple):
    """A candidate for the text of a line; the strategy prefers higher scores."""

    tokens: tuple[int, ...]
    score: float


class Decoded(NamedTuple):
    """The text found for a line.

    tokens        ids, without special tokens
    confidences   probability of each token, in [0, 1]
    spans         left and right edge of each token, in image tokens from the left
    draft         the CTC reading, if the decoder wrote the text
    alternatives  this text, then others, best first; empty unless requested
    ended         whether the decoder ended the text, rather than a length limit
    """

    tokens: tuple[int, ...]
    confidences: tuple[float, ...]
    spans: tuple[tuple[float, float], ...]
    draft: "Decoded | None" = None
    alternatives: tuple[Candidate, ...] = ()
    ended: bool = True

    def with_alternatives(self, score: float, others: Iterable[Candidate], number: int) -> Self:
        """Add the score of the text, and the best `number` of the others."""
        if not number:
            return self
        possible = {text for text in others if text.score > -inf}
        texts = sorted(possible, key=attrgetter("score"), reverse=True)
        chosen = [text for text in texts if text.tokens != self.tokens][:number]
        return self._replace(alternatives=(Candidate(self.tokens, score), *chosen))


@dataclass(frozen=True, eq=False)
class CTCScores:
    """Log-probabilities (S, V) of the CTC head for each of B lines, with `steps_per_token` steps per image token.

    The start and end tokens are never read.
    """

    lines: tuple[LogProbs, ...]
    steps_per_token: int

    @cached_property
    def paths(self) -> tuple[CTCPath, ...]:
        """The likeliest path of each line."""
        return tuple(map(best_path, self.lines))

    @cached_property
    def entropies(self) -> tuple[Entropies, ...]:
        """Entropy of each step of each line in nats, (S,)."""
        return tuple(map(entropy_of_steps, self.lines))

    @classmethod
    def of(cls, memory: ImageMemory) -> "CTCScores | None":
        """The log-probabilities of the refined reading; None without a CTC head."""
        if memory.ctc is None:
            return None
        lines = tuple(map(text_only, memory.ctc))
        return cls(lines, len(lines[0]) // memory.tokens[0] if lines else 1)

    def reading(self, line: int) -> Decoded:
        """The best path of a line, as a text."""
        return self.on_image(self.paths[line], self.lines[line])

    def placed(self, line: int, tokens: Sequence[int]) -> Decoded:
        """Tokens aligned with a line, with the probabilities of the CTC head."""
        rows = self.lines[line]
        return self.on_image(align(rows, tokens), rows)

    def on_image(self, path: CTCPath, rows: LogProbs) -> Decoded:
        """A path through the steps `rows`, with the CTC probabilities of its tokens."""
        probabilities = tuple(map(exp, path.token_log_probabilities))
        return Decoded(path.tokens, probabilities, edges(path.spans, len(rows), self.steps_per_token))


class View(NamedTuple):
    """Encoded lines at one width, with the log-probabilities of the CTC head."""

    memory: ImageMemory
    ctc: CTCScores | None

    @classmethod
    def of(cls, memory: ImageMemory) -> Self:
        """The view of encoded lines."""
        return cls(memory, CTCScores.of(memory))

    @property
    def scores(self) -> CTCScores:
        """The log-probabilities of the CTC head, for a network that has one."""
        assert self.ctc is not None, "`Recognizer` refuses strategies that need a CTC head without one"
        return self.ctc

    def locate(self, hypotheses: Sequence[Hypothesis]) -> list[Decoded]:
        """One hypothesis per line, its tokens aligned by the CTC head, or spread evenly if there is none."""
        if self.ctc is None:
            return [spread(tokens, best) for tokens, best in zip(self.memory.tokens, hypotheses, strict=True)]
        return [
            self.ctc.placed(line, best.tokens)._replace(
                confidences=confidences(best), ended=best.ended, draft=self.ctc.reading(line)
            )
            for line, best in enumerate(hypotheses)
        ]


def text_only(logits: Logits) -> LogProbs:
    """Log-probabilities from CTC logits (S, V), with start and end excluded."""
    values = logits.astype(np.float32)
    values[:, [BOS, EOS]] = IMPOSSIBLE
    shifted = values - values.max(1, keepdims=True)
    log_probs: LogProbs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    return log_probs


def entropy_of_steps(log_probs: LogProbs) -> Entropies:
    """Entropy of each step in nats, (S,)."""
    values: Entropies = -(np.exp(log_probs) * log_probs).sum(1)
    return values


def spread(image_tokens: int, best: Hypothesis) -> Decoded:
    """A hypothesis with its tokens spread evenly over the image."""
    step = image_tokens / max(len(best.tokens), 1)
    spans = tuple((number * step, (number + 1) * step) for number in range(len(best.tokens)))
    return Decoded(best.tokens, confidences(best), spans, ended=best.ended)


def confidences(best: Hypothesis) -> tuple[float, ...]:
    """The probability of each token of a hypothesis."""
    return tuple(map(exp, best.token_log_probabilities[: len(best.tokens)]))


def edges(spans: Sequence[tuple[int, int]], steps: int, steps_per_token: int) -> tuple[tuple[float, float], ...]:
    """Edges of characters in image tokens, from their CTC steps (first, last + 1).

    CTC marks a character with a short spike near its middle, so the edge between neighbors is halfway between their
    spikes.
    """
    scale = 1 / steps_per_token
    middles = [(first + after) / 2 for first, after in spans]
    if not middles:
        return ()
    between = [(left + right) / 2 for left, right in pairwise(middles)]
    # The outer characters have no neighbor on one side; half the usual distance is used there.
    half = (middles[-1] - middles[0]) / (len(middles) - 1) / 2 if len(middles) > 1 else steps_per_token
    borders = [max(middles[0] - half, 0.0), *between, min(middles[-1] + half, float(steps))]
    return tuple((left * scale, right * scale) for left, right in pairwise(borders))
