"""Linear layers as products of 8-bit integers.

Weights are rounded when a graph is built, with a scale for each output; inputs when it runs, with one scale for the
whole tensor (dynamic quantization). The sums are exact in 32 bits: where those of signed weights are not, weights are
unsigned.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from drethtr.recognition.onnx.graph import MICROSOFT, Graph
from drethtr.recognition.onnx.session import Session

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
    offset = [graph.weight(f"{name}.bias", len(weight))] if bias else []
    return multiplied(graph, x, name, weight, *offset, unsigned=signed_sums_saturate())


def multiplied(graph: Graph, x: str, name: str, weight: NDArray[np.float32], *offset: str, unsigned: bool) -> str:
    """X Wᵀ + offset in 8 bits; weights as `unsigned` bytes are larger by 128, as is their zero."""
    rounded, scales = quantize_by_output(weight)
    numbers = (rounded.view(np.uint8) ^ 0x80) if unsigned else rounded
    return graph.op(
        "DynamicQuantizeMatMul",
        x,
        graph.constant(numbers.T, f"{name}.weight.int8"),
        graph.constant(scales, f"{name}.weight.scales"),
        np.full(len(weight), 128 if unsigned else 0, numbers.dtype),
        *offset,
        domain=MICROSOFT,
    )


@cache
def signed_sums_saturate() -> bool:
    """Whether onnxruntime's sums of signed weights are wrong on this processor.

    With AVX2 alone, it adds two products in 16 bits, which 2 · 255 · 127 exceeds. Unsigned weights take as long there;
    on newer processors, signed ones have the faster instructions.
    """
    ones = np.ones((8, 64), dtype=np.float32)
    graph = Graph({})
    graph.output(multiplied(graph, graph.input("x", ones.shape), "ones", ones, unsigned=False))
    [sums] = Session(graph).run({"x": ones})
    return not np.allclose(sums, 64, rtol=0.01)


def quantize_by_output(weight: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Quantize weights (outputs, inputs) to 8 bits, with one scale for each output."""
    largest = np.abs(weight).max(axis=1)
    # A row of zeros has no scale of its own.
    scales = np.where(largest > 0, largest / LARGEST, 1).astype(np.float32)
    return np.rint(weight / scales[:, None]).astype(np.int8), scales
