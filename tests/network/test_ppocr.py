"""The pooling of the stem is that of `F.max_pool2d`, only sooner done."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from drethtr.network.backbones.ppocr import LargerNeighbor, strongest_of_four

LAYOUTS = pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last], ids=str)


def drawn(layout: torch.memory_format) -> Tensor:
    """Pixels without equals, all above 0, as after a ReLU."""
    rng = torch.Generator().manual_seed(0)
    pixels = torch.randperm(2 * 3 * 6 * 7, generator=rng).add(1).view(2, 3, 6, 7).double()
    return pixels.contiguous(memory_format=layout).requires_grad_()


def assert_alike(found: Tensor, expected: Tensor, pixels: Tensor) -> None:
    """In values, bit by bit, and in what pixels learn from them."""
    assert torch.equal(found, expected)
    taught = torch.randn(expected.shape, dtype=expected.dtype, generator=torch.Generator().manual_seed(1))
    gradients = (torch.autograd.grad(result, pixels, taught)[0] for result in (found, expected))
    torch.testing.assert_close(*gradients, rtol=1e-12, atol=1e-12)


@LAYOUTS
@pytest.mark.parametrize(("dim", "kernel"), [(2, (2, 1)), (3, (1, 2))], ids=["lower", "right"])
def test_the_larger_neighbor_is_a_pooling_of_two(
    dim: int, kernel: tuple[int, int], layout: torch.memory_format
) -> None:
    pixels = drawn(layout)
    found = LargerNeighbor.apply(pixels, dim)
    assert_alike(found, F.max_pool2d(pixels, kernel, stride=1), pixels)


@LAYOUTS
def test_the_strongest_of_four_is_a_pooling_with_zeros_outside(layout: torch.memory_format) -> None:
    pixels = drawn(layout)
    found = strongest_of_four(pixels)
    assert found.shape == pixels.shape and found.is_contiguous(memory_format=layout)
    assert_alike(found, F.max_pool2d(F.pad(pixels, (0, 1, 0, 1)), 2, stride=1), pixels)


def test_of_equals_one_learns() -> None:
    pixels = torch.ones(1, 1, 3, 4, requires_grad=True)
    strongest_of_four(pixels).sum().backward()
    assert pixels.grad is not None and pixels.grad.sum() == 12
