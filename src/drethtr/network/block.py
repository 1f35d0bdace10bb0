"""The layers of a network: what weighs tokens, then feed-forward, each normed before and added after.

A decoder's block meets the image once, in `image`, which hands on the image tokens and what the text may look at; then
it takes the text, any number of tokens at a time, in `text`.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from torch import Tensor, nn

from drethtr.network.attention import KeyValue, PriorConfig
from drethtr.network.decay import Place
from drethtr.network.fusion import CrossAttention, ImageAttention, ModalityFusion, TextMixing
from drethtr.network.mixer import MixerConfig
from drethtr.network.output import OutputConfig
from drethtr.network.tree import Tree


class Shape(NamedTuple):
    """What the layers of a network have in common."""

    layers: int
    width: int
    heads: int
    hidden: int
    dropout: float
    weight_dropout: float
    mixer: MixerConfig
    prior: PriorConfig
    output: OutputConfig


def feed_forward(width: int, hidden: int, dropout: float) -> nn.Sequential:
    """Each token by itself: norm, widen, narrow."""
    return nn.Sequential(
        nn.LayerNorm(width),
        nn.Linear(width, hidden),
        nn.GELU(),
        nn.Dropout(dropout),
        nn.Linear(hidden, width),
        nn.Dropout(dropout),
    )


class Block(nn.Module, ABC):
    """A layer of a decoder."""

    @abstractmethod
    def image(self, x: Tensor, mask: Tensor | None) -> tuple[Tensor, KeyValue]:
        """Image tokens (B, I, width) after this layer, and what it keeps of them for the text."""

    @abstractmethod
    def kept_of_image(self, x: Tensor) -> KeyValue:
        """What `image` keeps, where nobody asks what becomes of the image tokens."""

    @abstractmethod
    def initial_state(self, like: KeyValue) -> Any:
        """What the layer remembers before the first text token, for as many rows as `like` has."""

    @abstractmethod
    def text(
        self, x: Tensor, image: KeyValue, mask: Tensor | None, state: Any, tree: Tree | None = None
    ) -> tuple[Tensor, Any]:
        """Text tokens (R, N, width), or nodes (B, N, width) of a tree, after this layer, and what it remembers then."""


class FusedBlock(Block):
    """Image and text go through the same weights: the layer of a decoder-only network."""

    def __init__(self, shape: Shape, layer: int) -> None:
        super().__init__()
        place = Place(layer, shape.layers, shape.heads)
        self.fusion = ModalityFusion(
            shape.width,
            shape.heads,
            shape.mixer.build(place, shape.width),
            shape.prior.build(place),
            shape.output.build(shape.width, shape.heads),
            shape.dropout,
            shape.weight_dropout,
        )
        self.fusion_norm = nn.LayerNorm(shape.width)
        self.feed_forward = feed_forward(shape.width, shape.hidden, shape.dropout)

    def image(self, x: Tensor, mask: Tensor | None) -> tuple[Tensor, KeyValue]:
        mixed, kept = self.fusion.image(self.fusion_norm(x), mask)
        x = x + mixed
        return x + self.feed_forward(x), kept

    def kept_of_image(self, x: Tensor) -> KeyValue:
        return self.fusion.split_heads(self.fusion_norm(x))[1]

    def initial_state(self, like: KeyValue) -> Any:
        return self.fusion.text_mixer.initial_state(like)

    def text(
        self, x: Tensor, image: KeyValue, mask: Tensor | None, state: Any, tree: Tree | None = None
    ) -> tuple[Tensor, Any]:
        mixed, state = self.fusion.text(self.fusion_norm(x), image, mask, state, tree)
        x = x + mixed
        return x + self.feed_forward(x), state


class CrossBlock(Block):
    """Text mixes with itself, then looks across to the encoded image, which this layer leaves as it is."""

    def __init__(self, shape: Shape, layer: int) -> None:
        super().__init__()
        mixer = shape.mixer.build_past(Place(layer, shape.layers, shape.heads), shape.width)
        output = shape.output.build(shape.width, shape.heads)
        self.mixing = TextMixing(shape.width, shape.heads, mixer, output, shape.dropout, shape.weight_dropout)
        self.mixing_norm = nn.LayerNorm(shape.width)
        self.cross = CrossAttention(shape.width, shape.heads, shape.dropout, shape.weight_dropout)
        self.cross_norm = nn.LayerNorm(shape.width)
        self.feed_forward = feed_forward(shape.width, shape.hidden, shape.dropout)

    def image(self, x: Tensor, mask: Tensor | None) -> tuple[Tensor, KeyValue]:
        return x, self.kept_of_image(x)

    def kept_of_image(self, x: Tensor) -> KeyValue:
        return self.cross.kept_of_image(x)

    def initial_state(self, like: KeyValue) -> Any:
        return self.mixing.text_mixer.initial_state(like)

    def text(
        self, x: Tensor, image: KeyValue, mask: Tensor | None, state: Any, tree: Tree | None = None
    ) -> tuple[Tensor, Any]:
        mixed, state = self.mixing(self.mixing_norm(x), state, tree)
        x = x + mixed
        x = x + self.cross(self.cross_norm(x), image, mask)
        return x + self.feed_forward(x), state


class EncoderLayer(nn.Module):
    """Image tokens look at each other before any text is there: a layer of an encoder."""

    def __init__(self, shape: Shape, place: Place, hidden: int) -> None:
        super().__init__()
        prior = shape.prior.build(place)
        self.attention = ImageAttention(shape.width, shape.heads, prior, shape.dropout, shape.weight_dropout)
        self.attention_norm = nn.LayerNorm(shape.width)
        self.feed_forward = feed_forward(shape.width, hidden, shape.dropout)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Same shape (B, I, width); `mask` (B, I) is true where a token is."""
        x = x + self.attention(self.attention_norm(x), mask)
        out: Tensor = x + self.feed_forward(x)
        return out
