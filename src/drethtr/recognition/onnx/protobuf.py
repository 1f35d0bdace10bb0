"""Encode ONNX models: the part of their protobuf format that a graph for onnxruntime needs.

A message is a sequence of fields, each a key and a value: a number, four bytes, or a length followed by bytes.
Source: onnx/onnx.proto; field numbers below are those of its messages.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

IR_VERSION = 9
OPSETS = {"": 20, "com.microsoft": 1}
"""Versions of the operators: known to onnxruntime since 1.18."""

VARINT, BYTES, FLOAT32 = 0, 2, 5
"""Encodings of the value of a field."""


class ElementType(IntEnum):
    """Element types of a tensor (TensorProto.DataType)."""

    FLOAT = 1
    UINT8 = 2
    INT8 = 3
    INT64 = 7
    BOOL = 9


ELEMENT_TYPES = {
    np.dtype(np.float32): ElementType.FLOAT,
    np.dtype(np.uint8): ElementType.UINT8,
    np.dtype(np.int8): ElementType.INT8,
    np.dtype(np.int64): ElementType.INT64,
    np.dtype(np.bool_): ElementType.BOOL,
}

Attribute: TypeAlias = int | float | str | bytes | Sequence[int]
"""A number, a string, whole numbers, or a `graph` as bytes."""

Shape: TypeAlias = Sequence[int | str]
"""Sizes of the dimensions of a tensor; a name where it is known only when the graph runs."""


def varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; negative numbers as 64 bits."""
    value &= 2**64 - 1
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def number(field: int, value: int) -> bytes:
    """A field with a whole number."""
    return varint(field << 3 | VARINT) + varint(value)


def data(field: int, value: bytes | str) -> bytes:
    """A field with bytes, a text or a message."""
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | BYTES) + varint(len(value)) + value


def each(field: int, values: Iterable[bytes | str]) -> bytes:
    """A repeated field."""
    return b"".join(data(field, value) for value in values)


def attribute(name: str, value: Attribute) -> bytes:
    """AttributeProto."""
    match value:
        case float():
            kind, encoded = 1, varint(2 << 3 | FLOAT32) + struct.pack("<f", value)
        case int():
            kind, encoded = 2, number(3, value)
        case str():
            kind, encoded = 3, data(4, value)
        case bytes():
            kind, encoded = 5, data(6, value)
        case _:
            kind, encoded = 7, b"".join(number(8, item) for item in value)
    return data(1, name) + encoded + number(20, kind)


def node(
    operator: str, inputs: Sequence[str], outputs: Sequence[str], domain: str, attributes: Mapping[str, Attribute]
) -> bytes:
    """NodeProto; it is named after its first output."""
    encoded = [attribute(name, value) for name, value in attributes.items()]
    names = each(1, inputs) + each(2, outputs) + data(3, outputs[0])
    return names + data(4, operator) + each(5, encoded) + data(7, domain)


def header(name: str, array: NDArray[np.generic]) -> bytes:
    """TensorProto without numbers."""
    sizes = b"".join(number(1, size) for size in array.shape)
    return sizes + number(2, ELEMENT_TYPES[array.dtype]) + data(8, name)


def tensor(name: str, array: NDArray[np.generic]) -> bytes:
    """TensorProto with its numbers."""
    return header(name, array) + data(9, np.ascontiguousarray(array).tobytes())


def promised(name: str, array: NDArray[np.generic]) -> bytes:
    """TensorProto whose numbers are passed separately from the model."""
    place = data(1, "location") + data(2, "memory")
    return header(name, array) + data(13, place) + number(14, 1)


def declared(name: str, kind: ElementType, shape: Shape | None = None) -> bytes:
    """ValueInfoProto of an input or output."""
    sizes = () if shape is None else (data(2, s) if isinstance(s, str) else number(1, s) for s in shape)
    known = b"" if shape is None else data(2, each(1, sizes))
    return data(1, name) + data(2, data(1, number(1, kind) + known))


def graph(
    name: str,
    nodes: Iterable[bytes],
    initializers: Iterable[bytes],
    inputs: Iterable[bytes],
    outputs: Iterable[bytes],
) -> bytes:
    """GraphProto."""
    return each(1, nodes) + data(2, name) + each(5, initializers) + each(11, inputs) + each(12, outputs)


def model(encoded_graph: bytes) -> bytes:
    """ModelProto."""
    opsets = [data(1, domain) + number(2, version) for domain, version in OPSETS.items()]
    return number(1, IR_VERSION) + data(2, "drethtr") + data(7, encoded_graph) + each(8, opsets)
