"""Mixers: how the text tokens of a layer weigh the image and the preceding text.

A `PastMixer` attends to the text alone, a `TextMixer` to image and text. Both take a state and return the next one; it
may be a matrix of fixed size or a growing cache. `drethtr.network.fusion` has the projections to and from heads.
"""

from abc import ABC, abstractmethod
from functools import singledispatch
from typing import Any, Generic, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from drethtr.network.attention import KeyValue, attend_image, fold_beams, unfold_beams
from drethtr.network.cache import TextCache
from drethtr.network.decay import Decay, build_decay, log_gamma
from drethtr.network.retention import CHUNK, chunkwise, recall
from drethtr.network.retention_cache import RetentionCache
from drethtr.network.softmax import softmax_attention
from drethtr.network.tree import Tree
from drethtr.recognition.model.architecture import Fade, JointSoftmax, MixerConfig, Retentive, SplitSoftmax
from drethtr.recognition.model.decay import LayerPosition

State = TypeVar("State")

MixerState = RetentionCache | TextCache
"""The state of a mixer of this file: of retention, or of softmax attention."""


class PastMixer(nn.Module, ABC, Generic[State]):
    """Attends from text tokens to the preceding text. `dropout` applies to single weights."""

    @abstractmethod
    def initial_state(self, like: KeyValue) -> State:
        """The state before the first text token, with as many rows as `like`."""

    @abstractmethod
    def forward(self, x: Tensor, q: Tensor, text: KeyValue, state: State, *, dropout: float) -> tuple[Tensor, State]:
        """Mix for N new text tokens, N = 1 in decoding, and return the state after them."""

    def mix_tree(self, x: Tensor, q: Tensor, text: KeyValue, state: State, tree: Tree) -> tuple[Tensor, State]:
        """Mix for the N nodes of a tree; the states have a row per text of the tree."""
        texts = KeyValue(*map(tree.spread, text))
        mixed, state = self(tree.spread(x), tree.spread(q), texts, state, dropout=0.0)
        return tree.gather(mixed), state


class TextMixer(nn.Module, ABC, Generic[State]):
    """Attends from text tokens to the image and the preceding text.

    Rows are lines x beams: the text is (R, ...), the image (B, ...) with B lines. `dropout` applies to single weights.
    """

    @abstractmethod
    def initial_state(self, like: KeyValue) -> State:
        """The state before the first text token, with as many rows as `like`."""

    @abstractmethod
    def forward(
        self,
        x: Tensor,
        q: Tensor,
        text: KeyValue,
        image: KeyValue,
        mask: Tensor | None,
        state: State,
        *,
        dropout: float,
    ) -> tuple[Tensor, State]:
        """Mix for N new text tokens, N = 1 in decoding, and return the state after them."""

    def mix_tree(
        self, x: Tensor, q: Tensor, text: KeyValue, image: KeyValue, mask: Tensor | None, state: State, tree: Tree
    ) -> tuple[Tensor, State]:
        """Mix for the N nodes of a tree; the states have a row per text of the tree."""
        texts = KeyValue(*map(tree.spread, text))
        mixed, state = self(tree.spread(x), tree.spread(q), texts, image, mask, state, dropout=0.0)
        return tree.gather(mixed), state


class RetentiveMixer(PastMixer[RetentionCache]):
    """Retention over the text: without softmax, with a memory of fixed size (paper, eqs. 2-4)."""

    def __init__(self, decay: Decay, normalize: bool) -> None:
        super().__init__()
        self.decay = decay
        self.normalize = normalize

    def initial_state(self, like: KeyValue) -> RetentionCache:
        return RetentionCache.empty(like)

    def forward(
        self, x: Tensor, q: Tensor, text: KeyValue, state: RetentionCache, *, dropout: float
    ) -> tuple[Tensor, RetentionCache]:
        scaled, log_decay = q * q.shape[-1] ** -0.5, self.decay(x)
        if q.shape[2] == 1 and not dropout:
            state = state.followed_by(text, log_decay)
            return state.read(scaled, normalize=self.normalize).to(q.dtype), state.absorb_if_full()
        if q.shape[2] <= CHUNK:
            state = state.absorb_latest()
            read = recall(scaled, *text, log_decay, state.memory, normalize=self.normalize, dropout=dropout)
            return read.to(q.dtype), state.followed_by(text, log_decay)
        before = state.full_memory()
        read, memory = chunkwise(scaled, *text, log_decay, before, normalize=self.normalize, dropout=dropout)
        return read.to(q.dtype), RetentionCache.of(memory, text)


def causal_mask(queries: int, keys: int, device: torch.device) -> Tensor | None:
    """The causal mask (queries, keys), true where to attend, for queries at the last keys; None: everywhere."""
    if queries == 1:
        return None
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)


class FadedWeights(nn.Module):
    """Softmax weights of the text times γ^(n-m), so that they no longer sum to 1."""

    log_gamma: Tensor

    def __init__(self, log_gamma: Tensor, normalize: bool) -> None:
        super().__init__()
        self.normalize = normalize
        self.register_buffer("log_gamma", log_gamma, persistent=False)

    def forward(self, weights: Tensor) -> Tensor:
        """Multiply weights (R, H, queries, keys) by the decay, for queries at the last keys; same shape."""
        queries, keys = weights.shape[-2:]
        places = torch.arange(keys, device=weights.device)
        distance = places[keys - queries :, None] - places
        decay = (distance.clamp(min=0) * self.log_gamma[:, None, None]).exp()
        if self.normalize:
            decay = decay / (decay * (distance >= 0)).sum(-1, keepdim=True).sqrt()
        return weights * decay


