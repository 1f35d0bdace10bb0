"""The layers of the decoder: ARMF, then feed-forward, each after a norm and added to its input (paper, Sec. 4.1.3).

A block processes the image once, in `image`, which returns its tokens and the keys and values for the text; then it
processes the text, any number of tokens at a time, in `text`. Image and text share all weights.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, NamedTuple

from torch import Tensor, nn

from drethtr.network.attention import PRIORS, KeyValue
from drethtr.network.mixer import MIXERS, AttentionWeights, MixerState, PastMixer, Query, State
from drethtr.network.tree import Tree
from drethtr.network.variants import Variants
from drethtr.recognition.model.architecture import DecoderOnly, NetworkConfig, Plain


class HeadProjections(nn.Module):
    """Base class with the projections to queries, keys and values of each head, and back."""

    def __init__(self, width: int, heads: int, dropout: float, weight_dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Linear(width, 3 * width, bias=False)
        self.to_out = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)
        self.weight_dropout = weight_dropout

    def active_dropout(self) -> float:
        """The dropout rate of attention and retention weights; 0 outside training."""
        return self.weight_dropout if self.training else 0.0

    def split_heads(self, x: Tensor) -> tuple[Tensor, KeyValue]:
        """Tokens (B, N, width) to queries, and keys and values, (B, H, N, K) each."""
        q, k, v = self.to_qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        return q, KeyValue(k, v)

    def query(self, x: Tensor) -> Query:
        """Text tokens as the mixers take them."""
        return Query(x, *self.split_heads(x))

    def project(self, found: Tensor) -> Tensor:
        """Project the output of the heads, (B, N, width), back to the tokens."""
        out: Tensor = self.dropout(self.to_out(found))
        return out


def join_heads(heads: Tensor) -> Tensor:
    """(B, H, N, K) as (B, N, H x K)."""
    return heads.transpose(1, 2).flatten(2)


class Output(nn.Module, ABC):
    """Changes the output of a layer's heads before it is projected; with `on_image`, also that of image tokens."""

    on_image: bool = True

    @abstractmethod
    def forward(self, found: Tensor, x: Tensor) -> Tensor:
        """Change the output `found` of the heads, (B, N, width); `x` are the layer's input tokens after its norm."""


OUTPUTS = Variants[Output]("output")
"""Made from config, width and number of heads."""


@OUTPUTS.computes(Plain)
class PlainOutput(Output):
    """No change: DRetHTR leaves out RetNet's norm and gate (paper, Sec. 4.1.2)."""

    def __init__(self, config: Plain, width: int, heads: int) -> None:
        super().__init__()

    def forward(self, found: Tensor, x: Tensor) -> Tensor:
        return found


class ModalityFusion(HeadProjections):
    """Image tokens attend to the image, text tokens to the image and the text before them."""

    def __init__(self, config: NetworkConfig, layer: int) -> None:
        super().__init__(config.width, config.heads, config.dropout, config.weight_dropout)
        position = config.position(layer)
        self.output = OUTPUTS.build(config.output, config.width, config.heads)
        self.text_mixer = MIXERS.build(config.mixer, position, config.width)
        self.image_prior = PRIORS.build(config.prior, position)

    def image(self, x: Tensor, mask: Tensor | None) -> tuple[Tensor, KeyValue]:
        """Process image tokens (B, I, width); also returns their keys and values for the text."""
        q, own = self.split_heads(x)
        found = join_heads(self.image_prior(q, own, mask, self.active_dropout()))
        return self.project(self.output(found, x) if self.output.on_image else found), own

    def text(
        self, x: Tensor, image: KeyValue, mask: Tensor | None, state: MixerState, tree: Tree | None
    ) -> tuple[Tensor, MixerState]:
        """Process text tokens (R, N, width), or the nodes (B, N, width) of a tree."""
        if tree is None:
            mixed, state = self.text_mixer(self.query(x), image, mask, state, dropout=self.active_dropout())
        else:
            mixed, state = self.text_mixer.mix_tree(self.query(x), image, mask, state, tree)
        return self.project(self.output(join_heads(mixed), x)), state


class TextMixing(HeadProjections, Generic[State]):
    """Text tokens attend to the text before them alone: in the rescorer, and in an encoder-decoder."""

    def __init__(
        self, width: int, heads: int, past: PastMixer[State], output: Output, dropout: float, weight_dropout: float
    ) -> None:
        super().__init__(width, heads, dropout, weight_dropout)
        self.output = output
        self.text_mixer = past

    def forward(self, x: Tensor, state: State, tree: Tree | None) -> tuple[Tensor, State]:
        """Process text tokens (R, N, width), or the nodes (B, N, width) of a tree."""
        if tree is None:
            mixed, state = self.text_mixer(self.query(x), state, dropout=self.active_dropout())
        else:
            mixed, state = self.text_mixer.mix_tree(self.query(x), state, tree)
        return self.project(self.output(join_heads(mixed), x)), state


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

    @abstractmethod
    def weigh(self, x: Tensor, image: KeyValue, mask: Tensor | None) -> AttentionWeights:
        """How the tokens (1, N, width) of a whole text weigh image and text."""


class FusedBlock(Block):
    """The layer of DRetHTR."""

    def __init__(self, config: NetworkConfig, layer: int) -> None:
        super().__init__()
        self.fusion = ModalityFusion(config, layer)
        self.fusion_norm = nn.LayerNorm(config.width)
        self.feed_forward = feed_forward(config.width, config.hidden, config.dropout)

    def image(self, x: Tensor, mask: Tensor | None) -> tuple[Tensor, KeyValue]:
        mixed, kept = self.fusion.image(self.fusion_norm(x), mask)
        x = x + mixed
        return x + self.feed_forward(x), kept

    def kept_of_image(self, x: Tensor) -> KeyValue:
        return self.fusion.split_heads(self.fusion_norm(x))[1]

    def initial_state(self, like: KeyValue) -> MixerState:
        state: MixerState = self.fusion.text_mixer.initial_state(like)
        return state

    def text(
        self, x: Tensor, image: KeyValue, mask: Tensor | None, state: MixerState, tree: Tree | None = None
    ) -> tuple[Tensor, MixerState]:
        mixed, state = self.fusion.text(self.fusion_norm(x), image, mask, state, tree)
        x = x + mixed
        return x + self.feed_forward(x), state

    def weigh(self, x: Tensor, image: KeyValue, mask: Tensor | None) -> AttentionWeights:
        return self.fusion.text_mixer.weigh(self.fusion.query(self.fusion_norm(x)), image, mask)


class Layers(NamedTuple):
    """The layers of a network: those of its encoder, if it has one, and the blocks of its decoder.

    A layer of an encoder takes image tokens (B, I, width) and their mask, and returns tokens of the same shape.
    """

    encoder: Sequence[nn.Module]
    blocks: Sequence[Block]


ARCHITECTURES = Variants[Layers]("architecture")
"""Made from its config and the whole network's."""


@ARCHITECTURES.computes(DecoderOnly)
def decoder_only(config: DecoderOnly, network: NetworkConfig) -> Layers:
    """The layers of DRetHTR: no encoder, as image and text go through the same blocks."""
    return Layers((), [FusedBlock(network, layer) for layer in range(network.layers)])
