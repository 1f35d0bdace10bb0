"""ARMF, the paper's idea: text attends to the image with softmax, to the text before it with retention, and adds both.

A `TextMixer` mixes image and text into the text tokens of a layer, a `PastMixer` the text alone. Both take the state of
the text so far and return the next one, as values: so a search can reorder and keep states, and a test compare them.
`block.py` has the projections to and from heads.

Shapes, everywhere in this file: R rows of text, H heads, N new tokens, K channels of a head; I tokens of B images.
Rows are lines x beams, the beams of a line next to each other.
"""

from abc import ABC, abstractmethod
from typing import Any, Generic, NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from drethtr.network.ancestry import AncestralCache
from drethtr.network.attention import KeyValue, attend_image
from drethtr.network.cache import RetentionCache, TextCache
from drethtr.network.retention import CHUNK, DECAYS, chunkwise, recall
from drethtr.network.tree import Tree
from drethtr.network.variants import Variants
from drethtr.recognition.model.architecture import Retentive
from drethtr.recognition.model.decay import LayerPosition

State = TypeVar("State")

MixerState = RetentionCache | TextCache | AncestralCache
"""The state of retention, of softmax attention, or of either in a search on a GPU."""


class Query(NamedTuple):
    """N new text tokens of R rows; N = 1 in decoding.

    x     (R, N, width)  the tokens, from which a gated decay is computed
    q     (R, H, N, K)   their queries, not yet scaled
    text  (R, H, N, K)   their keys and values
    """

    x: Tensor
    q: Tensor
    text: KeyValue

    def spread(self, tree: Tree) -> "Query":
        """Copy the nodes of a tree to its texts."""
        return Query(tree.spread(self.x), tree.spread(self.q), KeyValue(*map(tree.spread, self.text)))


class AttentionWeights(NamedTuple):
    """A layer's part of `drethtr.recognition.protocol.Attention`: (H, N, I), (H, N, N), and (H,) or None."""

    image: Tensor
    text: Tensor
    reach: Tensor | None


class PastMixer(nn.Module, ABC, Generic[State]):
    """Attends from text tokens to the preceding text. `dropout` applies to single weights."""

    @abstractmethod
    def initial_state(self, like: KeyValue) -> State:
        """The state before the first text token, with as many rows as `like`."""

    @abstractmethod
    def forward(self, query: Query, state: State, *, dropout: float) -> tuple[Tensor, State]:
        """Mix for the new tokens, (R, H, N, K), and return the state after them."""

    def mix_tree(self, query: Query, state: State, tree: Tree) -> tuple[Tensor, State]:
        """Mix for the nodes of a tree; the states have a row per text of the tree."""
        # One row per text, as if there were no tree; a node takes its result from any text that contains it.
        mixed, state = self(query.spread(tree), state, dropout=0.0)
        return tree.gather(mixed), state

    def weigh(self, query: Query) -> tuple[Tensor, Tensor | None]:
        """`AttentionWeights.text` and `AttentionWeights.reach` of a whole text, for mixers that can show them."""
        raise NotImplementedError(f"{type(self).__name__} does not show its weights")


class TextMixer(nn.Module, ABC, Generic[State]):
    """Attends from text tokens to the image and the preceding text. `dropout` applies to single weights.

    `image` are the keys and values of B lines, (B, H, I, K); `mask` (B, I) is true where there is an image token.
    """

    @abstractmethod
    def initial_state(self, like: KeyValue) -> State:
        """The state before the first text token, with as many rows as `like`."""

    @abstractmethod
    def forward(
        self, query: Query, image: KeyValue, mask: Tensor | None, state: State, *, dropout: float
    ) -> tuple[Tensor, State]:
        """Mix for the new tokens, (R, H, N, K), and return the state after them."""

    def mix_tree(
        self, query: Query, image: KeyValue, mask: Tensor | None, state: State, tree: Tree
    ) -> tuple[Tensor, State]:
        """Mix for the nodes of a tree; the states have a row per text of the tree."""
        mixed, state = self(query.spread(tree), image, mask, state, dropout=0.0)
        return tree.gather(mixed), state

    @abstractmethod
    def weigh(self, query: Query, image: KeyValue, mask: Tensor | None) -> AttentionWeights:
        """The weights of a whole text."""


