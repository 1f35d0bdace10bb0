"""The text side of a network: a tree of texts in one pass, or one more token for some rows; and the rescorer.

Image and text share all layers; a text token attends to the keys and values of its line's image tokens, and to earlier
text by retention (paper, eqs. 2-4 and 7-9).

Shapes, everywhere in this file: N nodes of a tree or rows of a search, x (N, width); I image tokens; H heads of K
channels; V tokens of the vocabulary.
"""

from collections.abc import Mapping
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from drethtr.recognition.model.architecture import NetworkConfig, RescorerConfig, Retentive
from drethtr.recognition.model.decay import Scheduled
from drethtr.recognition.onnx.graph import Array, Graph, ints
from drethtr.recognition.onnx.layers import Heads, Layer, layer_norm, linear, scores, sinusoid
from drethtr.recognition.onnx.protobuf import ElementType
from drethtr.recognition.protocol import TextTree


class LayerDecay(NamedTuple):
    """The decay of a layer: log γ of each head, (H,), and whether sums are divided by the root of their mass."""

    log_gamma: Array
    normalize: bool

    @classmethod
    def of(cls, config: NetworkConfig | RescorerConfig, number: int) -> "LayerDecay":
        """The decay of the network's mixer in layer `number`."""
        assert isinstance(config.mixer, Retentive) and isinstance(config.mixer.decay, Scheduled)
        return cls(config.mixer.decay.log_gamma(config.position(number)), config.mixer.normalize)


def tree_graph(
    config: NetworkConfig,
    weights: Mapping[str, Array],
    vocabulary: int,
    *,
    watched: bool = False,
    int8: bool = False,
) -> Graph:
    """Logits (N, V) after each node of a tree.

    Inputs are `tokens` (N,), their `places` (N, 1), `distance` (N, N) to nodes before them in their texts, infinite to
    all others, and for each layer `keys_n` and `values_n` (H, I, K). If it is `watched`, outputs are instead the
    weights of each layer: attention (H, N, I) to the image and retention (H, N, N) of the text.
    With `int8`, the largest matrix products are computed in 8 bits.
    """
    graph = Graph(weights, int8=int8)
    x = text_tokens(graph, config, vocabulary)
    distance = graph.input("distance", ("nodes", "nodes"))
    for number in range(config.layers):
        layer = Layer(graph, config, number)
        own = layer.heads(x)
        shares, from_image = image_attention(graph, config, number, own.queries)
        weights_of_text = retention(graph, own, distance, LayerDecay.of(config, number))
        if watched:
            graph.output(shares, graph.op("Abs", weights_of_text))
        from_text = graph.op("MatMul", weights_of_text, own.values)
        x = layer.after(x, graph.op("Add", from_image, from_text))
    if not watched:
        graph.output(logits(graph, config, x, vocabulary))
    return graph


def rescorer_graph(config: RescorerConfig, weights: Mapping[str, Array], vocabulary: int, *, int8: bool) -> Graph:
    """Logits (N, V) after each node of a tree, by retention alone; inputs and `int8` as for `tree_graph`."""
    graph = Graph(weights, int8=int8)
    x = add_positions(graph, embed_tokens(graph, config.width, vocabulary), config.width)
    distance = graph.input("distance", ("nodes", "nodes"))
    for number in range(config.layers):
        layer = Layer(graph, config, number)
        own = layer.heads(x)
        weights_of_text = retention(graph, own, distance, LayerDecay.of(config, number))
        x = layer.after(x, graph.op("MatMul", weights_of_text, own.values))
    x = layer_norm(graph, x, "final_norm", config.width)
    graph.output(linear(graph, x, "to_logits", config.width, vocabulary, bias=False))
    return graph


