"""A graph under construction: operators on named tensors, and the weights they take.

Weights may come from untrusted files, so each is taken by its name and checked against the expected shape.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drethtr.base.arrays import Ints
from drethtr.base.errors import CheckpointError
from drethtr.base.wording import first_of
from drethtr.recognition.onnx import protobuf
from drethtr.recognition.onnx.protobuf import Attribute, ElementType, Shape

Array = NDArray[Any]

MICROSOFT = "com.microsoft"
"""The domain of onnxruntime's own operators."""

SMALL = 1024
"""Maximum bytes of a tensor that is copied into the model; larger ones are shared."""


class Graph:
    """Operators with inputs and outputs; `shared` has large constants by name, which are not copied.

    Every operator returns the name of its output, which the next takes as input; an array becomes a constant.
    `queries_at_once` limits the attention weights in memory for long lines; None computes all at once.
    With `int8`, the largest matrix products are computed in 8 bits.
    """

    def __init__(self, weights: Mapping[str, Array], *, queries_at_once: int | None = None, int8: bool = False) -> None:
        self.weights = weights
        self.queries_at_once = queries_at_once
        self.int8 = int8
        self.used: set[str] = set()
        self.shared: dict[str, Array] = {}
        self.outputs: list[str] = []
        self._constants: dict[str, bytes] = {}
        self.inputs: dict[str, bytes] = {}
        self._nodes: list[bytes] = []
        self._results: list[bytes] = []
        self._prefix = ""

    def inner(self) -> "Graph":
        """An empty graph for the body of a loop, which can use all tensors of this one."""
        inside = Graph(self.weights)
        inside.used, inside.shared, inside._constants = self.used, self.shared, self._constants
        inside._prefix = f"{self._prefix}inner_{len(self._nodes)}_"
        return inside

    def input(self, name: str, shape: Shape, kind: ElementType = ElementType.FLOAT) -> str:
        """An input of the graph."""
        self.inputs[name] = protobuf.declared(name, kind, shape)
        return name

    def output(self, *values: str, kind: ElementType = ElementType.FLOAT) -> None:
        """Append tensors to the outputs of the graph."""
        self.outputs += values
        self._results += [protobuf.declared(value, kind) for value in values]

    def weight(self, name: str, *shape: int) -> str:
        """A weight by its name.

        Raises:
            CheckpointError: if there is none, or it has another shape or type.
        """
        return self.constant(self.weight_values(name, *shape), name)

    def weight_values(self, name: str, *shape: int) -> NDArray[np.float32]:
        """The numbers of a weight; see `weight`."""
        if name not in self.weights:
            raise CheckpointError(f"the weights lack {name}, which this network has")
        values = self.weights[name]
        if values.shape != shape:
            raise CheckpointError(f"the weights do not fit: {name} is of shape {values.shape}, in this network {shape}")
        if values.dtype != np.float32:
            raise CheckpointError(f"the weights do not fit: {name} is of {values.dtype}, in this network float32")
        self.used.add(name)
        return values

    def constant(self, values: Array, name: str = "") -> str:
        """A constant; constants with the same name are shared."""
        name = name or f"constant_{len(self._constants)}"
        if name not in self._constants:
            # protobuf limits a model to 2 GB, and every copy of the weights costs start-up time and memory.
            if values.nbytes > SMALL:
                self.shared[name] = np.ascontiguousarray(values)  # onnxruntime would copy other arrays
                self._constants[name] = protobuf.promised(name, values)
            else:
                self._constants[name] = protobuf.tensor(name, values)
        return name

    def op(self, operator: str, *inputs: str | Array, domain: str = "", **attributes: Attribute) -> str:
        """The output of an operator."""
        return self.split_op(operator, *inputs, outputs=1, domain=domain, **attributes)[0]

    def split_op(
        self, operator: str, *inputs: str | Array, outputs: int, domain: str = "", **attributes: Attribute
    ) -> list[str]:
        """The outputs of an operator that has several."""
        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        made = [f"{self._prefix}{operator}_{len(self._nodes)}_{part}" for part in range(outputs)]
        self._nodes.append(protobuf.node(operator, names, made, domain, attributes))
        return made

    def loop(self, times: str, body: Callable[["Graph", str], str]) -> str:
        """The stacked outputs of a body, (times, ...); it gets the graph to build in and the iteration, from 0."""
        inside = self.inner()
        turn = inside.input(f"{inside._prefix}turn", (), ElementType.INT64)
        going_on = inside.input(f"{inside._prefix}going_on", (), ElementType.BOOL)
        made = body(inside, turn)
        inside.output(inside.op("Identity", going_on), kind=ElementType.BOOL)
        inside.output(made)
        parts = inside._nodes, (), inside.inputs.values(), inside._results
        return self.op("Loop", times, "", body=protobuf.graph(inside._prefix, *parts))

    def model(self) -> bytes:
        """The model in ONNX's format, without the numbers of `shared`."""
        parts = self._nodes, self._constants.values(), self.inputs.values(), self._results
        return protobuf.model(protobuf.graph("drethtr", *parts))


def refuse_left_over(weights: Iterable[str], graphs: Iterable[Graph]) -> None:
    """Refuse weights that no graph uses."""
    if extra := set(weights).difference(*(graph.used for graph in graphs)):
        raise CheckpointError(f"this network does not use the weights {first_of(sorted(extra))}")


def ints(*values: int) -> Ints:
    """Integers as a constant: axes, sizes."""
    return np.array(values, dtype=np.int64)


def floats(values: Any) -> NDArray[np.float32]:
    """Real numbers as a constant."""
    return np.asarray(values, dtype=np.float32)
