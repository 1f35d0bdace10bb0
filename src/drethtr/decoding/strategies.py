"""How a text is found for an image memory: a user chooses one of these by value.

CTC()      the reading of the CTC head alone: fastest
Greedy()   the decoder writes the likeliest token at every step
Beam(5)    the decoder keeps the best few texts on the way
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor

from drethtr.decoding.ctc_search import CTCPath, align, best_path
from drethtr.decoding.search import Hypothesis, beam_search, greedy, select_rows
from drethtr.errors import ConfigError
from drethtr.model.network import DecoderState, DRetHTR, ImageMemory
from drethtr.text.tokenizer import BOS, EOS, PAD


class Decoded(NamedTuple):
    """The text found for a line.

    tokens       ids, special ones left out
    confidences  probability of each token, in [0, 1]
    spans        left and right edge of each token, counted in image tokens from the left
    """

    tokens: tuple[int, ...]
    confidences: tuple[float, ...]
    spans: tuple[tuple[float, float], ...]


class Decoder(ABC):
    """Finds the text of every line of an image memory; the answer for a line does not depend on the others."""

    needs_ctc: ClassVar[bool] = False

    def check(self, network: DRetHTR) -> None:
        """Refuse a network that lacks what this decoder needs.

        Raises:
            ConfigError: saying what is missing.
        """
        if self.needs_ctc and network.ctc is None:
            raise ConfigError("this model has no CTC head; use another decoder, such as greedy")

    @abstractmethod
    def decode(self, network: DRetHTR, memory: ImageMemory) -> list[Decoded]:
        """One text for each line of the memory."""


@dataclass(frozen=True)
class CTC(Decoder):
    """The likeliest path of the CTC head; no decoding loop at all."""

    needs_ctc: ClassVar[bool] = True

    def decode(self, network: DRetHTR, memory: ImageMemory) -> list[Decoded]:
        log_probabilities, steps = ctc_scores(memory)
        paths = best_path(log_probabilities, steps, PAD)
        return [on_image(path, int(length), network) for path, length in zip(paths, steps, strict=True)]


@dataclass(frozen=True)
class Greedy(Decoder):
    """The likeliest next token at every step."""

    def decode(self, network: DRetHTR, memory: ImageMemory) -> list[Decoded]:
        scorer = NetworkScorer(network, memory)
        first, limits = scorer.first_tokens(), text_limits(memory)
        hypotheses = greedy(scorer, network.initial_state(memory), first, end=EOS, limit=limits)
        return [located(network, memory, line, best) for line, best in enumerate(hypotheses)]


@dataclass(frozen=True)
class Beam(Decoder):
    """Beam search, hypotheses compared by log-probability / length^length_exponent."""

    beams: int = 5
    length_exponent: float = 1.0

    def __post_init__(self) -> None:
        if not 1 <= self.beams <= 100:
            raise ConfigError(f"a beam search keeps 1 to 100 beams, not {self.beams}")

    def decode(self, network: DRetHTR, memory: ImageMemory) -> list[Decoded]:
        scorer = NetworkScorer(network, memory)
        found = beam_search(
            scorer,
            network.initial_state(memory),
            scorer.first_tokens(),
            end=EOS,
            beams=self.beams,
            limit=text_limits(memory),
            length_exponent=self.length_exponent,
        )
        return [located(network, memory, line, hypotheses[0]) for line, hypotheses in enumerate(found)]


def default_decoder(network: DRetHTR) -> Decoder:
    """CTC where there is a head for it, else greedy."""
    return CTC() if network.ctc is not None else Greedy()


class NetworkScorer(NamedTuple):
    """A network as search sees it; the image memory stays here, once per line."""

    network: DRetHTR
    memory: ImageMemory

    def step(self, tokens: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """See `Scorer.step`; what is no text, such as padding, is never written."""
        logits, state = self.network.decode_text(tokens[:, None], self.memory, state)
        logits = logits[:, -1].float()
        logits[:, [BOS, PAD]] = -torch.inf
        return logits.log_softmax(-1), state

    def keep(self, lines: Tensor) -> "NetworkScorer":
        """See `Scorer.keep`."""
        return NetworkScorer(self.network, select_lines(self.memory, lines))

    def first_tokens(self) -> Tensor:
        """The start of every line's text, (B,)."""
        keys = self.memory.layers[0].keys
        return torch.full((keys.shape[0],), BOS, device=keys.device)


def select_lines(memory: ImageMemory, lines: Tensor) -> ImageMemory:
    """The memory of some lines."""
    return ImageMemory(
        select_rows(memory.layers, lines),
        None if memory.mask is None else memory.mask[lines],
        None if memory.ctc is None else select_rows(memory.ctc, lines),
    )


LONGEST = 400
"""Tokens of a text, where no CTC head says how many fit."""


def text_limits(memory: ImageMemory) -> Tensor:
    """The longest text of each line, (B,), its end included: as many characters as CTC could hold."""
    if memory.ctc is not None:
        return memory.ctc.steps + 1
    keys = memory.layers[0].keys
    return torch.full((keys.shape[0],), LONGEST, device=keys.device)


def ctc_scores(memory: ImageMemory) -> tuple[Tensor, Tensor]:
    """Log-probabilities (B, S, V) of the refined reading and how many steps count, (B,)."""
    assert memory.ctc is not None
    return memory.ctc.refined.float().log_softmax(-1).cpu(), memory.ctc.steps.cpu()


def located(network: DRetHTR, memory: ImageMemory, line: int, best: Hypothesis) -> Decoded:
    """A hypothesis with its tokens aligned to the image by the CTC head, or spread evenly if there is none."""
    probabilities = torch.tensor(best.token_log_probabilities[: len(best.tokens)]).exp().tolist()
    if memory.ctc is None:
        places = memory.layers[0].keys.shape[2] if memory.mask is None else int(memory.mask[line].sum())
        step = places / max(len(best.tokens), 1)
        spans = [(number * step, (number + 1) * step) for number in range(len(best.tokens))]
        return Decoded(best.tokens, tuple(probabilities), tuple(spans))
    steps = int(memory.ctc.steps[line])
    scores = memory.ctc.refined[line, :steps].float().log_softmax(-1).cpu()
    path = align(scores, best.tokens, PAD)
    return on_image(path, steps, network)._replace(confidences=tuple(probabilities))


def on_image(path: CTCPath, steps: int, network: DRetHTR) -> Decoded:
    """A CTC path of so many steps, its tokens as sure as CTC is of them."""
    confidences = tuple(torch.tensor(path.token_log_probabilities).exp().tolist())
    return Decoded(path.tokens, confidences, edges(path.spans, steps, network))


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
