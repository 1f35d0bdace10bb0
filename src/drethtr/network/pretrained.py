"""The weights of PP-OCR, from the package rapidocr, as a start for training."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from drethtr.base.errors import CheckpointError, MissingExtraError
from drethtr.network.backbones.ppocr import PPOCRBackbone
from drethtr.network.detector import Detector
from drethtr.recognition.model.architecture import PPOCR

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto


EXTRA = "pretrained"
REMEDY = "run: pip install rapidocr==3.10.0"
MODEL, DETECTOR = "PP-OCRv6_rec_small.onnx", "PP-OCRv6_det_small.onnx"


class Pretrained(NamedTuple):
    """A recognizer of printed and handwritten text: its backbone, and the linear CTC head on the backbone's neck."""

    backbone: dict[str, Tensor]
    """State dict of `PPOCRBackbone`."""
    head_weight: Tensor
    """(classes, 120)"""
    head_bias: Tensor
    """(classes,)"""
    characters: tuple[str, ...]
    """The character of each class: "" for the blank, class 0; the last is the space."""


def ppocr_weights() -> Pretrained:
    """Load the recognizer from the package rapidocr.

    Raises:
        MissingExtraError: if rapidocr or onnx is not installed.
        CheckpointError: if the installed rapidocr contains another one.
    """
    path, model = network_in_rapidocr(MODEL)
    *arrays, head_weight, head_bias = learned_arrays(model.graph)
    [text] = [entry.value for entry in model.metadata_props if entry.key == "character"]
    characters = ("", *text.split("\n"), " ")
    if len(characters) != len(head_bias):
        raise CheckpointError(f"{len(characters)} characters for {len(head_bias)} classes; {REMEDY}", path)
    return Pretrained(backbone_weights(arrays, path), head_weight, head_bias, characters)


def detector_weights() -> dict[str, Tensor]:
    """Load the text detector from the package rapidocr, as the weights of `Detector` without its second head.

    Raises:
        MissingExtraError: if rapidocr or onnx is not installed.
        CheckpointError: if the installed rapidocr contains another one.
    """
    path, model = network_in_rapidocr(DETECTOR)
    from onnx.numpy_helper import to_array

    graph = model.graph
    names = {node.input[0]: node.output[0] for node in graph.node if node.op_type == "Identity"}
    stored = {names.get(tensor.name, tensor.name): torch.tensor(to_array(tensor)) for tensor in graph.initializer}
    arrays = [
        stored[name].flatten() if node.op_type == "Add" else stored[name]
        for node in graph.node
        if node.op_type in ("Conv", "ConvTranspose", "Add")
        for name in node.input
        if name in stored and stored[name].ndim == 4  # others are settings
    ]
    with torch.device("meta"):
        expected = {name: tensor for name, tensor in Detector().state_dict().items() if not name.startswith("maps.")}
    return with_names(arrays, expected, path)


def learned_arrays(graph: "GraphProto") -> list[Tensor]:
    """Weights and biases in torch's shapes, in the order of the graph, with batch norms folded in."""
    from onnx.numpy_helper import to_array

    stored = {tensor.name: tensor for tensor in graph.initializer}
    learned: list[Tensor] = []
    for node in graph.node:
        used = [torch.tensor(to_array(stored[name])) for name in node.input if name in stored]
        used = [array for array in used if array.is_floating_point() and array.numel() > 1]  # others are settings
        if node.op_type == "BatchNormalization":
            epsilon = next(attribute.f for attribute in node.attribute if attribute.name == "epsilon")
            learned.extend(fold_norm(learned.pop(), *used, epsilon=epsilon))
        elif node.op_type == "MatMul":
            learned.extend(array.T.contiguous() for array in used)
        elif node.op_type == "Add":
            learned.extend(array.flatten() for array in used)
        else:
            learned.extend(used)
    return learned


def fold_norm(
    weight: Tensor, scale: Tensor, shift: Tensor, mean: Tensor, variance: Tensor, *, epsilon: float
) -> tuple[Tensor, Tensor]:
    """Fold a batch norm into a convolution without bias; returns weight and bias of the result."""
    gain = scale / (variance + epsilon).sqrt()
    return weight * gain[:, None, None, None], shift - mean * gain


def backbone_weights(arrays: list[Tensor], path: Path) -> dict[str, Tensor]:
    """Name the arrays as in `PPOCRBackbone`, and convert from three channels with paper +1 to one with ink +1."""
    with torch.device("meta"):
        expected = PPOCRBackbone(PPOCR()).state_dict()
    return with_names([-arrays[0].sum(1, keepdim=True), *arrays[1:]], expected, path)


def with_names(arrays: list[Tensor], expected: Mapping[str, Tensor], path: Path) -> dict[str, Tensor]:
    """Name the arrays of a file as the expected weights, which are in the same order.

    Raises:
        CheckpointError: if their shapes differ.
    """
    if [array.shape for array in arrays] != [tensor.shape for tensor in expected.values()]:
        raise CheckpointError(f"its layers are not those of PP-OCRv6 small; {REMEDY}", path)
    return dict(zip(expected, arrays, strict=True))


def network_in_rapidocr(name: str) -> tuple[Path, "ModelProto"]:
    """A network in the package rapidocr, and its file.

    Raises:
        MissingExtraError: if rapidocr or onnx is not installed.
        CheckpointError: if the installed version has no such network.
    """
    package = find_spec("rapidocr")
    if package is None or package.submodule_search_locations is None:
        raise MissingExtraError("rapidocr", EXTRA)
    path = Path(package.submodule_search_locations[0], "models", name)
    if not path.is_file():
        raise CheckpointError(f"{path} does not exist; {REMEDY}")
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError("onnx", EXTRA) from error
    return path, onnx.load(path)
