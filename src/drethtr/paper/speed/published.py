"""The published algorithm: its work, not its code.

Every line is on a canvas of 2,227 columns; every beam has its own copy of the image's keys and values; and every step
sums the decay over the whole text. Beam search stops once all beams of all lines have ended. Greedy search stops at a
step at which all lines end: a single line at its own end, several lines almost never, since their texts differ in
length, so that they run to the limit of 94 tokens (`decoding.prepare_published`). Weights, layers, kernels and search
are those of this package, so that only the algorithms are compared.
Source: paper, Sec. 5.3 and 6.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from drethtr.images.prepare import Prepared
from drethtr.network.attention import KeyValue
from drethtr.network.decay import log_gamma
from drethtr.network.mixer import ARMF, MIXERS, PastMixer, Query
from drethtr.network.retention import RetentionState, recurrent
from drethtr.paper.authors import CANVAS
from drethtr.paper.published_decoding import LIMIT, published_beam_search
from drethtr.recognition.decoding.scorer import NetworkScorer
from drethtr.recognition.decoding.stepwise import Floats, Hypothesis, Ints
from drethtr.recognition.model.architecture import MixerConfig
from drethtr.recognition.model.decay import LayerPosition, Scheduled
from drethtr.recognition.network import ImageMemory, Network, State
from drethtr.text.tokenizer import BOS, EOS

PAPER_HEIGHT = 64


class GrowingState(NamedTuple):
    """The state of the recurrent form, and its number of tokens."""

    memory: RetentionState
    length: int


class PublishedRetention(PastMixer[GrowingState]):
    """S ← γ S + k ⊗ v, read with q and divided by √(Σ γ^p), which every step sums over the whole text."""

    log_gamma: Tensor

    def __init__(self, decay: Scheduled, position: LayerPosition) -> None:
        super().__init__()
        self.register_buffer("log_gamma", log_gamma(decay, position), persistent=False)

    def initial_state(self, like: KeyValue) -> GrowingState:
        return GrowingState(RetentionState.empty(*like), 0)

    def forward(self, query: Query, state: GrowingState, *, dropout: float) -> tuple[Tensor, GrowingState]:
        _, q, text = query
        decay = self.log_gamma[None, :, None]
        read, memory = recurrent(q * q.shape[-1] ** -0.5, *text, decay, state.memory)
        length = state.length + 1
        mass = (decay * torch.arange(length, device=q.device)).exp().sum(-1)
        return read / mass[..., None, None].sqrt(), GrowingState(memory, length)


@dataclass(frozen=True)
class PublishedRetentive(MixerConfig):
    """Has the weights of `Retentive`, but only decodes token by token."""

    decay: Scheduled = field(default_factory=Scheduled)


@MIXERS.computes(PublishedRetentive)
def published(config: PublishedRetentive, position: LayerPosition, width: int) -> ARMF[GrowingState]:
    """ARMF with retention as published."""
    return ARMF(PublishedRetention(config.decay, position))


def on_canvas(image: Prepared) -> Prepared:
    """Pad an image (height, columns) with paper on the right to the width of the canvas."""
    height, columns = image.shape
    return np.pad(image, ((0, 0), (0, max(0, round(CANVAS * height / PAPER_HEIGHT) - columns))), constant_values=-1)


class CopyingScorer:
    """Scores tokens for the search; with several beams, each has its own copy of the line's image."""

    def __init__(self, network: Network, memory: ImageMemory, copies: int = 1) -> None:
        self.network = network
        self.memory = memory
        self.copies = copies

    def step(self, tokens: Ints, state: State) -> tuple[Floats, State]:
        """See `Scorer.step`."""
        copies = len(tokens) // self.memory.lines
        if copies > 1:
            rows = np.repeat(np.arange(self.memory.lines), copies)
            self.memory, self.copies = self.network.keep(self.memory, rows.tolist()), copies
        return NetworkScorer(self.network, self.memory, forbidden=()).step(tokens, state)

    def reorder(self, state: State, rows: Ints) -> State:
        """See `Scorer.reorder`."""
        return self.network.reorder(state, rows)

    def keep(self, lines: Ints) -> "CopyingScorer":
        """See `Scorer.keep`."""
        rows = (lines[:, None] * self.copies + np.arange(self.copies)).ravel()
        return CopyingScorer(self.network, self.network.keep(self.memory, rows.tolist()), self.copies)


def read(network: Network, images: Sequence[Prepared], beams: int) -> list[Hypothesis]:
    """Read lines; returns the best text of each."""
    memory = network.encode([on_canvas(image) for image in images])
    first = np.full(len(images), BOS)
    scorer, state = CopyingScorer(network, memory), network.begin(memory)
    return published_beam_search(scorer, state, first, end=EOS, beams=beams, limit=LIMIT)
