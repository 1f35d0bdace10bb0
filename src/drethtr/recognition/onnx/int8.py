"""Linear layers as products of 8-bit integers.

Weights are rounded when a graph is built, with a scale for each output; inputs when it runs, with one scale for the
whole tensor (dynamic quantization). The sums are exact in 32 bits.
"""

import numpy as np
from numpy.typing import NDArray

from drethtr.recognition.onnx.graph import MICROSOFT, Graph

LARGEST = 127
"""The largest number of 8 bits."""


def linear_int8(graph: Graph, x: str, name: str, inputs: int, outputs: int, *, bias: bool = True) -> str:
    """A linear layer on every token, see `layers.linear`."""
    return product_int8(graph, x, name, graph.weight_values(f"{name}.weight", outputs, inputs), bias=bias)


def linear_of_places_int8(graph: Graph, x: str, name: str, inputs: int, outputs: int) -> str:
    """The same at every place of a feature map, channels last, with the weights of a 1 x 1 convolution."""
    weight = graph.weight_values(f"{name}.weight", outputs, inputs, 1, 1)
    return product_int8(graph, x, name, weight.reshape(outputs, inputs))


def product_int8(graph: Graph, x: str, name: str, weight: NDArray[np.float32], *, bias: bool = True) -> str:
    """X Wᵀ + b in 8 bits, from weights (outputs, inputs) in float32."""
    outputs = len(weight)
    rounded, scales = quantize_by_output(weight)
    offset = [graph.weight(f"{name}.bias", outputs)] if bias else []
    return graph.op(
        "DynamicQuantizeMatMul",
        x,
        graph.constant(rounded.T, f"{name}.weight.int8"),
        graph.constant(scales, f"{name}.weight.scales"),
        np.zeros(outputs, dtype=np.int8),
        *offset,
        domain=MICROSOFT,
    )


def quantize_by_output(weight: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Quantize weights (outputs, inputs) to 8 bits, with one scale for each output."""
    largest = np.abs(weight).max(axis=1)
    # A row of zeros has no scale of its own.
    scales = np.where(largest > 0, largest / LARGEST, 1).astype(np.float32)
    return np.rint(weight / scales[:, None]).astype(np.int8), scales
