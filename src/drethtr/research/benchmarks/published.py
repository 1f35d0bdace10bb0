"""The published algorithm, in its own terms: what it spends, not how it is written.

Every line stands on a canvas of 2,227 columns; every beam has its own copy of the image's keys and values; and the sum
of the decay is taken anew over the whole text at every step. A beam search stops once all beams of all lines have
ended. Greedy search stops at a step at which all lines end: a single line at its own end, several hardly ever, because
their texts are not equally long, so that they go on to the limit of 94 tokens (`decoding.prepare_published`).
Weights, layers, kernels and the search are those of this package, so that nothing but the algorithm is compared.
Source: paper, Sec. 5.3 and 6.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from drethtr.network.attention import KeyValue
from drethtr.network.decay import log_gamma
from drethtr.network.mixer import PastMixer, build_past
from drethtr.network.network import DecoderState, DRetHTR, ImageMemory
from drethtr.network.retention import RetentionState, recurrent
from drethtr.recognition.architecture import LayerPosition, MixerConfig, Scheduled
from drethtr.recognition.search.scorer import NetworkScorer, select_lines
from drethtr.recognition.search.search import Hypothesis
from drethtr.research.authors import CANVAS
from drethtr.research.published_decoding import LIMIT, published_beam_search
from drethtr.text.tokenizer import BOS, EOS

PAPER_HEIGHT = 64


class GrowingState(NamedTuple):
    """What the recurrent form remembers, and the number of tokens in it."""

    memory: RetentionState
    length: int


class PublishedRetention(PastMixer[GrowingState]):
    """S ← γ S + k ⊗ v, read by q and divided by the root of Σ γ^p, which is summed anew at every step."""

    log_gamma: Tensor

    def __init__(self, log_gamma: Tensor) -> None:
        super().__init__()
        self.register_buffer("log_gamma", log_gamma, persistent=False)

    def initial_state(self, like: KeyValue) -> GrowingState:
        return GrowingState(RetentionState.empty(*like), 0)

    def forward(
        self, x: Tensor, q: Tensor, text: KeyValue, state: GrowingState, *, dropout: float
    ) -> tuple[Tensor, GrowingState]:
        decay = self.log_gamma[None, :, None]
        read, memory = recurrent(q * q.shape[-1] ** -0.5, *text, decay, state.memory)
        length = state.length + 1
        mass = (decay * torch.arange(length, device=q.device)).exp().sum(-1)
        return read / mass[..., None, None].sqrt(), GrowingState(memory, length)


@dataclass(frozen=True)
class PublishedRetentive(MixerConfig):
    """The same weights as `Retentive`; only for writing token by token."""

    decay: Scheduled = field(default_factory=Scheduled)


@build_past.register
def published(config: PublishedRetentive, position: LayerPosition, width: int) -> PastMixer[GrowingState]:
    """Retention as published."""
    return PublishedRetention(log_gamma(config.decay, position))


def on_canvas(images: Tensor) -> tuple[Tensor, Tensor]:
    """Images (B, 1, height, columns) on the right of which paper fills the canvas, and its width for each line."""
    lines, _, height, columns = images.shape
    width = round(CANVAS * height / PAPER_HEIGHT)
    canvas = images.new_full((lines, 1, height, max(width, columns)), -1.0)
    canvas[..., :columns] = images
    return canvas, torch.full((lines,), canvas.shape[-1], device=images.device)


class CopyingScorer:
    """A network as search sees it; every beam gets a copy of its line's image when there are several."""

    def __init__(self, network: DRetHTR, memory: ImageMemory, copies: int = 1) -> None:
        self.network = network
        self.memory = memory
        self.copies = copies

    def step(self, tokens: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """See `Scorer.step`."""
        copies = len(tokens) // self.memory.layers[0].keys.shape[0]
        if copies > 1:
            self.memory, self.copies = copied(self.memory, copies), copies
        return NetworkScorer(self.network, self.memory, forbidden=()).step(tokens, state)

    def keep(self, lines: Tensor) -> "CopyingScorer":
        """See `Scorer.keep`."""
        rows = lines[:, None] * self.copies + torch.arange(self.copies, device=lines.device)
        return CopyingScorer(self.network, select_lines(self.memory, rows.flatten()), self.copies)


def copied(memory: ImageMemory, beams: int) -> ImageMemory:
    """The image memory with a copy of each line for every beam."""
    layers = tuple(KeyValue(*(part.repeat_interleave(beams, 0) for part in kept)) for kept in memory.layers)
    return ImageMemory(layers, None, None)


def read(network: DRetHTR, images: Tensor, beams: int) -> list[Hypothesis]:
    """The best text of each line of images (B, 1, height, columns)."""
    memory = network.encode_image(*on_canvas(images))
    first = torch.full((len(images),), BOS, device=images.device)
    scorer, state = CopyingScorer(network, memory), network.initial_state(memory)
    return published_beam_search(scorer, state, first, end=EOS, beams=beams, limit=LIMIT)
