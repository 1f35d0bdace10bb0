"""What decoding returns: the tokens of a line, how sure each is, and where it stands on the image.

The CTC head says where tokens stand, whoever wrote them.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import inf
from operator import attrgetter
from typing import NamedTuple, Self

import torch
from torch import Tensor

from drethtr.network.network import DRetHTR, ImageMemory
from drethtr.recognition.search.ctc_search import CTCPath, align, best_path
from drethtr.recognition.search.search import Hypothesis
from drethtr.text.tokenizer import BOS, EOS, PAD

IMPOSSIBLE = -1e4
"""A logit of what cannot be: as a number, for entropies are made of products with it."""


class Candidate(NamedTuple):
    """A text that a line may have; `score` is what the strategy compares texts by, the higher the likelier."""

    tokens: tuple[int, ...]
    score: float


class Decoded(NamedTuple):
    """The text found for a line.

    tokens        ids, special ones left out
    confidences   probability of each token, in [0, 1]
    spans         left and right edge of each token, counted in image tokens from the left
    draft         what the CTC head read, where the decoder wrote the text
    alternatives  this text, then others, the best of them first; empty unless asked for
    ended         whether it ended by itself, and not at the greatest length
    """

    tokens: tuple[int, ...]
    confidences: tuple[float, ...]
    spans: tuple[tuple[float, float], ...]
    draft: "Decoded | None" = None
    alternatives: tuple[Candidate, ...] = ()
    ended: bool = True

    def with_alternatives(self, score: float, others: Iterable[Candidate], number: int) -> Self:
        """The same, its text scored, with the best `number` of the others."""
        if not number:
            return self
        possible = {text for text in others if text.score > -inf}
        texts = sorted(possible, key=attrgetter("score"), reverse=True)
        chosen = [text for text in texts if text.tokens != self.tokens][:number]
        return self._replace(alternatives=(Candidate(self.tokens, score), *chosen))


class CTCScores(NamedTuple):
    """What the CTC head says of B lines, on the CPU: log-probabilities (B, S, V), and the steps that count, (B,)."""

    log_probabilities: Tensor
    steps: Tensor

    @classmethod
    def of(cls, memory: ImageMemory) -> "CTCScores":
        """The refined reading, without start and end: they are no text."""
        assert memory.ctc is not None
        logits = memory.ctc.refined.float()
        no_text = torch.zeros(logits.shape[-1], dtype=torch.bool, device=logits.device)
        no_text[[BOS, EOS]] = True
        return cls(logits.masked_fill(no_text, IMPOSSIBLE).log_softmax(-1).cpu(), memory.ctc.steps.cpu())

    def line(self, number: int) -> Tensor:
        """(S, V) of one line, without padding."""
        return self.log_probabilities[number, : int(self.steps[number])]


def ctc_readings(network: DRetHTR, scores: CTCScores) -> list[Decoded]:
    """The likeliest path of each line."""
    paths = best_path(*scores, PAD)
    return [on_image(path, steps, network) for path, steps in zip(paths, scores.steps.tolist(), strict=True)]


def located(network: DRetHTR, memory: ImageMemory, hypotheses: Sequence[Hypothesis]) -> list[Decoded]:
    """One hypothesis per line, its tokens aligned to the image by the CTC head, or spread evenly if there is none."""
    if memory.ctc is None:
        return [spread(memory, line, best) for line, best in enumerate(hypotheses)]
    scores = CTCScores.of(memory)
    drafts = ctc_readings(network, scores)
    return [
        aligned(network, scores.line(line), best)._replace(draft=drafts[line]) for line, best in enumerate(hypotheses)
    ]


def aligned(network: DRetHTR, log_probabilities: Tensor, best: Hypothesis) -> Decoded:
    """A hypothesis with its tokens where CTC log-probabilities (S, V) of its line would put them."""
    found = placed(network, log_probabilities, best.tokens)
    return found._replace(confidences=confidences(best), ended=best.ended)


def placed(network: DRetHTR, log_probabilities: Tensor, tokens: Sequence[int]) -> Decoded:
    """Some tokens where CTC log-probabilities (S, V) of their line would put them, as sure as CTC is of them."""
    return on_image(align(log_probabilities, tokens, PAD), len(log_probabilities), network)


def spread(memory: ImageMemory, line: int, best: Hypothesis) -> Decoded:
    """A hypothesis with its tokens spread evenly over the image."""
    places = memory.layers[0].keys.shape[2] if memory.mask is None else int(memory.mask[line].sum())
    step = places / max(len(best.tokens), 1)
    spans = tuple((number * step, (number + 1) * step) for number in range(len(best.tokens)))
    return Decoded(best.tokens, confidences(best), spans, ended=best.ended)


def confidences(best: Hypothesis) -> tuple[float, ...]:
    """The probability of each token of a hypothesis."""
    return tuple(torch.tensor(best.token_log_probabilities[: len(best.tokens)]).exp().tolist())


def on_image(path: CTCPath, steps: int, network: DRetHTR) -> Decoded:
    """A CTC path of so many steps, its tokens as sure as CTC is of them."""
    probabilities = tuple(torch.tensor(path.token_log_probabilities).exp().tolist())
    return Decoded(path.tokens, probabilities, edges(path.spans, steps, network))


def edges(spans: Sequence[tuple[int, int]], steps: int, network: DRetHTR) -> tuple[tuple[float, float], ...]:
    """Edges of characters in image tokens from the steps (first, last + 1) where CTC saw them.

    CTC marks a character by a short spike near its middle, so neighbors meet halfway between their spikes.
    """
    assert network.ctc is not None
    scale = 1 / network.ctc.steps
    middles = [(first + after) / 2 for first, after in spans]
    between = [(left + right) / 2 for left, right in pairwise(middles)]
    if not middles:
        return ()
    typical = (middles[-1] - middles[0]) / max(len(middles) - 1, 1) / 2 if len(middles) > 1 else network.ctc.steps
    outer = [max(middles[0] - typical, 0.0), *between, min(middles[-1] + typical, float(steps))]
    return tuple((left * scale, right * scale) for left, right in pairwise(outer))
