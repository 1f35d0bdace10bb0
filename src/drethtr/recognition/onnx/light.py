"""The small backbone to train from scratch; see `drethtr.network.backbones.light`, whose weights it takes.

Shapes, everywhere in this file: feature maps (1, C, H, W), tokens (N, C).
"""

from drethtr.recognition.model.backbones import Light
from drethtr.recognition.onnx.graph import Graph
from drethtr.recognition.onnx.layers import Features, conv, gelu, layer_norm, tokens

STAGES = ((32, (2, 2), 0), (64, (2, 2), 3), (128, (2, 2), 6), (256, (2, 1), 2))
"""Channels of a stage, the stride of the descent to it, and how many blocks follow."""
DESCENT = 16
"""Image rows to one row of the last stage."""
TOKEN_BLOCKS = 2


def light(graph: Graph, image: str, config: Light) -> Features:
    """Tokens of ceil(columns / 8)."""
    x, channels, number = image, 1, 0
    for width, stride, blocks in STAGES:
        x = descent(graph, x, f"backbone.blocks.{number}", channels, width, stride)
        channels, number = width, number + 1
        for _ in range(blocks):
            x = block(graph, x, f"backbone.blocks.{number}", channels, (3, 3))
            number += 1
    rows = config.height // DESCENT
    x = conv(graph, x, "backbone.collapse", channels, channels, (rows, 1), padded=False)
    for place in range(TOKEN_BLOCKS):
        x = block(graph, x, f"backbone.token_blocks.{place}", channels, (1, 7))
    found = tokens(graph, channel_norm(graph, x, "backbone.norm", channels))
    return Features(found, channels, found, channels)


def descent(graph: Graph, x: str, name: str, inputs: int, outputs: int, stride: tuple[int, int]) -> str:
    """Fewer rows and columns, more channels."""
    x = conv(graph, x, f"{name}.conv", inputs, outputs, (3, 3), stride)
    return gelu(graph, channel_norm(graph, x, f"{name}.norm", outputs))


def block(graph: Graph, x: str, name: str, channels: int, kernel: tuple[int, int]) -> str:
    """A depthwise convolution and an MLP, with a residual around both."""
    seen = conv(graph, x, f"{name}.depthwise", channels, channels, kernel, groups=channels)
    seen = channel_norm(graph, seen, f"{name}.norm", channels)
    inner = gelu(graph, conv(graph, seen, f"{name}.expand", channels, 2 * channels))
    return graph.op("Add", x, conv(graph, inner, f"{name}.project", 2 * channels, channels))


def channel_norm(graph: Graph, x: str, name: str, channels: int) -> str:
    """Layer norm over the channels."""
    last = layer_norm(graph, graph.op("Transpose", x, perm=(0, 2, 3, 1)), name, channels)
    return graph.op("Transpose", last, perm=(0, 3, 1, 2))
