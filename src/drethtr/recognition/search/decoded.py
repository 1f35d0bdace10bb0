"""What decoding returns: the tokens of a line, how sure each is, and where it stands on the image.

The CTC head says where tokens stand, whatever wrote them.
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

from drethtr.recognition.network import ImageMemory, Logits
from drethtr.recognition.search.ctc_search import CTCPath, align, best_path
from drethtr.recognition.search.stepwise import Hypothesis
from drethtr.text.tokenizer import BOS, EOS, PAD

IMPOSSIBLE = -1e4
"""A logit of what cannot be: finite, because entropies multiply with it."""

LogProbs = NDArray[np.float32]


class Candidate(NamedTuple):
    """A text that a line may have; the higher the `score`, the likelier the strategy finds it."""

    tokens: tuple[int, ...]
    score: float


class Decoded(NamedTuple):
    """The text found for a line.

    tokens        ids, special ones left out
    confidences   probability of each token, in [0, 1]
    spans         left and right edge of each token, counted in image tokens from the left
    draft         what the CTC head read, where the decoder wrote the text
    alternatives  this text, then others, the best of them first; empty unless asked for
    ended         whether the decoder ended the text, rather than a length limit
    """

    tokens: tuple[int, ...]
    confidences: tuple[float, ...]
    spans: tuple[tuple[float, float], ...]
    draft: "Decoded | None" = None
    alternatives: tuple[Candidate, ...] = ()
    ended: bool = True

    def with_alternatives(self, score: float, others: Iterable[Candidate], number: int) -> Self:
        """Attach the score of the text and the best `number` of the others."""
        if not number:
            return self
        possible = {text for text in others if text.score > -inf}
        texts = sorted(possible, key=attrgetter("score"), reverse=True)
        chosen = [text for text in texts if text.tokens != self.tokens][:number]
        return self._replace(alternatives=(Candidate(self.tokens, score), *chosen))


@dataclass(frozen=True, eq=False)
class CTCScores:
    """Log-probabilities (S, V) of the CTC head for each of B lines, with `steps_per_token` steps per image token.

    Start and end are not text: the head never reads them.
    """

    lines: tuple[LogProbs, ...]
    steps_per_token: int

    @cached_property
    def paths(self) -> tuple[CTCPath, ...]:
        """The likeliest path of each line."""
        return tuple(best_path(line, PAD) for line in self.lines)

    @cached_property
    def entropies(self) -> tuple[LogProbs, ...]:
        """Entropy of each step of each line in nats, (S,)."""
        return tuple(map(entropy_of_steps, self.lines))

    @classmethod
    def of(cls, memory: ImageMemory) -> "CTCScores | None":
        """Those of the refined reading; None without a CTC head."""
        if memory.ctc is None:
            return None
        lines = tuple(map(text_only, memory.ctc))
        return cls(lines, len(lines[0]) // memory.tokens[0] if lines else 1)

    def reading(self, line: int) -> Decoded:
        """The likeliest path of a line."""
        return self.on_image(self.paths[line], self.lines[line])

    def placed(self, line: int, tokens: Sequence[int]) -> Decoded:
        """Some tokens where the head would put them on a line, as sure as the head is of them."""
        rows = self.lines[line]
        return self.on_image(align(rows, tokens, PAD), rows)

    def aligned(self, line: int, best: Hypothesis) -> Decoded:
        """A hypothesis with its tokens where the head would put them on a line."""
        return self.placed(line, best.tokens)._replace(confidences=confidences(best), ended=best.ended)

    def on_image(self, path: CTCPath, rows: LogProbs) -> Decoded:
        """A path through the steps `rows`, its tokens as sure as CTC is of them."""
        probabilities = tuple(map(exp, path.token_log_probabilities))
        return Decoded(path.tokens, probabilities, edges(path.spans, len(rows), self.steps_per_token))


def text_only(logits: Logits) -> LogProbs:
    """Log-probabilities of CTC logits (S, V), without start and end."""
    values = logits.astype(np.float32)
    values[:, [BOS, EOS]] = IMPOSSIBLE
    shifted = values - values.max(1, keepdims=True)
    log_probs: LogProbs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    return log_probs


def entropy_of_steps(log_probs: LogProbs) -> LogProbs:
    """Entropy of each step in nats, (S,)."""
    values: LogProbs = -(np.exp(log_probs) * log_probs).sum(1)
    return values


def located(memory: ImageMemory, scores: CTCScores | None, hypotheses: Sequence[Hypothesis]) -> list[Decoded]:
    """One hypothesis per line, its tokens aligned to the image by the CTC head, or spread evenly if there is none."""
    if scores is None:
        return [spread(tokens, best) for tokens, best in zip(memory.tokens, hypotheses, strict=True)]
    return [scores.aligned(line, best)._replace(draft=scores.reading(line)) for line, best in enumerate(hypotheses)]


def spread(image_tokens: int, best: Hypothesis) -> Decoded:
    """A hypothesis with its tokens spread evenly over the image."""
    step = image_tokens / max(len(best.tokens), 1)
    spans = tuple((number * step, (number + 1) * step) for number in range(len(best.tokens)))
    return Decoded(best.tokens, confidences(best), spans, ended=best.ended)


def confidences(best: Hypothesis) -> tuple[float, ...]:
    """The probability of each token of a hypothesis."""
    return tuple(map(exp, best.token_log_probabilities[: len(best.tokens)]))


def edges(spans: Sequence[tuple[int, int]], steps: int, steps_per_token: int) -> tuple[tuple[float, float], ...]:
    """Edges of characters in image tokens from the steps (first, last + 1) where CTC saw them.

    CTC marks a character by a short spike near its middle, so neighbors meet halfway between their spikes.
    """
    scale = 1 / steps_per_token
    middles = [(first + after) / 2 for first, after in spans]
    between = [(left + right) / 2 for left, right in pairwise(middles)]
    if not middles:
        return ()
    typical = (middles[-1] - middles[0]) / max(len(middles) - 1, 1) / 2 if len(middles) > 1 else steps_per_token
    outer = [max(middles[0] - typical, 0.0), *between, min(middles[-1] + typical, float(steps))]
    return tuple((left * scale, right * scale) for left, right in pairwise(outer))
