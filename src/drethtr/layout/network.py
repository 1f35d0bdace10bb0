"""The line detector: its weights in a file, and its maps of a page, computed with onnxruntime.

It is the text detector of PP-OCRv6 (small; Apache-2.0, PaddleOCR), which `drethtr.network.detector` has as torch
modules. Detectors trained with drethtr have a second head, with more maps than the cores of lines.

Shapes, everywhere in this file: feature maps (1, C, H, W).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import CheckpointError
from drethtr.images.line import Line
from drethtr.layout.finder import Role
from drethtr.recognition.model.file import FORMAT, LINES, parse_header, weights_hash
from drethtr.recognition.model.weights import Weights, check_file, dequantize, quantize, read_file, write_tensors
from drethtr.recognition.onnx.backbones import block, descent, excitation, mlp, stem
from drethtr.recognition.onnx.graph import Graph, floats, refuse_left_over
from drethtr.recognition.onnx.layers import conv
from drethtr.recognition.onnx.session import Session

Map: TypeAlias = NDArray[np.float32]

SHIPPED = Path(__file__).parent / "models" / "lines.safetensors"

MULTIPLE = 32
"""The sides of the network's input must be multiples of this: they are halved five times."""

MEANS = np.array((0.485, 0.456, 0.406), dtype=np.float32)[:, None, None]
SPREADS = np.array((0.229, 0.224, 0.225), dtype=np.float32)[:, None, None]
"""Mean and standard deviation of the channels in the detector's first training data, from 0 to 1."""

STEM = 24
STAGES = (
    (48, (True, False)),
    (96, (True, False)),
    (192, (True, False, True, False)),
    (384, (True, False)),
)
"""Channels of a stage, and for each of its blocks whether it has squeeze-excitation."""
NECK = 96

COARSE = 4
"""Pixels of the input per pixel of the maps other than the cores, across and down."""

MAPS = ("text", *(role.value for role in Role))
"""The maps of the second head; those of other names in a file are left out when it is loaded."""
TEXT = 0
"""The number of the first of them, before one for each `Role`."""


class Maps(NamedTuple):
    """The output of the network for each pixel of a picture, as probabilities; only `cores` without a second head.

    cores  in the core of a line
    text   in the core of a line that belongs to the text of this page, (H/4, W/4)
    roles  the role of the writing here, (roles, H/4, W/4), each by itself
    """

    cores: Map
    text: Map | None = None
    roles: Map | None = None


