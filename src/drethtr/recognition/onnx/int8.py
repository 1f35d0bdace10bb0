"""Matrix products of bytes: on processors with VNNI a third of the time of float32, what is around them not counted.

Each output has a scale for its weights. What comes in has one scale for all of a line, from its smallest to its largest
number, found when the line is read: nothing is measured beforehand, a fine-tuned network needs no more than another,
and no line can change the scale of its neighbors.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from drethtr.recognition.onnx.graph import MICROSOFT, Graph

LARGEST = 127


class Product(Protocol):
    """Every token by itself, its channels last: x Wᵀ + b; of a convolution the `kernel` is that of a single place."""

    def __call__(
        self,
        graph: Graph,
        x: str,
        name: str,
        inputs: int,
        outputs: int,
        *,
        kernel: tuple[int, ...] = (),
        bias: bool = True,
    ) -> str: ...


def linear_of_places(
    graph: Graph, x: str, name: str, inputs: int, outputs: int, *, kernel: tuple[int, ...] = (), bias: bool = True
) -> str:
    """A `Product` in float32."""
    weight = graph.weight_values(f"{name}.weight", outputs, inputs, *kernel).reshape(outputs, inputs)
    found = graph.op("MatMul", x, graph.constant(weight.T, f"{name}.weight.turned"))
    return graph.op("Add", found, graph.weight(f"{name}.bias", outputs)) if bias else found


def linear_int8(
    graph: Graph, x: str, name: str, inputs: int, outputs: int, *, kernel: tuple[int, ...] = (), bias: bool = True
) -> str:
    """A `Product` in bytes."""
    weight = graph.weight_values(f"{name}.weight", outputs, inputs, *kernel).reshape(outputs, inputs)
    rounded, scales = by_output(weight)
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


def by_output(weight: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Weights (outputs, inputs) in bytes, and the scale of each output."""
    largest = np.abs(weight).max(axis=1)
    scales = np.where(largest > 0, largest / LARGEST, 1).astype(np.float32)
    return np.rint(weight / scales[:, None]).astype(np.int8), scales
