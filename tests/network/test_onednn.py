import platform
from contextlib import nullcontext

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from drethtr.network import onednn
from drethtr.network.onednn import ONEDNN, convolve, fused, reliable, step_by_step


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last], ids=str)
@pytest.mark.parametrize(
    ("kernel", "settings"),
    [(1, {}), (3, {"padding": 1, "groups": 16}), (3, {"padding": 1, "stride": (2, 1)})],
    ids=["pointwise", "depthwise", "descent"],
)
def test_one_pass_computes_what_two_do(dtype, layout, kernel, settings):
    if not reliable(dtype):
        pytest.skip("no such operations here")
    torch.manual_seed(0)
    conv = nn.Conv2d(16, 32, kernel, **settings).to(dtype)
    pixels = torch.randn(3, 16, 6, 20).to(dtype).contiguous(memory_format=layout)
    tolerance = 1e-5 if dtype == torch.float32 else 0.03  # the steps round in between, one pass does not
    with torch.inference_mode():
        residual = conv(pixels)
        for task in [(activation, None) for activation in ONEDNN] + [(None, residual)]:
            expected = step_by_step(conv, pixels, *task)
            assert torch.allclose(fused(conv, pixels, dtype, *task), expected, atol=tolerance, rtol=tolerance)
            assert torch.equal(convolve(conv, pixels, *task), fused(conv, pixels, dtype, *task)), (
                "and it is what is used"
            )


def test_what_one_pass_cannot_do_is_done_in_steps():
    conv = nn.Conv2d(2, 2, 1)
    pixels = torch.randn(1, 2, 3, 4)
    with torch.inference_mode():
        assert torch.equal(convolve(conv, pixels, torch.tanh), torch.tanh(conv(pixels)))
        double = conv.double()(pixels.double())
        assert torch.equal(convolve(conv, pixels.double(), F.relu), F.relu(double))


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last], ids=str)
@pytest.mark.parametrize("activation", [F.relu, F.gelu, F.silu])
def test_it_can_be_learned_through(layout, activation):
    conv = nn.Conv2d(2, 2, 1)
    pixels = torch.randn(3, 2, 3, 4).contiguous(memory_format=layout).requires_grad_()
    gradients = []
    for found in (convolve(conv, pixels, activation), activation(conv(pixels))):
        assert found.is_contiguous(memory_format=layout)
        gradients.append(torch.autograd.grad(found.square().sum(), (pixels, *conv.parameters())))
    torch.testing.assert_close(*gradients)


def test_what_is_frozen_takes_one_pass_in_training(monkeypatch):
    taken = []
    monkeypatch.setattr(onednn, "fused", lambda *given: taken.append(given[2]) or fused(*given))
    frozen, pixels = nn.Conv2d(16, 16, 1).requires_grad_(False), torch.randn(1, 16, 3, 4)
    for precision in (nullcontext(), torch.autocast("cpu", torch.bfloat16)):
        with precision:
            expected = F.gelu(frozen(pixels))
            found = convolve(frozen, pixels, F.gelu)
        assert found.dtype == expected.dtype and not found.requires_grad
        torch.testing.assert_close(found, expected, atol=0.02, rtol=0.02)
    assert taken == [dtype for dtype in (torch.float32, torch.bfloat16) if reliable(dtype)]
    assert convolve(frozen, pixels.requires_grad_(), F.gelu).requires_grad
    assert convolve(frozen, pixels.detach(), residual=pixels).requires_grad


def test_an_activation_and_a_residual_are_refused():
    pixels = torch.randn(1, 2, 3, 4)
    with pytest.raises(ValueError, match="not both"):
        convolve(nn.Conv2d(2, 2, 1), pixels, F.relu, pixels)


@pytest.mark.parametrize(
    "broken", [lambda *_: torch.zeros(1, 8, 4, 5), lambda *_: torch.ops.mkldnn.no_such_operation()]
)
def test_operations_that_are_wrong_or_missing_are_not_used(broken, monkeypatch):
    monkeypatch.setattr(onednn, "fused", broken)
    assert not reliable.__wrapped__(torch.float32)


@pytest.mark.skipif(
    platform.machine() != "x86_64" or not torch.backends.mkldnn.is_available(), reason="no such operations here"
)
def test_where_they_ought_to_be_they_are():
    assert reliable(torch.float32)
