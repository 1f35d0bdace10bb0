"""RetHTR and TrHTR, the paper's encoder-decoders: text attends to itself, then to an image that has been encoded."""

from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from drethtr.network.attention import PRIORS, ImagePrior, KeyValue, attend_image
from drethtr.network.block import (
    ARCHITECTURES,
    OUTPUTS,
    Block,
    HeadProjections,
    Layers,
    TextMixing,
    feed_forward,
    join_heads,
)
from drethtr.network.mixer import AttentionWeights, MixerState, PastMixer, Retention, image_scores
from drethtr.network.tree import Tree
from drethtr.paper.network.mixers import SoftmaxMixer
from drethtr.paper.variants import EncoderDecoder, JointSoftmax, SplitSoftmax
from drethtr.recognition.model.architecture import MixerConfig, NetworkConfig, Retentive
from drethtr.recognition.model.decay import LayerPosition


class ImageAttention(HeadProjections):
    """Self-attention of image tokens in an encoder."""

    def __init__(self, width: int, heads: int, image_prior: ImagePrior, dropout: float, weight_dropout: float) -> None:
        super().__init__(width, heads, dropout, weight_dropout)
        self.image_prior = image_prior

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Process image tokens (B, I, width)."""
        q, own = self.split_heads(x)
        return self.project(join_heads(self.image_prior(q, own, mask, self.active_dropout())))


class EncoderLayer(nn.Module):
    """A layer of an encoder: self-attention of image tokens, then feed-forward."""

    def __init__(self, config: NetworkConfig, position: LayerPosition, hidden: int) -> None:
        super().__init__()
        prior = PRIORS.build(config.prior, position)
        self.attention = ImageAttention(config.width, config.heads, prior, config.dropout, config.weight_dropout)
        self.attention_norm = nn.LayerNorm(config.width)
        self.feed_forward = feed_forward(config.width, hidden, config.dropout)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Same shape (B, I, width); `mask` (B, I) is true where a token is."""
        x = x + self.attention(self.attention_norm(x), mask)
        out: Tensor = x + self.feed_forward(x)
        return out


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

    def queries(self, x: Tensor) -> Tensor:
        """The queries (R, H, N, K) of text tokens (R, N, width)."""
        q: Tensor = self.to_q(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        return q

    def forward(self, x: Tensor, image: KeyValue, mask: Tensor | None) -> Tensor:
        """Process text tokens (R, N, width); the beams of a line share its image."""
        found = attend_image(self.queries(x), image, mask, self.weight_dropout if self.training else 0.0)
        out: Tensor = self.dropout(self.to_out(join_heads(found)))
        return out


def past_of(config: MixerConfig, position: LayerPosition, width: int) -> PastMixer[Any]:
    """The part of a mixer that sees the text alone, as the image comes later; one softmax or two are then the same."""
    if isinstance(config, Retentive):
        return Retention(config, position, width)
    assert isinstance(config, JointSoftmax | SplitSoftmax)
    return SoftmaxMixer(config.fade, position)


class CrossBlock(Block):
    """The decoder layer of an encoder-decoder: text attends to itself, then to the encoded image."""

    def __init__(self, config: NetworkConfig, layer: int) -> None:
        super().__init__()
        past = past_of(config.mixer, config.position(layer), config.width)
        output = OUTPUTS.build(config.output, config.width, config.heads)
        self.mixing = TextMixing(config.width, config.heads, past, output, config.dropout, config.weight_dropout)
        self.mixing_norm = nn.LayerNorm(config.width)
        self.cross = CrossAttention(config.width, config.heads, config.dropout, config.weight_dropout)
        self.cross_norm = nn.LayerNorm(config.width)
        self.feed_forward = feed_forward(config.width, config.hidden, config.dropout)

    def image(self, x: Tensor, mask: Tensor | None) -> tuple[Tensor, KeyValue]:
        return x, self.kept_of_image(x)

    def kept_of_image(self, x: Tensor) -> KeyValue:
        return self.cross.kept_of_image(x)

    def initial_state(self, like: KeyValue) -> MixerState:
        state: MixerState = self.mixing.text_mixer.initial_state(like)
        return state

    def text(
        self, x: Tensor, image: KeyValue, mask: Tensor | None, state: MixerState, tree: Tree | None = None
    ) -> tuple[Tensor, MixerState]:
        mixed, state = self.mixing(self.mixing_norm(x), state, tree)
        x = x + mixed
        x = x + self.cross(self.cross_norm(x), image, mask)
        return x + self.feed_forward(x), state

    def weigh(self, x: Tensor, image: KeyValue, mask: Tensor | None) -> AttentionWeights:
        normed = self.mixing_norm(x)
        query = self.mixing.query(normed)
        mixed, _ = self.mixing(normed, self.initial_state(query.text), None)
        q = self.cross.queries(self.cross_norm(x + mixed))
        return AttentionWeights(image_scores(q, image, mask).softmax(-1)[0], *self.mixing.text_mixer.weigh(query))


@ARCHITECTURES.computes(EncoderDecoder)
def encoder_decoder(config: EncoderDecoder, network: NetworkConfig) -> Layers:
    """A pre-norm transformer encoder, and a decoder with cross-attention."""
    positions = [LayerPosition(layer, config.layers, network.heads) for layer in range(config.layers)]
    encoder = [EncoderLayer(network, position, config.hidden) for position in positions]
    return Layers(encoder, [CrossBlock(network, layer) for layer in range(network.layers)])