class SoftmaxMixer(PastMixer[TextCache]):
    """Causal softmax attention; its state holds every text token."""

    def __init__(self, fade: FadedWeights | None) -> None:
        super().__init__()
        self.fade = fade

    def initial_state(self, like: KeyValue) -> TextCache:
        return TextCache.empty(like)

    def forward(
        self, x: Tensor, q: Tensor, text: KeyValue, state: TextCache, *, dropout: float
    ) -> tuple[Tensor, TextCache]:
        state = state.followed_by(text)
        written, seen = state.tokens, causal_mask(q.shape[2], state.length, q.device)
        if self.fade is None:
            return softmax_attention(q, *written, seen, dropout), state
        scores = mask_scores(q * q.shape[-1] ** -0.5 @ written.keys.mT, seen)
        weights = F.dropout(self.fade(scores.softmax(-1)), dropout, training=dropout > 0)
        return weights.to(q.dtype) @ written.values, state


def mask_scores(scores: Tensor, seen: Tensor | None) -> Tensor:
    """Set scores to -inf where a query may not attend."""
    return scores if seen is None else scores.masked_fill(~seen, -torch.inf)


class SummedMixer(TextMixer[State]):
    """Attends to image and text separately and sums both: ARMF (paper, eqs. 7-9) with retention, else split softmax."""

    def __init__(self, past: PastMixer[State]) -> None:
        super().__init__()
        self.past = past

    def initial_state(self, like: KeyValue) -> State:
        return self.past.initial_state(like)

    def forward(
        self,
        x: Tensor,
        q: Tensor,
        text: KeyValue,
        image: KeyValue,
        mask: Tensor | None,
        state: State,
        *,
        dropout: float,
    ) -> tuple[Tensor, State]:
        from_text, state = self.past(x, q, text, state, dropout=dropout)
        return attend_image(q, image, mask, dropout) + from_text, state

    def mix_tree(
        self, x: Tensor, q: Tensor, text: KeyValue, image: KeyValue, mask: Tensor | None, state: State, tree: Tree
    ) -> tuple[Tensor, State]:
        from_text, state = self.past.mix_tree(x, q, text, state, tree)
        return attend_image(q, image, mask) + from_text, state


class JointSoftmaxMixer(TextMixer[TextCache]):
    """One softmax over image and text together: the DTrHTR baseline."""

    def __init__(self, fade: FadedWeights | None) -> None:
        super().__init__()
        self.fade = fade

    def initial_state(self, like: KeyValue) -> TextCache:
        return TextCache.empty(like)

    def forward(
        self,
        x: Tensor,
        q: Tensor,
        text: KeyValue,
        image: KeyValue,
        mask: Tensor | None,
        state: TextCache,
        *,
        dropout: float,
    ) -> tuple[Tensor, TextCache]:
        state = state.followed_by(text)
        written, seen = state.tokens, causal_mask(q.shape[2], state.length, q.device)
        rows, lines, places = q.shape[0], image.keys.shape[0], image.keys.shape[2]
        scaled = q * q.shape[-1] ** -0.5
        to_image = mask_scores(
            fold_beams(scaled, lines) @ image.keys.mT, None if mask is None else mask[:, None, None, :]
        )
        to_text = mask_scores(scaled @ written.keys.mT, seen)
        weights = torch.cat([unfold_beams(to_image, rows), to_text], dim=-1).softmax(-1)
        if self.fade is not None:
            weights = torch.cat([weights[..., :places], self.fade(weights[..., places:])], dim=-1)
        weights = F.dropout(weights, dropout, training=dropout > 0).to(q.dtype)
        from_image = unfold_beams(fold_beams(weights[..., :places], lines) @ image.values, rows)
        return from_image + weights[..., places:] @ written.values, state


@singledispatch
def build_mixer(config: MixerConfig, position: LayerPosition, width: int) -> TextMixer[Any]:
    """Build the mixer of a layer that sees image and text; the config determines the class of its state."""
    return SummedMixer(build_past(config, position, width))


@build_mixer.register
def joint(config: JointSoftmax, position: LayerPosition, width: int) -> TextMixer[TextCache]:
    """Build one softmax over image and text."""
    return JointSoftmaxMixer(build_fade(config.fade, position))


@singledispatch
def build_past(config: MixerConfig, position: LayerPosition, width: int) -> PastMixer[Any]:
    """Build the mixer of a layer that sees text only; the config determines the class of its state."""
    raise TypeError(f"no mixer is registered for {config!r}")


@build_past.register
def retentive(config: Retentive, position: LayerPosition, width: int) -> PastMixer[RetentionCache]:
    """Build retention."""
    return RetentiveMixer(build_decay(config.decay, position, width), config.normalize)


@build_past.register(JointSoftmax)
@build_past.register(SplitSoftmax)
def softmax(config: JointSoftmax | SplitSoftmax, position: LayerPosition, width: int) -> PastMixer[TextCache]:
    """Build causal softmax attention."""
    return SoftmaxMixer(build_fade(config.fade, position))


def build_fade(fade: Fade | None, position: LayerPosition) -> FadedWeights | None:
    """Build the decay of a layer's softmax weights, if it has one."""
    return None if fade is None else FadedWeights(log_gamma(fade.decay, position), fade.normalize)
