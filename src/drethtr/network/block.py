"""The layers of a network: attention or retention, then feed-forward, with pre-norm and residuals.

A decoder block processes the image once, in `image`, which returns its tokens and the keys and values for the text;
then it processes the text, any number of tokens at a time, in `text`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import singledispatch

from torch import Tensor, nn

from drethtr.network.attention import KeyValue, build_prior
from drethtr.network.fusion import CrossAttention, ImageAttention, ModalityFusion, TextMixing
from drethtr.network.mixer import MixerState, PastMixer, TextMixer, build_mixer, build_past
from drethtr.network.output import build_output
from drethtr.network.tree import Tree
from drethtr.recognition.model.architecture import ArchitectureConfig, DecoderOnly, EncoderDecoder, NetworkConfig
from drethtr.recognition.model.decay import LayerPosition


def feed_forward(width: int, hidden: int, dropout: float) -> nn.Sequential:
    """The feed-forward part, which treats each token alone: norm, expand, project."""
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
        """Image tokens (B, I, width) after this layer, and their keys and values for the text."""

    @abstractmethod
    def kept_of_image(self, x: Tensor) -> KeyValue:
        """The keys and values that `image` returns, without computing the image tokens after the layer."""

    @abstractmethod
    def initial_state(self, like: KeyValue) -> MixerState:
        """The state before the first text token, with as many rows as `like`."""

    @abstractmethod
    def text(
        self, x: Tensor, image: KeyValue, mask: Tensor | None, state: MixerState, tree: Tree | None = None
    ) -> tuple[Tensor, MixerState]:
        """Text tokens (R, N, width), or nodes (B, N, width) of a tree, after this layer, and the state after them."""


class FusedBlock(Block):
    """The layer of a decoder-only network: image and text share its weights."""

    def __init__(self, config: NetworkConfig, layer: int) -> None:
        super().__init__()
        position = config.position(layer)
        mixer: TextMixer[MixerState] = build_mixer(config.mixer, position, config.width)
        self.fusion = ModalityFusion(
            config.width,
            config.heads,
            mixer,
            build_prior(config.prior, position),
            build_output(config.output, config.width, config.heads),
            config.dropout,
            config.weight_dropout,
        )
        self.fusion_norm = nn.LayerNorm(config.width)
        self.feed_forward = feed_forward(config.width, config.hidden, config.dropout)

    def image(self, x: Tensor, mask: Tensor | None) -> tuple[Tensor, KeyValue]:
        mixed, kept = self.fusion.image(self.fusion_norm(x), mask)
        x = x + mixed
        return x + self.feed_forward(x), kept

    def kept_of_image(self, x: Tensor) -> KeyValue:
        return self.fusion.split_heads(self.fusion_norm(x))[1]

    def initial_state(self, like: KeyValue) -> MixerState:
        return self.fusion.text_mixer.initial_state(like)

    def text(
        self, x: Tensor, image: KeyValue, mask: Tensor | None, state: MixerState, tree: Tree | None = None
    ) -> tuple[Tensor, MixerState]:
        mixed, state = self.fusion.text(self.fusion_norm(x), image, mask, state, tree)
        x = x + mixed
        return x + self.feed_forward(x), state


class CrossBlock(Block):
    """The decoder layer of an encoder-decoder: text attends to itself, then to the encoded image."""

    def __init__(self, config: NetworkConfig, layer: int) -> None:
        super().__init__()
        mixer: PastMixer[MixerState] = build_past(config.mixer, config.position(layer), config.width)
        output = build_output(config.output, config.width, config.heads)
        self.mixing = TextMixing(config.width, config.heads, mixer, output, config.dropout, config.weight_dropout)
        self.mixing_norm = nn.LayerNorm(config.width)
        self.cross = CrossAttention(config.width, config.heads, config.dropout, config.weight_dropout)
        self.cross_norm = nn.LayerNorm(config.width)
        self.feed_forward = feed_forward(config.width, config.hidden, config.dropout)

    def image(self, x: Tensor, mask: Tensor | None) -> tuple[Tensor, KeyValue]:
        return x, self.kept_of_image(x)

    def kept_of_image(self, x: Tensor) -> KeyValue:
        return self.cross.kept_of_image(x)

    def initial_state(self, like: KeyValue) -> MixerState:
        return self.mixing.text_mixer.initial_state(like)

    def text(
        self, x: Tensor, image: KeyValue, mask: Tensor | None, state: MixerState, tree: Tree | None = None
    ) -> tuple[Tensor, MixerState]:
        mixed, state = self.mixing(self.mixing_norm(x), state, tree)
        x = x + mixed
        x = x + self.cross(self.cross_norm(x), image, mask)
        return x + self.feed_forward(x), state


class EncoderLayer(nn.Module):
    """A layer of an encoder: self-attention of image tokens, then feed-forward."""

    def __init__(self, config: NetworkConfig, position: LayerPosition, hidden: int) -> None:
        super().__init__()
        prior = build_prior(config.prior, position)
        self.attention = ImageAttention(config.width, config.heads, prior, config.dropout, config.weight_dropout)
        self.attention_norm = nn.LayerNorm(config.width)
        self.feed_forward = feed_forward(config.width, hidden, config.dropout)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Same shape (B, I, width); `mask` (B, I) is true where a token is."""
        x = x + self.attention(self.attention_norm(x), mask)
        out: Tensor = x + self.feed_forward(x)
        return out


@singledispatch
def build_encoder(architecture: ArchitectureConfig, config: NetworkConfig) -> Sequence[EncoderLayer]:
    """Build the layers of the encoder; a decoder-only network has none."""
    raise TypeError(f"no layers are registered for {architecture!r}")


@build_encoder.register
def no_encoder(architecture: DecoderOnly, config: NetworkConfig) -> Sequence[EncoderLayer]:
    """Build no layers."""
    return ()


@build_encoder.register
def plain_encoder(architecture: EncoderDecoder, config: NetworkConfig) -> Sequence[EncoderLayer]:
    """Build a pre-norm transformer encoder."""
    positions = [LayerPosition(layer, architecture.layers, config.heads) for layer in range(architecture.layers)]
    return [EncoderLayer(config, position, architecture.hidden) for position in positions]


@singledispatch
def build_block(architecture: ArchitectureConfig, config: NetworkConfig, layer: int) -> Block:
    """Build layer number `layer` of the decoder, from 0."""
    raise TypeError(f"no layers are registered for {architecture!r}")


@build_block.register
def fused(architecture: DecoderOnly, config: NetworkConfig, layer: int) -> Block:
    """Build a layer shared by image and text."""
    return FusedBlock(config, layer)


@build_block.register
def crossed(architecture: EncoderDecoder, config: NetworkConfig, layer: int) -> Block:
    """Build a layer whose text attends to the encoded image."""
    return CrossBlock(config, layer)
