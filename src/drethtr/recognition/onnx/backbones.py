"""Backbones as ONNX graphs: `ppocr` and `light`, with the weights and sizes of those in `drethtr.network.backbones`.

Shapes, everywhere in this file: feature maps (1, C, H, W), tokens (N, C).
"""

from typing import NamedTuple

from drethtr.recognition.model.architecture import (
    DESCENT,
    LIGHT_STAGES,
    LIGHT_TOKEN_BLOCKS,
    NECK,
    NECK_BLOCKS,
    NECK_HEADS,
    PPOCR,
    PPOCR_STAGES,
    PPOCR_STEM,
    Light,
)
from drethtr.recognition.onnx.graph import Graph, ints
from drethtr.recognition.onnx.int8 import linear_of_places_int8
from drethtr.recognition.onnx.layers import (
    attention,
    conv,
    gelu,
    join_heads,
    layer_norm,
    linear,
    silu,
    split_heads,
    token_numbers,
)

LAST = "backbone.blocks.12"
"""The last block: its projection stays in float32, since most of the error of 8 bits arises there."""


class ImageFeatures(NamedTuple):
    """Tokens (N, width), and the channels (N, draft_width) that the CTC draft reads from."""

    tokens: str
    width: int
    draft: str
    draft_width: int


def ppocr(graph: Graph, image: str, config: PPOCR) -> ImageFeatures:
    """Tokens of the pooled features of the convolutions, and of the neck."""
    x, channels = stem(graph, image, 1, PPOCR_STEM, PPOCR_STAGES[0][0]), PPOCR_STAGES[0][0]
    number = 0
    for width, blocks in PPOCR_STAGES:
        if width != channels:
            x = descent(graph, x, f"backbone.blocks.{number}", channels, width, (2, 1))
            channels, number = width, number + 1
        for squeezed in blocks:
            x = block(graph, x, f"backbone.blocks.{number}", channels, squeezed=squeezed)
            number += 1
    size = (config.height // DESCENT, 2)
    pooled = graph.op("AveragePool", x, kernel_shape=size, strides=size)
    read = neck(graph, pooled, channels)
    return ImageFeatures(graph.op("Concat", tokens(graph, pooled), read, axis=-1), channels + NECK, read, NECK)


def stem(graph: Graph, image: str, inputs: int, width: int, outputs: int) -> str:
    """A quarter of the height and width, by max pooling and convolutions side by side."""
    x = graph.op("Relu", conv(graph, image, "backbone.stem.enter", inputs, width, (3, 3), (2, 2)))
    mixed = graph.op("Relu", conv(graph, x, "backbone.stem.narrow", width, width // 2, (2, 2)))
    mixed = graph.op("Relu", conv(graph, mixed, "backbone.stem.widen", width // 2, width, (2, 2)))
    strongest = graph.op("MaxPool", x, kernel_shape=(2, 2), strides=(1, 1), pads=(0, 0, 1, 1))
    x = graph.op("Concat", strongest, mixed, axis=1)
    x = graph.op("Relu", conv(graph, x, "backbone.stem.merge", 2 * width, width, (3, 3), (2, 2)))
    return graph.op("Relu", conv(graph, x, "backbone.stem.expand", width, outputs))


def block(graph: Graph, x: str, name: str, channels: int, *, squeezed: bool) -> str:
    """A depthwise convolution, then an MLP with a residual."""
    x = conv(graph, x, f"{name}.depthwise", channels, channels, (3, 3), groups=channels)
    if squeezed:
        x = graph.op("Mul", x, excitation(graph, x, f"{name}.squeeze", channels))
    return mlp(graph, x, name, channels, channels, residual=True)


def descent(graph: Graph, x: str, name: str, inputs: int, outputs: int, stride: tuple[int, int]) -> str:
    """Fewer rows or columns, more channels."""
    x = conv(graph, x, f"{name}.depthwise", inputs, inputs, (3, 3), stride, groups=inputs)
    return mlp(graph, x, name, inputs, outputs)


def mlp(graph: Graph, x: str, name: str, inputs: int, outputs: int, *, residual: bool = False) -> str:
    """Expand and project each place by itself; with 8-bit products, channels last, in an int8 graph."""
    if not graph.int8:
        inner = gelu(graph, conv(graph, x, f"{name}.expand", inputs, 2 * inputs))
        found = conv(graph, inner, f"{name}.project", 2 * inputs, outputs)
        return graph.op("Add", found, x) if residual else found
    x = graph.op("Transpose", x, perm=(0, 2, 3, 1))
    inner = gelu(graph, linear_of_places_int8(graph, x, f"{name}.expand", inputs, 2 * inputs))
    # The last block feeds the draft directly, so its rounding errors reach the text unattenuated.
    project = linear_of_places if name == LAST else linear_of_places_int8
    found = project(graph, inner, f"{name}.project", 2 * inputs, outputs)
    return graph.op("Transpose", graph.op("Add", found, x) if residual else found, perm=(0, 3, 1, 2))


def linear_of_places(graph: Graph, x: str, name: str, inputs: int, outputs: int) -> str:
    """X Wᵀ + b at every place of a feature map, channels last, with the weights of a 1 x 1 convolution."""
    weight = graph.weight_values(f"{name}.weight", outputs, inputs, 1, 1).reshape(outputs, inputs)
    found = graph.op("MatMul", x, graph.constant(weight.T, f"{name}.weight.turned"))
    return graph.op("Add", found, graph.weight(f"{name}.bias", outputs))


def excitation(graph: Graph, x: str, name: str, channels: int, slope: float = 1 / 6) -> str:
    """The scale (1, C, 1, 1) of each channel, from its mean over the image; `slope` is that of the hard sigmoid."""
    mean = graph.op("GlobalAveragePool", x)
    squeezed = graph.op("Relu", conv(graph, mean, f"{name}.fc1", channels, channels // 4))
    return graph.op("HardSigmoid", conv(graph, squeezed, f"{name}.fc2", channels // 4, channels), alpha=slope, beta=0.5)


def neck(graph: Graph, x: str, inputs: int) -> str:
    """(1, inputs, 1, N) to (N, NECK): tokens attend to the whole line."""
    shortcut = silu(graph, conv(graph, x, "backbone.neck.shortcut", inputs, NECK))
    x = silu(graph, conv(graph, x, "backbone.neck.reduce", inputs, NECK))
    x = graph.op("Add", x, silu(graph, conv(graph, x, "backbone.neck.sideways", NECK, NECK, (1, 7), groups=NECK)))
    x = tokens(graph, x)
    places = token_numbers(graph, x)
    for number in range(NECK_BLOCKS):
        x = attention_block(graph, x, places, f"backbone.neck.blocks.{number}")
    normed = layer_norm(graph, x, "backbone.neck.norm", NECK, epsilon=1e-6)
    return graph.op("Add", normed, tokens(graph, shortcut))


def attention_block(graph: Graph, x: str, places: str, name: str) -> str:
    """A pre-norm transformer block."""
    normed = layer_norm(graph, x, f"{name}.attention_norm", NECK)
    heads = split_heads(graph, linear(graph, normed, f"{name}.to_qkv", NECK, 3 * NECK), NECK_HEADS, NECK)
    found = join_heads(graph, attention(graph, heads, places), NECK)
    x = graph.op("Add", x, linear(graph, found, f"{name}.to_out", NECK, NECK))
    inner = silu(graph, linear(graph, layer_norm(graph, x, f"{name}.mlp_norm", NECK), f"{name}.expand", NECK, 2 * NECK))
    return graph.op("Add", x, linear(graph, inner, f"{name}.project", 2 * NECK, NECK))


def light(graph: Graph, image: str, config: Light) -> ImageFeatures:
    """Tokens of ceil(columns / 8)."""
    x, channels, number = image, 1, 0
    for width, stride, blocks in LIGHT_STAGES:
        x = light_descent(graph, x, f"backbone.blocks.{number}", channels, width, stride)
        channels, number = width, number + 1
        for _ in range(blocks):
            x = light_block(graph, x, f"backbone.blocks.{number}", channels, (3, 3))
            number += 1
    rows = config.height // DESCENT
    x = conv(graph, x, "backbone.collapse", channels, channels, (rows, 1), padded=False)
    for place in range(LIGHT_TOKEN_BLOCKS):
        x = light_block(graph, x, f"backbone.token_blocks.{place}", channels, (1, 7))
    found = tokens(graph, channel_norm(graph, x, "backbone.norm", channels))
    return ImageFeatures(found, channels, found, channels)


def light_descent(graph: Graph, x: str, name: str, inputs: int, outputs: int, stride: tuple[int, int]) -> str:
    """Fewer rows and columns, more channels."""
    x = conv(graph, x, f"{name}.conv", inputs, outputs, (3, 3), stride)
    return gelu(graph, channel_norm(graph, x, f"{name}.norm", outputs))


def light_block(graph: Graph, x: str, name: str, channels: int, kernel: tuple[int, int]) -> str:
    """A depthwise convolution and an MLP, with a residual around both."""
    seen = conv(graph, x, f"{name}.depthwise", channels, channels, kernel, groups=channels)
    seen = channel_norm(graph, seen, f"{name}.norm", channels)
    inner = gelu(graph, conv(graph, seen, f"{name}.expand", channels, 2 * channels))
    return graph.op("Add", x, conv(graph, inner, f"{name}.project", 2 * channels, channels))


def channel_norm(graph: Graph, x: str, name: str, channels: int) -> str:
    """Layer norm over the channels."""
    last = layer_norm(graph, graph.op("Transpose", x, perm=(0, 2, 3, 1)), name, channels)
    return graph.op("Transpose", last, perm=(0, 3, 1, 2))


def tokens(graph: Graph, x: str) -> str:
    """Feature maps (1, C, 1, W) of one row as tokens (W, C)."""
    return graph.op("Transpose", graph.op("Squeeze", x, ints(0, 2)), perm=(1, 0))