class Retention(PastMixer[RetentionCache | AncestralCache]):
    """Retention over the text: without softmax, with a memory of fixed size (paper, eqs. 2-4)."""

    def __init__(self, config: Retentive, position: LayerPosition, width: int) -> None:
        super().__init__()
        self.decay = DECAYS.build(config.decay, position, width)
        self.normalize = config.normalize

    def initial_state(self, like: KeyValue) -> RetentionCache:
        return RetentionCache.empty(like)

    def forward(
        self, query: Query, state: RetentionCache | AncestralCache, *, dropout: float
    ) -> tuple[Tensor, RetentionCache | AncestralCache]:
        x, q, text = query
        scaled, log_decay = q * q.shape[-1] ** -0.5, self.decay(x)
        # Three forms of one result: for a token of a search, a whole text in training and scoring, and a very long
        # text.
        if q.shape[2] == 1 and not dropout:
            state = state.followed_by(text, log_decay)
            return state.read(scaled, normalize=self.normalize).to(q.dtype), state.absorb_if_full()
        assert isinstance(state, RetentionCache), "a search on a GPU writes one token at a time"
        if q.shape[2] <= CHUNK:
            # Buffered tokens must be absorbed into the memory before a whole text follows.
            state = state.absorb_latest()
            read = recall(scaled, *text, log_decay, state.memory, normalize=self.normalize, dropout=dropout)
            return read.to(q.dtype), state.followed_by(text, log_decay)
        # Chunks pass the memory on, so everything before the text must be in it.
        before = state.full_memory()
        read, memory = chunkwise(scaled, *text, log_decay, before, normalize=self.normalize, dropout=dropout)
        return read.to(q.dtype), RetentionCache.of(memory, text)

    def weigh(self, query: Query) -> tuple[Tensor, Tensor | None]:
        log_gamma = self.decay(query.x).float()
        fade = log_gamma.cumsum(-1)
        decay = (fade[..., :, None] - fade[..., None, :]).exp().tril()
        if self.normalize:
            decay = decay / decay.sum(-1, keepdim=True).sqrt()
        return (scores(query.q, query.text).abs() * decay)[0], (1 / -torch.expm1(log_gamma)).mean((0, 2))


class ARMF(TextMixer[State]):
    """Attention to the image plus what `past` finds in the text: retention in DRetHTR (paper, eqs. 7-9)."""

    def __init__(self, past: PastMixer[State]) -> None:
        super().__init__()
        self.past = past

    def initial_state(self, like: KeyValue) -> State:
        return self.past.initial_state(like)

    def forward(
        self, query: Query, image: KeyValue, mask: Tensor | None, state: State, *, dropout: float
    ) -> tuple[Tensor, State]:
        from_text, state = self.past(query, state, dropout=dropout)
        return attend_image(query.q, image, mask, dropout) + from_text, state

    def mix_tree(
        self, query: Query, image: KeyValue, mask: Tensor | None, state: State, tree: Tree
    ) -> tuple[Tensor, State]:
        # Each node sees the image once, however many texts of the tree share it.
        from_text, state = self.past.mix_tree(query, state, tree)
        return attend_image(query.q, image, mask) + from_text, state

    def weigh(self, query: Query, image: KeyValue, mask: Tensor | None) -> AttentionWeights:
        return AttentionWeights(image_scores(query.q, image, mask).softmax(-1)[0], *self.past.weigh(query))


MIXERS = Variants[TextMixer[Any]]("mixer")
"""Made from config, position of the layer, and width of the network; the config determines the class of the state."""


@MIXERS.computes(Retentive)
def armf(config: Retentive, position: LayerPosition, width: int) -> ARMF[RetentionCache | AncestralCache]:
    """The mixer of DRetHTR."""
    return ARMF(Retention(config, position, width))


def scores(q: Tensor, tokens: KeyValue) -> Tensor:
    """Scaled dot products (R, H, N, M) of queries and M keys, in float32."""
    found: Tensor = q.float() @ tokens.keys.float().mT * q.shape[-1] ** -0.5
    return found


def image_scores(q: Tensor, image: KeyValue, mask: Tensor | None) -> Tensor:
    """Scaled dot products with the image tokens of the same rows, -inf in padding."""
    found = scores(q, image)
    return found if mask is None else found.masked_fill(~mask[:, None, None, :], -torch.inf)
