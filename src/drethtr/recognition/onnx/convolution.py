"""Convolutions of the backbones, on feature maps (1, C, H, W) of one line."""

from drethtr.recognition.onnx.graph import Graph, whole


def conv(
    graph: Graph,
    x: str,
    name: str,
    inputs: int,
    outputs: int,
    kernel: tuple[int, int] = (1, 1),
    stride: tuple[int, int] = (1, 1),
    *,
    groups: int = 1,
    padded: bool = True,
) -> str:
    """A convolution to ceil(size / stride) rows and columns; an even kernel is centered to the lower right.

    Without padding, the kernel stays inside.
    """
    weight = graph.weight(f"{name}.weight", outputs, inputs // groups, *kernel)
    before = [(size - 1) // 2 * padded for size in kernel]
    after = [size // 2 * padded for size in kernel]
    return graph.op(
        "Conv",
        x,
        weight,
        graph.weight(f"{name}.bias", outputs),
        kernel_shape=kernel,
        strides=stride,
        group=groups,
        pads=before + after,
    )


def tokens(graph: Graph, x: str) -> str:
    """Feature maps (1, C, 1, W) of one row as tokens (W, C)."""
    return graph.op("Transpose", graph.op("Squeeze", x, whole(0, 2)), perm=(1, 0))
