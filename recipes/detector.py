"""Convert the line detector for the package: PP-OCRv6 small (Apache-2.0) from rapidocr, with weights in 8 bits.

    python recipes/detector.py src/drethtr/layout/models/ppocrv6_det_small.onnx.xz

Weights become int8 with a scale per output channel; the graph converts them back to float32, so the detector still
computes in float32. Requires the packages rapidocr and onnx.
"""

import lzma
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from drethtr.network.pretrained import network_in_rapidocr

MODEL = "PP-OCRv6_det_small.onnx"

SMALLEST = 512
"""Arrays with fewer values stay in float32."""


def output_channels(model: onnx.ModelProto) -> dict[str, int]:
    """The axis of output channels of each weight: 1 for transposed convolutions, else 0."""
    axes = {"Conv": 0, "ConvTranspose": 1}
    return {node.input[1]: axes[node.op_type] for node in model.graph.node if node.op_type in axes}


def make_small(model: onnx.ModelProto) -> None:
    """Quantize weights to 8 bits, in place."""
    channels = output_channels(model)
    names = identities(model)
    kept, nodes = [], []
    for initializer in model.graph.initializer:
        weight, users = numpy_helper.to_array(initializer), names.get(initializer.name, initializer.name)
        if users not in channels or weight.size < SMALLEST:
            kept.append(initializer)
            continue
        others = tuple(axis for axis in range(weight.ndim) if axis != channels[users])
        scale = (np.abs(weight).max(others, keepdims=True) / 127).astype(np.float32)
        whole = np.rint(weight / np.where(scale > 0, scale, 1)).astype(np.int8)
        name = initializer.name
        kept += [numpy_helper.from_array(whole, f"{name}.int8"), numpy_helper.from_array(scale, f"{name}.scale")]
        nodes += [
            helper.make_node("Cast", [f"{name}.int8"], [f"{name}.cast"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"{name}.cast", f"{name}.scale"], [name]),
        ]
    nodes += model.graph.node
    del model.graph.initializer[:], model.graph.node[:]
    model.graph.initializer.extend(kept)
    model.graph.node.extend(nodes)


def identities(model: onnx.ModelProto) -> dict[str, str]:
    """The names that identity nodes give to initializers."""
    return {node.input[0]: node.output[0] for node in model.graph.node if node.op_type == "Identity"}


if __name__ == "__main__":
    [path] = sys.argv[1:]
    detector = onnx.load(network_in_rapidocr(MODEL, "pretrained"))
    make_small(detector)
    onnx.checker.check_model(detector)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(lzma.compress(detector.SerializeToString(), preset=9 | lzma.PRESET_EXTREME))