@dataclass(frozen=True, repr=False)
class LineModel:
    """The weights of a line detector, by name, and their card."""

    weights: Weights
    card: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the weights."""
        return weights_hash(self.weights)

    @property
    def has_maps(self) -> bool:
        """Whether it has the second head."""
        return any(name.startswith("maps.") for name in self.weights)

    @property
    def parameter_count(self) -> int:
        """Number of parameters."""
        return sum(weight.size for weight in self.weights.values())

    def session(self, threads: int) -> Session:
        """The network, ready to compute.

        Raises:
            CheckpointError: if the weights are not those of such a network.
        """
        graph = detector_graph(self.weights, maps=self.has_maps)
        refuse_left_over(self.weights, [graph])
        return Session(graph, threads)


def save_lines(model: LineModel, path: Path, *, small: bool = False) -> None:
    """Write a model atomically; `small` quantizes its weights to 8 and 16 bits, which changes its hash, and packs them.

    Raises:
        CheckpointError: if the file cannot be written.
    """
    header = {"format": FORMAT, "maps": list(MAPS) if model.has_maps else [], "card": dict(model.card)}
    stored = quantize(model.weights) if small else model.weights
    write_tensors(stored, path, {LINES: json.dumps(header, ensure_ascii=False)}, pack=small)


def load_lines(path: Path) -> LineModel:
    """Read a model file.

    Raises:
        CheckpointError: if the file cannot be used, or is a model of another kind or with other maps.
    """
    tensors, metadata = read_file(path)
    header = parse_header(path, metadata, LINES)
    try:
        return LineModel(with_maps(dequantize(tensors), header.get("maps")), header["card"])
    except CheckpointError as error:
        raise error.of(path) from error


def with_maps(weights: Weights, maps: object) -> Weights:
    """The weights of a model whose second head has these maps, with `MAPS` alone; without a second head as they are.

    Raises:
        CheckpointError: if some of `MAPS` are missing.
    """
    if maps == []:
        return weights
    if not isinstance(maps, list) or not all(name in maps for name in MAPS):
        raise CheckpointError("lacks maps that this version needs; install the version that wrote it")
    last = {name: weight for name, weight in weights.items() if name.startswith("maps.leave.")}
    if any(weight.shape[:1] != (len(maps),) for weight in last.values()):
        raise CheckpointError(f"has other weights than those of {len(maps)} maps in {', '.join(last)}")
    places = [maps.index(name) for name in MAPS]
    return {**weights, **{name: weight[places] for name, weight in last.items()}}


def open_lines(path: Path, threads: int) -> Session:
    """The network in a file, loaded once per process and number of threads while the file stays the same.

    Raises:
        CheckpointError: if the file cannot be used.
    """
    check_file(path)
    # The time of change is part of the key: a training may write a better network to the same path.
    return opened(path, path.stat().st_mtime_ns, threads)


@lru_cache(maxsize=4)
def opened(path: Path, changed: int, threads: int) -> Session:
    """The network in a file that was `changed` then."""
    try:
        return load_lines(path).session(threads)
    except CheckpointError as error:
        raise error.of(path) from error


def look_at(picture: Line, network: Session) -> Maps:
    """The maps of a gray picture of any size."""
    height, width = picture.shape
    missing = [(0, -length % MULTIPLE) for length in (height, width)]
    # The padding continues the paper: a margin of another gray could be detected as a line.
    grays = np.pad(picture, missing, mode="edge").astype(np.float32) / 255
    [[[cores]], *others] = network.run({"image": ((grays - MEANS) / SPREADS)[None]}, seldom=True)
    cores = cores[:height, :width]
    if not others:
        return Maps(cores)
    maps = others[0][0][:, : -(-height // COARSE), : -(-width // COARSE)]
    return Maps(cores, maps[TEXT], maps[TEXT + 1 :])


def detector_graph(weights: Weights, *, maps: bool) -> Graph:
    """From `image` (1, 3, H, W) to the cores (1, 1, H, W) and, with `maps`, the others (1, maps, H/4, W/4)."""
    graph = Graph(weights)
    x, before = stem(graph, graph.input("image", (1, 3, "height", "width")), 3, STEM, STAGES[0][0]), STAGES[0][0]
    levels: list[tuple[str, int]] = []
    for number, (width, blocks) in enumerate(STAGES):
        place = 0
        if width != before:
            x = descent(graph, x, f"backbone.stages.{number}.0", before, width, (2, 2))
            before, place = width, 1
        for squeezed in blocks:
            x = block(graph, x, f"backbone.stages.{number}.{place}", width, squeezed=squeezed)
            place += 1
        levels.insert(0, (x, width))
    found: list[str] = []
    for number, (level, width) in enumerate(levels):
        x = lateral(graph, level, f"backbone.entries.{number}", width, NECK)
        found.append(graph.op("Add", x, enlarged(graph, found[-1], 2)) if found else x)
    parts = [lateral(graph, level, f"backbone.exits.{n}", NECK, NECK // 4, wide=True) for n, level in enumerate(found)]
    whole_size = [enlarged(graph, part, scale) for part, scale in zip(parts[:-1], (8, 4, 2), strict=True)]
    x = graph.op("Concat", *whole_size, parts[-1], axis=1)
    graph.output(graph.op("Sigmoid", head(graph, x)))
    if maps:
        graph.output(graph.op("Sigmoid", second_head(graph, x)))
    return graph


def lateral(graph: Graph, x: str, name: str, inputs: int, outputs: int, *, wide: bool = False) -> str:
    """Channels mixed, then strengthened by their squeeze."""
    if wide:
        x = conv(graph, x, f"{name}.depthwise", inputs, inputs, (7, 7), groups=inputs)
    x = graph.op("Conv", x, graph.weight(f"{name}.mix.weight", outputs, inputs, 1, 1))
    return graph.op("Add", x, graph.op("Mul", x, excitation(graph, x, f"{name}.squeeze", outputs, 0.2)))


def enlarged(graph: Graph, x: str, scale: int) -> str:
    """Each place repeated."""
    where = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    return graph.op("Resize", x, "", floats((1, 1, scale, scale)), mode="nearest", **where)


def head(graph: Graph, x: str) -> str:
    """The logits of the cores."""
    x = graph.op("Relu", conv(graph, x, "head.enter", NECK, NECK // 4, (3, 3)))
    return upsampled(graph, graph.op("Relu", upsampled(graph, x, "head.larger", NECK // 4)), "head.largest", 1)


def upsampled(graph: Graph, x: str, name: str, outputs: int) -> str:
    """A transposed convolution to twice the height and width."""
    weights = graph.weight(f"{name}.weight", NECK // 4, outputs, 2, 2), graph.weight(f"{name}.bias", outputs)
    return graph.op("ConvTranspose", x, *weights, kernel_shape=(2, 2), strides=(2, 2))


def second_head(graph: Graph, x: str) -> str:
    """The logits of the other maps."""
    width = NECK // 2
    x = graph.op("Relu", conv(graph, x, "maps.enter", NECK, width, (3, 3)))
    around = conv(graph, x, "maps.around", width, width, (7, 7), groups=width)
    x = graph.op("Add", x, mlp(graph, around, "maps", width, width))
    return conv(graph, x, "maps.leave", width, len(MAPS))
