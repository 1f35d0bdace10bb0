"""The rescorer: a language model of whole texts, with retention between tokens and no image.

It scores the candidates of `joint`, all texts of a line at once as a tree.
"""

import torch
from torch import Tensor, nn

from drethtr.network.attention import KeyValue
from drethtr.network.block import PlainOutput, TextMixing, feed_forward
from drethtr.network.embedding import TextEmbedding
from drethtr.network.mixer import Retention
from drethtr.network.network import initialize
from drethtr.network.tree import Tree
from drethtr.recognition.model.architecture import Plain, RescorerConfig


class RescorerBlock(nn.Module):
    """Retention over the text, then feed-forward."""

    def __init__(self, config: RescorerConfig, layer: int) -> None:
        super().__init__()
        retention = Retention(config.mixer, config.position(layer), config.width)
        output = PlainOutput(Plain(), config.width, config.heads)
        self.mixing = TextMixing(config.width, config.heads, retention, output, dropout=0.0, weight_dropout=0.0)
        self.mixing_norm = nn.LayerNorm(config.width)
        self.feed_forward = feed_forward(config.width, config.hidden, dropout=0.0)

    def forward(self, x: Tensor, tree: Tree | None = None) -> Tensor:
        """Process whole texts (R, N, width), or the nodes of a tree per line; same shape."""
        rows = x.shape[0] if tree is None else x.shape[0] * tree.nodes.shape[1]
        nothing = x.new_zeros(rows, self.mixing.heads, 0, x.shape[2] // self.mixing.heads)
        empty = self.mixing.text_mixer.initial_state(KeyValue(nothing, nothing))
        mixed, _ = self.mixing(self.mixing_norm(x), empty, tree)
        x = x + mixed
        out: Tensor = x + self.feed_forward(x)
        return out


class RescorerNetwork(nn.Module):
    """A language model over `vocabulary` tokens."""

    def __init__(self, config: RescorerConfig, vocabulary: int) -> None:
        super().__init__()
        self.config = config
        self.embed = TextEmbedding(vocabulary, config.width, dropout=0.0)
        self.blocks = nn.ModuleList(RescorerBlock(config, layer) for layer in range(config.layers))
        self.final_norm = nn.LayerNorm(config.width)
        self.to_logits = nn.Linear(config.width, vocabulary, bias=False)
        initialize(self)

    def forward(self, tokens: Tensor, tree: Tree | None = None) -> Tensor:
        """Logits (R, N, vocabulary) after each token (R, N) of whole texts, or each node of a tree per line.

        The first token is `BOS`.
        """
        places = torch.arange(tokens.shape[1], device=tokens.device) if tree is None else tree.place
        x = self.embed(tokens, places)
        for block in self.blocks:
            x = block(x, tree)
        logits: Tensor = self.to_logits(self.final_norm(x))
        return logits
