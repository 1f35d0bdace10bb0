"""Parts of a transformer layer that image and text share, on the tokens of one line.

Shapes, everywhere in this file: x (N, width), N tokens; H heads of K channels.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from drethtr.recognition.model.architecture import NetworkConfig, RescorerConfig
from drethtr.recognition.onnx.graph import MICROSOFT, Graph, floats, ints
from drethtr.recognition.onnx.int8 import linear_int8
from drethtr.recognition.onnx.protobuf import ElementType


class Heads(NamedTuple):
    """Queries, scaled by 1/√K, keys and values, (H, N, K) each, and H and K."""

    queries: str
    keys: str
    values: str
    number: int
    channels: int


def linear(graph: Graph, x: str, name: str, inputs: int, outputs: int, *, bias: bool = True) -> str:
    """A linear layer on every token: x Wᵀ + b."""
    offset = [graph.weight(f"{name}.bias", outputs)] if bias else []
    return graph.op("Gemm", x, graph.weight(f"{name}.weight", outputs, inputs), *offset, transB=1)


def linear_or_int8(graph: Graph, x: str, name: str, inputs: int, outputs: int, *, bias: bool = True) -> str:
    """`linear`, with an 8-bit product in an int8 graph."""
    product = linear_int8 if graph.int8 else linear
    return product(graph, x, name, inputs, outputs, bias=bias)


def layer_norm(graph: Graph, x: str, name: str, width: int, epsilon: float = 1e-5) -> str:
    """Layer norm over the channels."""
    scale, offset = graph.weight(f"{name}.weight", width), graph.weight(f"{name}.bias", width)
    return graph.op("LayerNormalization", x, scale, offset, axis=-1, epsilon=epsilon)


def gelu(graph: Graph, x: str) -> str:
    """Gelu by the error function."""
    return graph.op("Gelu", x, domain=MICROSOFT)


def silu(graph: Graph, x: str) -> str:
    """Sigmoid linear unit: x sigmoid(x)."""
    return graph.op("QuickGelu", x, domain=MICROSOFT, alpha=1.0)


def split_heads(graph: Graph, qkv: str, heads: int, width: int) -> Heads:
    """Queries, keys and values from (N, 3 x width)."""
    channels = width // heads
    apart = graph.op("Reshape", qkv, ints(0, 3 * heads, channels))
    by_head = graph.op("Transpose", apart, perm=(1, 0, 2))
    queries, keys, values = graph.split_op("Split", by_head, outputs=3, axis=0, num_outputs=3)
    return Heads(graph.op("Mul", queries, floats(channels**-0.5)), keys, values, heads, channels)


def scores(graph: Graph, queries: str, keys: str) -> str:
    """Q Kᵀ, (H, N, M)."""
    return graph.op("FusedMatMul", queries, keys, domain=MICROSOFT, transB=1)


Bias = Callable[[Graph, str], str]
"""Builds the bias added to the scores (H, N, M) of queries, given the graph and the places (N, 1) of the queries."""


def attention(graph: Graph, heads: Heads, places: str, bias: Bias | None = None) -> str:
    """softmax(Q Kᵀ + bias) V of tokens at `places` (N, 1), (H, N, K)."""
    if graph.queries_at_once is None:
        return attend(graph, heads, heads.queries, places, bias)
    # Long lines would need (H, N, N) weights at once. So queries are computed in blocks by a loop of the graph; they
    # are padded to whole blocks, whose surplus rows are cut off at the end.
    block = ints(graph.queries_at_once)
    count = graph.op("Shape", places, start=0, end=1)
    blocks = graph.op("Div", graph.op("Add", count, ints(graph.queries_at_once - 1)), block)
    missing = graph.op("Sub", graph.op("Mul", blocks, block), count)
    queries = graph.op("Pad", heads.queries, graph.op("Concat", ints(0, 0, 0, 0), missing, ints(0), axis=0))
    at = graph.op("Pad", places, graph.op("Concat", ints(0, 0), missing, ints(0), axis=0))

    def body(inside: Graph, turn: str) -> str:
        first = inside.op("Mul", turn, block)
        last = inside.op("Add", first, block)
        some = inside.op("Slice", queries, first, last, ints(1))
        return attend(inside, heads, some, inside.op("Slice", at, first, last, ints(0)), bias)

    found = graph.op("Transpose", graph.loop(graph.op("Squeeze", blocks), body), perm=(1, 0, 2, 3))
    side_by_side = graph.op("Reshape", found, ints(heads.number, -1, heads.channels))
    return graph.op("Slice", side_by_side, ints(0), count, ints(1))


def attend(graph: Graph, heads: Heads, queries: str, places: str, bias: Bias | None) -> str:
    """softmax(Q Kᵀ + bias) V for these queries only; see `attention`."""
    similar = scores(graph, queries, heads.keys)
    similar = similar if bias is None else graph.op("Add", similar, bias(graph, places))
    return graph.op("MatMul", graph.op("Softmax", similar, axis=-1), heads.values)


def token_numbers(graph: Graph, x: str) -> str:
    """The numbers of tokens, (N, 1), from 0."""
    count = graph.op("Squeeze", graph.op("Shape", x, start=0, end=1))
    numbers = graph.op("Range", np.array(0), count, np.array(1))
    return graph.op("Unsqueeze", graph.op("Cast", numbers, to=int(ElementType.FLOAT)), ints(1))


def join_heads(graph: Graph, found: str, width: int) -> str:
    """Join the output (H, N, K) of the heads to (N, width)."""
    return graph.op("Reshape", graph.op("Transpose", found, perm=(1, 0, 2)), ints(0, width))


def sinusoid(graph: Graph, places: str, width: int) -> str:
    """Sines, then cosines, of places (N, 1) at width/2 wavelengths: (N, width)."""
    half = width // 2
    # half - 1: the slowest wavelength is exactly 10,000 × 2π, as in the torch network whose weights are used.
    frequencies = np.exp(-math.log(10_000) * np.arange(half) / (half - 1))
    angles = graph.op("Mul", places, floats(frequencies))
    return graph.op("Concat", graph.op("Sin", angles), graph.op("Cos", angles), axis=-1)


class Layer:
    """One layer of a decoder-only network, whose image and text tokens use the same weights; or of a rescorer."""

    def __init__(self, graph: Graph, config: NetworkConfig | RescorerConfig, number: int) -> None:
        self.graph = graph
        self.config = config
        self.name = f"blocks.{number}"
        self.mixing = f"{self.name}.{'fusion' if isinstance(config, NetworkConfig) else 'mixing'}"

    def heads(self, x: str) -> Heads:
        """Queries, keys and values of tokens."""
        width = self.config.width
        normed = layer_norm(self.graph, x, f"{self.mixing}_norm", width)
        qkv = linear_or_int8(self.graph, normed, f"{self.mixing}.to_qkv", width, 3 * width, bias=False)
        return split_heads(self.graph, qkv, self.config.heads, width)

    def after(self, x: str, found: str) -> str:
        """Tokens after this layer, given the output (H, N, K) of its heads."""
        graph, width, hidden = self.graph, self.config.width, self.config.hidden
        mixed = linear_or_int8(graph, join_heads(graph, found, width), f"{self.mixing}.to_out", width, width)
        x = graph.op("Add", x, mixed)
        normed = layer_norm(graph, x, f"{self.name}.feed_forward.0", width)
        inner = gelu(graph, linear_or_int8(graph, normed, f"{self.name}.feed_forward.1", width, hidden))
        return graph.op("Add", x, linear_or_int8(graph, inner, f"{self.name}.feed_forward.4", hidden, width))


def conv(
    graph: Graph,
    x: str,
    name: str,
    inputs: int,
    outputs: int,
    kernel: tuple[int, int] = (1, 1),
    stride: tuple[int, int] = (1, 1),
    *,
    groups: int = 1,
    padded: bool = True,
) -> str:
    """A convolution to ceil(size / stride) rows and columns; an even kernel is centered to the lower right.

    Without padding, the kernel stays inside.
    """
    weight = graph.weight(f"{name}.weight", outputs, inputs // groups, *kernel)
    before = [(size - 1) // 2 * padded for size in kernel]
    after = [size // 2 * padded for size in kernel]
    return graph.op(
        "Conv",
        x,
        weight,
        graph.weight(f"{name}.bias", outputs),
        kernel_shape=kernel,
        strides=stride,
        group=groups,
        pads=before + after,
    )
