"""A convolution with what follows it, in as few passes over the pixels as oneDNN can.

Where nothing is learned, oneDNN activates and adds while its values are still in registers. PyTorch has it do so on
x86 in networks that it compiles, which takes minutes; the operations behind that are called here directly. Learning
needs the values in between, and other processors lack the operations: there, one thing is done after the other.

Shapes, everywhere in this file: B lines, C channels, H rows, W columns.
"""

import platform
from collections.abc import Callable
from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Activation = Callable[[Tensor], Tensor]

ONEDNN: dict[Activation | None, tuple[str, str]] = {
    None: ("none", ""),
    F.relu: ("relu", ""),
    F.gelu: ("gelu", "none"),
    F.silu: ("swish", ""),
}
"""What oneDNN calls an activation, and which of its algorithms computes it."""


def convolve(
    conv: nn.Conv2d, pixels: Tensor, activation: Activation | None = None, residual: Tensor | None = None
) -> Tensor:
    """A convolution of pixels (B, C, H, W), then an activation or a residual to add, of the shape of the result."""
    if activation is not None and residual is not None:
        raise ValueError("an activation or a residual, not both: it would be unclear which comes first")
    if pixels.device.type == "cpu" and activation in ONEDNN and not learns(conv, pixels, residual):
        dtype = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else pixels.dtype
        if reliable(dtype) and (residual is None or residual.dtype == dtype):
            return fused(conv, pixels, dtype, activation, residual)
    return step_by_step(conv, pixels, activation, residual)


def learns(conv: nn.Conv2d, *given: Tensor | None) -> bool:
    """Whether a gradient will be asked for."""
    values = (*conv.parameters(), *given)
    return torch.is_grad_enabled() and any(value is not None and value.requires_grad for value in values)


def step_by_step(conv: nn.Conv2d, pixels: Tensor, activation: Activation | None, residual: Tensor | None) -> Tensor:
    """One operation after the other."""
    found = F.conv2d(pixels, conv.weight, conv.bias, conv.stride, conv.padding, conv.dilation, conv.groups)
    if activation is not None:
        return activated(activation, found)
    return found if residual is None else found + residual


def activated(activation: Activation, pixels: Tensor) -> Tensor:
    """What the activation makes of each pixel.

    PyTorch leaves it to oneDNN, twice as fast, only where the last dimension is the densest; if channels are, the same
    numbers are shown so.
    """
    if pixels.is_contiguous(memory_format=torch.channels_last):
        return activation(pixels.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
    return activation(pixels)


def fused(
    conv: nn.Conv2d, pixels: Tensor, dtype: torch.dtype, activation: Activation | None, residual: Tensor | None
) -> Tensor:
    """One operation of oneDNN, in numbers of this kind."""
    name, algorithm = ONEDNN[activation]
    pixels, weight = pixels.to(dtype), conv.weight.to(dtype)
    bias = None if conv.bias is None else conv.bias.to(dtype)
    settings = (weight, bias, conv.padding, conv.stride, conv.dilation, conv.groups)
    if residual is None:
        found = torch.ops.mkldnn._convolution_pointwise(pixels, *settings, name, [], algorithm)
    else:
        found = torch.ops.mkldnn._convolution_pointwise.binary(pixels, residual, *settings, "add", 1.0, None, [], None)
    assert isinstance(found, Tensor)
    return found


@cache
def reliable(dtype: torch.dtype) -> bool:
    """Whether this build and processor have the operations, and they compute what they should.

    They are no public interface of PyTorch, so that another version may lack or change them.
    """
    if dtype not in (torch.float32, torch.bfloat16) or platform.machine().lower() not in ("x86_64", "amd64"):
        return False
    conv = nn.Conv2d(8, 8, 3, padding=1, device="meta", dtype=dtype).to_empty(device="cpu")
    pixels, weight, bias = (
        torch.linspace(-1, 1, size, dtype=dtype, device="cpu") for size in (8 * 4 * 5, 8 * 8 * 9, 8)
    )
    conv.weight, conv.bias = nn.Parameter(weight.view(8, 8, 3, 3)), nn.Parameter(bias)
    pixels = pixels.view(1, 8, 4, 5)
    tolerance = 1e-5 if dtype == torch.float32 else 0.02
    tasks = [(activation, None) for activation in ONEDNN] + [(None, pixels)]
    try:
        return all(
            torch.allclose(
                fused(conv, pixels, dtype, *task),
                step_by_step(conv, pixels, *task),
                rtol=tolerance,
                atol=tolerance,
            )
            for task in tasks
        )
    except (AttributeError, RuntimeError):  # no such operation, or not for such numbers
        return False