def step_graph(config: NetworkConfig, weights: Mapping[str, Array], vocabulary: int) -> Graph:
    """Logits (N, V) after one more token for N rows of one line, then the memory of each layer after it.

    Inputs are those of `tree_graph`, but instead of `distance` the `memory_n` (N, H, K, K) of each layer, and by what
    it is scaled when it is read, `share` (layers, H).
    """
    graph = Graph(weights)
    x = text_tokens(graph, config, vocabulary)
    shares = graph.input("share", (config.layers, config.heads))
    channels = config.width // config.heads
    memories = []
    for number in range(config.layers):
        layer = Layer(graph, config, number)
        own = layer.heads(x)
        queries, keys, values = (graph.op("Transpose", part, perm=(1, 0, 2)) for part in own[:3])
        # Retention, recurrently: S = γ S + kᵀ v, read as q S. It is normalized when it is read, by `share`, since the
        # mass of D depends on the number of tokens alone and need not be part of the state.
        gamma = np.exp(LayerDecay.of(config, number).log_gamma)
        before = graph.input(f"memory_{number}", ("rows", config.heads, channels, channels))
        faded = graph.op("Mul", before, gamma[:, None, None])
        keys, values = graph.op("Unsqueeze", keys, ints(3)), graph.op("Unsqueeze", values, ints(2))
        memory = graph.op("Add", faded, graph.op("Mul", keys, values))
        memories.append(memory)
        read = graph.op("MatMul", graph.op("Unsqueeze", queries, ints(2)), memory)
        share = graph.op("Unsqueeze", graph.op("Gather", shares, np.array(number), axis=0), ints(1, 2))
        read = graph.op("Squeeze", graph.op("Mul", read, share), ints(2))
        _, from_image = image_attention(graph, config, number, own.queries)
        x = layer.after(x, graph.op("Add", from_image, graph.op("Transpose", read, perm=(1, 0, 2))))
    graph.output(logits(graph, config, x, vocabulary), *memories)
    return graph


def text_tokens(graph: Graph, config: NetworkConfig, vocabulary: int) -> str:
    """Token embeddings, with positions where the network has them."""
    x = embed_tokens(graph, config.width, vocabulary)
    return add_positions(graph, x, config.width) if config.text_positions else x


def embed_tokens(graph: Graph, width: int, vocabulary: int) -> str:
    """Embed the tokens, an input of the graph: (N, width)."""
    tokens = graph.input("tokens", ("nodes",), ElementType.INT64)
    return graph.op("Gather", graph.weight("embed.tokens.weight", vocabulary, width), tokens, axis=0)


def add_positions(graph: Graph, x: str, width: int) -> str:
    """Add positions to tokens."""
    return graph.op("Add", x, sinusoid(graph, graph.input("places", ("nodes", 1)), width))


def logits(graph: Graph, config: NetworkConfig, x: str, vocabulary: int) -> str:
    """Logits (N, V) of the next token."""
    x = layer_norm(graph, x, "final_norm", config.width) if config.final_norm else x
    return linear(graph, x, "to_logits", config.width, vocabulary, bias=False)


def image_attention(graph: Graph, config: NetworkConfig, number: int, queries: str) -> tuple[str, str]:
    """Attention of text tokens to the image in a layer, whose keys and values are inputs of the graph.

    Returns its weights (H, N, I) and its output (H, N, K).
    """
    shape = (config.heads, "image", config.width // config.heads)
    keys, values = graph.input(f"keys_{number}", shape), graph.input(f"values_{number}", shape)
    shares = graph.op("Softmax", scores(graph, queries, keys), axis=-1)
    return shares, graph.op("MatMul", shares, values)


def retention(graph: Graph, heads: Heads, distance: str, decay: LayerDecay) -> str:
    """Q Kᵀ ⊙ D, (H, N, N)."""
    # A table of decays by distance would be no faster (LOG.md, 2026-11-27, later).
    powers = graph.op("Exp", graph.op("Mul", distance, decay.log_gamma[:, None, None]))
    weights = graph.op("Mul", scores(graph, heads.queries, heads.keys), powers)
    if not decay.normalize:
        return weights
    mass = graph.op("ReduceSum", powers, ints(-1), keepdims=1)
    return graph.op("Div", weights, graph.op("Sqrt", mass))


Feeds = dict[str, NDArray[np.generic]]


def tree_feeds(tree: TextTree) -> Feeds:
    """Tokens, places and distances of the nodes of a tree."""
    text, places = np.array(tree.homes, dtype=np.int64).T
    paths = tree.paths or [[0]]
    # Two nodes belong to one text if a path contains both; each node's home path is used.
    on_path = np.zeros((len(paths), len(places)), dtype=np.bool_)
    rows = np.repeat(np.arange(len(paths)), list(map(len, paths)))
    on_path[rows, np.fromiter(chain.from_iterable(paths), dtype=np.int64, count=len(rows))] = True
    place = places.astype(np.float32)[:, None]
    distance = place - place.T
    # γ^∞ = 0: nodes of other texts, and later ones, have no weight, without a mask in the graph.
    distance[~(on_path[text] & (distance >= 0))] = np.inf
    return {
        "tokens": np.array(tree.tokens, dtype=np.int64),
        "places": place,
        "distance": distance,
    }
