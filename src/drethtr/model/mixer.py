"""How the tokens of one layer look at each other.

Image tokens see the image. Text tokens see the image and the text before them; how the
two are weighed, and what must be remembered to go on writing, is the job of a TextMixer.
`ModalityFusion` is the frame around it, the same for every mixer.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from drethtr.model.attention import ImagePrior, KeyValue, attend_image, fold_beams, unfold_beams
from drethtr.model.decay import Decay, DecayConfig, Place, Scheduled
from drethtr.model.retention import RetentionState, retain

State = TypeVar("State")


class TextMixer(nn.Module, ABC, Generic[State]):
    """What a text query takes from the image and from the text before it.

    Rows are lines x beams: the text is (R, ...), the image (B, ...) with B lines. `dropout` falls on single weights.
    """

    @abstractmethod
    def initial_state(self, like: KeyValue) -> State:
        """The state of as many rows as `like` has, before the first text token."""

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
        """Mix for N new text tokens, N = 1 when writing, and return the state after them."""


class RetentiveMixer(TextMixer[RetentionState]):
    """Softmax over the image, retention over the text: ARMF (paper, eqs. 7-9)."""

    def __init__(self, decay: Decay, normalize: bool) -> None:
        super().__init__()
        self.decay = decay
        self.normalize = normalize

    def initial_state(self, like: KeyValue) -> RetentionState:
        return RetentionState.empty(*like)

    def forward(
        self,
        x: Tensor,
        q: Tensor,
        text: KeyValue,
        image: KeyValue,
        mask: Tensor | None,
        state: RetentionState,
        *,
        dropout: float,
    ) -> tuple[Tensor, RetentionState]:
        scaled = q * q.shape[-1] ** -0.5
        retained, state = retain(scaled, *text, self.decay(x), state, normalize=self.normalize, dropout=dropout)
        return attend_image(q, image, mask, dropout) + retained.to(q.dtype), state


def causal(queries: int, keys: int, device: torch.device) -> Tensor:
    """True where a query may look, the queries being the last of the keys, (queries, keys)."""
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)


class CachedMixer(TextMixer[KeyValue]):
    """The frame of both softmax mixers: they remember every text token."""

    def initial_state(self, like: KeyValue) -> KeyValue:
        return KeyValue(*(part[:, :, :0] for part in like))


class JointSoftmaxMixer(CachedMixer):
    """One softmax over image and text together: the DTrHTR baseline."""

    def forward(
        self,
        x: Tensor,
        q: Tensor,
        text: KeyValue,
        image: KeyValue,
        mask: Tensor | None,
        state: KeyValue,
        *,
        dropout: float,
    ) -> tuple[Tensor, KeyValue]:
        state = state.followed_by(text)
        rows, lines, places = q.shape[0], image.keys.shape[0], image.keys.shape[2]
        scaled = q * q.shape[-1] ** -0.5
        to_image = fold_beams(scaled, lines) @ image.keys.mT
        if mask is not None:
            to_image = to_image.masked_fill(~mask[:, None, None, :], -torch.inf)
        seen = causal(q.shape[2], state.keys.shape[2], q.device)
        to_text = (scaled @ state.keys.mT).masked_fill(~seen, -torch.inf)
        scores = torch.cat([unfold_beams(to_image, rows), to_text], dim=-1)
        weights = F.dropout(scores.softmax(-1), dropout, training=dropout > 0).to(q.dtype)
        from_image = unfold_beams(fold_beams(weights[..., :places], lines) @ image.values, rows)
        return from_image + weights[..., places:] @ state.values, state


class SplitSoftmaxMixer(CachedMixer):
    """One softmax over the image, another over the text (paper, Sec. 7)."""

    def forward(
        self,
        x: Tensor,
        q: Tensor,
        text: KeyValue,
        image: KeyValue,
        mask: Tensor | None,
        state: KeyValue,
        *,
        dropout: float,
    ) -> tuple[Tensor, KeyValue]:
        state = state.followed_by(text)
        seen = causal(q.shape[2], state.keys.shape[2], q.device)
        from_text = F.scaled_dot_product_attention(q, *state, attn_mask=seen, dropout_p=dropout)
        return attend_image(q, image, mask, dropout) + from_text, state


class MixerConfig(ABC):
    """Which text mixer every layer gets."""

    @abstractmethod
    def build(self, place: Place, width: int) -> TextMixer[Any]: ...


@dataclass(frozen=True)
class Retentive(MixerConfig):
    """`normalize` divides by the root of D's row sum, as the released code does and the paper does not say."""

    decay: DecayConfig = field(default_factory=Scheduled)
    normalize: bool = True

    def build(self, place: Place, width: int) -> TextMixer[RetentionState]:
        return RetentiveMixer(self.decay.build(place, width), self.normalize)


@dataclass(frozen=True)
class JointSoftmax(MixerConfig):
    """DTrHTR."""

    def build(self, place: Place, width: int) -> TextMixer[KeyValue]:
        return JointSoftmaxMixer()


@dataclass(frozen=True)
class SplitSoftmax(MixerConfig):
    """Separate normalization of image and text."""

    def build(self, place: Place, width: int) -> TextMixer[KeyValue]:
        return SplitSoftmaxMixer()


class ModalityFusion(nn.Module):
    """Projections to and from heads, around a text mixer and an image prior."""

    def __init__(
        self,
        width: int,
        heads: int,
        text_mixer: TextMixer[Any],
        image_prior: ImagePrior,
        dropout: float,
        weight_dropout: float,
    ) -> None:
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Linear(width, 3 * width, bias=False)
        self.to_out = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)
        self.weight_dropout = weight_dropout
        self.text_mixer = text_mixer
        self.image_prior = image_prior

    def image(self, x: Tensor, mask: Tensor | None) -> tuple[Tensor, KeyValue]:
        """Image tokens (B, I, width) look at the image; their keys and values are kept for the text."""
        q, own = self.split_heads(x)
        return self.merge_heads(self.image_prior(q, own, mask, self.dropped())), own

    def text(self, x: Tensor, image: KeyValue, mask: Tensor | None, state: State) -> tuple[Tensor, State]:
        """Text tokens (R, N, width) look at the image and back at the text."""
        q, own = self.split_heads(x)
        mixed, state = self.text_mixer(x, q, own, image, mask, state, dropout=self.dropped())
        return self.merge_heads(mixed), state

    def dropped(self) -> float:
        """The share of attention and retention weights dropped, none outside training."""
        return self.weight_dropout if self.training else 0.0

    def split_heads(self, x: Tensor) -> tuple[Tensor, KeyValue]:
        q, k, v = self.to_qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        return q, KeyValue(k, v)

    def merge_heads(self, x: Tensor) -> Tensor:
        out: Tensor = self.dropout(self.to_out(x.transpose(1, 2).flatten(2)))
        return out
