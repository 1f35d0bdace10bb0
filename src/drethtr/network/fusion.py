"""Attention and retention with their projections to and from heads.

`ModalityFusion` is for the layers of a decoder-only network, where image and text meet. An encoder-decoder splits its
work: `ImageAttention` in the encoder, `TextMixing` and `CrossAttention` in the decoder.
"""

from typing import Generic

import torch.nn.functional as F
from torch import Tensor, nn

from drethtr.network.attention import ImagePrior, KeyValue, attend_image
from drethtr.network.mixer import PastMixer, State, TextMixer
from drethtr.network.output import Output
from drethtr.network.tree import Tree


class HeadProjections(nn.Module):
    """Base class with the projections to queries, keys and values of each head, and back."""

    def __init__(self, width: int, heads: int, dropout: float, weight_dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Linear(width, 3 * width, bias=False)
        self.to_out = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)
        self.weight_dropout = weight_dropout

    def dropped(self) -> float:
        """The dropout rate of attention and retention weights; 0 outside training."""
        return self.weight_dropout if self.training else 0.0

    def split_heads(self, x: Tensor) -> tuple[Tensor, KeyValue]:
        q, k, v = self.to_qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        return q, KeyValue(k, v)

    def project(self, found: Tensor) -> Tensor:
        """Project the output of the heads, (B, N, width), back to the tokens."""
        out: Tensor = self.dropout(self.to_out(found))
        return out


def join_heads(heads: Tensor) -> Tensor:
    """(B, H, N, K) as (B, N, H x K)."""
    return heads.transpose(1, 2).flatten(2)


class ModalityFusion(HeadProjections, Generic[State]):
    """Image tokens attend to the image, text tokens to the image and the text before them."""

    def __init__(
        self,
        width: int,
        heads: int,
        text_mixer: TextMixer[State],
        image_prior: ImagePrior,
        output: Output,
        dropout: float,
        weight_dropout: float,
    ) -> None:
        super().__init__(width, heads, dropout, weight_dropout)
        self.output = output
        self.text_mixer = text_mixer
        self.image_prior = image_prior

    def image(self, x: Tensor, mask: Tensor | None) -> tuple[Tensor, KeyValue]:
        """Process image tokens (B, I, width); also returns their keys and values for the text."""
        q, own = self.split_heads(x)
        found = join_heads(self.image_prior(q, own, mask, self.dropped()))
        return self.project(self.output.of_image(found, x)), own

    def text(
        self, x: Tensor, image: KeyValue, mask: Tensor | None, state: State, tree: Tree | None
    ) -> tuple[Tensor, State]:
        """Process text tokens (R, N, width), or the nodes (B, N, width) of a tree."""
        q, own = self.split_heads(x)
        if tree is None:
            mixed, state = self.text_mixer(x, q, own, image, mask, state, dropout=self.dropped())
        else:
            mixed, state = self.text_mixer.mix_tree(x, q, own, image, mask, state, tree)
        return self.project(self.output(join_heads(mixed), x)), state


class ImageAttention(HeadProjections):
    """Self-attention of image tokens in an encoder."""

    def __init__(self, width: int, heads: int, image_prior: ImagePrior, dropout: float, weight_dropout: float) -> None:
        super().__init__(width, heads, dropout, weight_dropout)
        self.image_prior = image_prior

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Process image tokens (B, I, width)."""
        q, own = self.split_heads(x)
        return self.project(join_heads(self.image_prior(q, own, mask, self.dropped())))


class TextMixing(HeadProjections, Generic[State]):
    """Text tokens attend to the text before them, in the decoder of an encoder-decoder."""

    def __init__(
        self,
        width: int,
        heads: int,
        text_mixer: PastMixer[State],
        output: Output,
        dropout: float,
        weight_dropout: float,
    ) -> None:
        super().__init__(width, heads, dropout, weight_dropout)
        self.output = output
        self.text_mixer = text_mixer

    def forward(self, x: Tensor, state: State, tree: Tree | None) -> tuple[Tensor, State]:
        """Process text tokens (R, N, width), or the nodes (B, N, width) of a tree."""
        q, own = self.split_heads(x)
        if tree is None:
            mixed, state = self.text_mixer(x, q, own, state, dropout=self.dropped())
        else:
            mixed, state = self.text_mixer.mix_tree(x, q, own, state, tree)
        return self.project(self.output(join_heads(mixed), x)), state


class CrossAttention(nn.Module):
    """Text tokens attend to the encoded image."""

    def __init__(self, width: int, heads: int, dropout: float, weight_dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.to_q = nn.Linear(width, width, bias=False)
        self.to_kv = nn.Linear(width, 2 * width, bias=False)
        self.to_out = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)
        self.weight_dropout = weight_dropout

    def kept_of_image(self, x: Tensor) -> KeyValue:
        """Keys and values of image tokens (B, I, width), normed first, since a pre-norm encoder ends without a norm."""
        normed = F.layer_norm(x, x.shape[-1:])  # without a scale, which `to_kv` includes
        return KeyValue(*self.to_kv(normed).unflatten(-1, (2, self.heads, -1)).permute(2, 0, 3, 1, 4))

    def forward(self, x: Tensor, image: KeyValue, mask: Tensor | None) -> Tensor:
        """Process text tokens (R, N, width); the beams of a line share its image."""
        q = self.to_q(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        found = attend_image(q, image, mask, self.weight_dropout if self.training else 0.0)
        out: Tensor = self.dropout(self.to_out(join_heads(found)))
        return out
