"""The image side of a network: from the pixels of one line to keys, values and CTC logits.

Shapes, everywhere in this file: I image tokens, x (I, width); H heads of K channels; V tokens of the vocabulary.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from drethtr.recognition.model.architecture import (
    PPOCR,
    Added,
    CTCConfig,
    Light,
    NetworkConfig,
    NoPrior,
    PriorConfig,
    Sinusoidal,
)
from drethtr.recognition.model.decay import LayerPosition
from drethtr.recognition.onnx.backbones import light, ppocr
from drethtr.recognition.onnx.graph import Array, Graph, floats, ints
from drethtr.recognition.onnx.layers import Bias, Layer, attention, layer_norm, linear, sinusoid, token_numbers
from drethtr.text.tokenizer import BLANK

QUERIES_AT_ONCE = 512
"""Queries of a long line that attend at once: memory grows with the length of the line, not with its square."""


def image_graph(
    config: NetworkConfig,
    weights: Mapping[str, Array],
    vocabulary: int,
    *,
    int8: bool,
    long_lines: bool = False,
) -> Graph:
    """From `image` (1, 1, height, columns) to the outputs of `image_memory`, then draft (I, V) and refined reading."""
    graph = Graph(weights, queries_at_once=QUERIES_AT_ONCE if long_lines else None, int8=int8)
    backbone = config.backbone
    assert isinstance(backbone, PPOCR | Light), "`supports` refuses other backbones"
    image = graph.input("image", (1, 1, backbone.height, "columns"))
    features = ppocr(graph, image, backbone) if isinstance(backbone, PPOCR) else light(graph, image, backbone)
    x = linear(graph, features.tokens, "to_width", features.width, config.width)
    places = token_numbers(graph, x)
    if isinstance(config.positions, Sinusoidal):
        x = graph.op("Add", x, sinusoid(graph, places, config.width))
    if config.ctc is None:
        image_memory(graph, config, x, places, to_the_end=False)
        return graph
    head = CTCHead(graph, config.ctc, config.width, vocabulary)
    draft = linear(graph, features.draft, "ctc.draft", features.draft_width, vocabulary)
    x = image_memory(graph, config, head.add_draft(x, draft), places, to_the_end=True)
    graph.output(draft, head.refined(x, draft))
    return graph


def blank_graph(config: NetworkConfig, weights: Mapping[str, Array]) -> Graph:
    """From `tokens` (I, width) with positions to the outputs of `image_memory`."""
    graph = Graph(weights)
    x = graph.input("tokens", ("tokens", config.width))
    image_memory(graph, config, x, token_numbers(graph, x), to_the_end=False)
    return graph


def image_memory(graph: Graph, config: NetworkConfig, x: str, places: str, *, to_the_end: bool) -> str:
    """Run image tokens through the layers, and output what text tokens attend to; return the tokens.

    Outputs are the keys and values (H, I, K) of each layer in turn, and the mean key and value of the last, (H, 2 K).
    The tokens leave the last layer only if `to_the_end`; otherwise they are those that enter it.
    """
    for number in range(config.layers):
        layer = Layer(graph, config, number)
        heads = layer.heads(x)
        graph.output(heads.keys, heads.values)
        # Text attends to what enters the last layer; only the CTC head needs what leaves it.
        if to_the_end or number < config.layers - 1:
            x = layer.after(
                x, attention(graph, heads, places, decay_bias(config.prior, config.position(number), places))
            )
    kept = graph.op("Concat", heads.keys, heads.values, axis=-1)
    graph.output(graph.op("ReduceMean", kept, ints(1), keepdims=0))
    return x


def decay_bias(prior: PriorConfig, position: LayerPosition, places: str) -> Bias | None:
    """The image prior of a layer, |i - j| log γ (H, I, I), if it has one; `places` (I, 1) of all tokens."""
    if isinstance(prior, NoPrior):
        return None
    assert isinstance(prior, Added)
    log_gamma = prior.decay.log_gamma(position)[:, None, None]

    def bias(graph: Graph, own: str) -> str:
        distance = graph.op("Abs", graph.op("Sub", own, graph.op("Transpose", places, perm=(1, 0))))
        return graph.op("Mul", distance, log_gamma)

    return bias


class CTCHead(NamedTuple):
    """The head on the image tokens; see `drethtr.network.ctc`."""

    graph: Graph
    config: CTCConfig
    width: int
    vocabulary: int

    def add_draft(self, x: str, draft: str) -> str:
        """Add the draft and the reading position to image tokens."""
        if not self.config.inform_decoder:
            return x
        graph = self.graph
        seen = graph.op("Softmax", draft, axis=-1)
        begun = sinusoid(graph, self.characters_begun(seen), self.width)
        x = graph.op("Add", x, linear(graph, begun, "ctc.place", self.width, self.width, bias=False))
        return graph.op("Add", x, linear(graph, seen, "ctc.inform", self.vocabulary, self.width, bias=False))

    def characters_begun(self, seen: str) -> str:
        """Expected number of characters begun up to each token, (I, 1), from probabilities (I, V)."""
        graph = self.graph
        later = graph.op("Pad", seen, ints(1, 0, 0, 0))
        before = graph.op("Slice", later, ints(0), ints(-1), ints(0))
        # A character begins where it is likely now and was not at the token before, so it counts once, however wide.
        begun = graph.op("Mul", seen, graph.op("Sub", floats(1), before))
        written = np.arange(self.vocabulary) != BLANK
        each = graph.op("MatMul", begun, floats(written)[:, None])
        return graph.op("CumSum", each, np.array(0))

    def refined(self, x: str, draft: str) -> str:
        """Logits (I x steps, V)."""
        graph, steps, vocabulary = self.graph, self.config.steps, self.vocabulary
        normed = layer_norm(graph, x, "ctc.refine_norm", self.width)
        corrections = linear(graph, normed, "ctc.refine", self.width, steps * vocabulary)
        apart = graph.op("Reshape", corrections, ints(-1, steps, vocabulary))
        refined = graph.op("Add", apart, graph.op("Unsqueeze", draft, ints(1)))
        return graph.op("Reshape", refined, ints(-1, vocabulary))
