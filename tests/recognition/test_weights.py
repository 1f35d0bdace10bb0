"""Weights in few bits are nearly the same, and stay what they are when they are rounded again."""

import pytest
import torch
from drethtr.recognition.rounding import restored, rounded

from drethtr.base.errors import CheckpointError


@pytest.fixture
def weights():
    """What networks have: matrices of odd shapes, scales far apart, zeros, kernels, biases and counts."""
    torch.manual_seed(0)
    return {
        "matrix": torch.randn(7, 70) * torch.logspace(-8, 3, 7)[:, None],
        "narrow": torch.randn(3, 1),
        "zeros": torch.zeros(2, 40),
        "empty": torch.zeros(0, 5),
        "kernel": torch.randn(4, 2, 3, 3),
        "bias": torch.randn(9),
        "count": torch.tensor(7),
    }


def test_every_number_is_nearly_the_same(weights):
    found = restored(rounded(weights))
    assert found.keys() == weights.keys()
    for columns in (slice(0, 32), slice(32, 64), slice(64, 70)):
        given, read = weights["matrix"][:, columns], found["matrix"][:, columns]
        assert ((given - read).abs() <= given.abs().amax(1, keepdim=True) / 127 * 0.51).all()
    for name in ("kernel", "bias"):
        torch.testing.assert_close(found[name].float(), weights[name], rtol=1e-3, atol=1e-3)
    for name in ("zeros", "empty", "count"):
        assert found[name].equal(weights[name])


def test_rounding_again_changes_nothing(weights):
    once = {name: weight.float() for name, weight in restored(rounded(weights)).items()}
    again = restored(rounded(once))
    assert all(again[name].float().equal(weight) for name, weight in once.items())


def test_a_matrix_takes_a_good_half_of_float16(weights):
    stored = rounded({"matrix": torch.randn(64, 256)})
    assert sum(tensor.nbytes for tensor in stored.values()) == 64 * 256 + 64 * 8 * 2
    assert weights["matrix"].dtype == torch.float32


def test_weights_that_are_not_rounded_stay(weights):
    assert all(tensor is weights[name] for name, tensor in restored(weights).items())


@pytest.mark.parametrize(
    "scales",
    [torch.ones(7, 2), torch.ones(6, 3), torch.ones(()), torch.ones(7, 3, 1)],
    ids=["few", "rows", "one", "3D"],
)
def test_scales_of_another_shape_are_refused(scales, weights):
    with pytest.raises(CheckpointError, match=r"matrix\.scales are not of a matrix of shape \(7, 70\)"):
        restored(rounded(weights) | {"matrix.scales": scales})


def test_scales_without_a_matrix_are_refused():
    with pytest.raises(CheckpointError, match=r"lost\.scales are not of a matrix"):
        restored({"lost.scales": torch.ones(2, 2)})
