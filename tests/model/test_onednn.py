import pytest
import torch
import torch.nn.functional as F
from torch import nn

from drethtr.model.onednn import ONEDNN, convolve, fused, reliable, step_by_step


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
            assert torch.allclose(fused(conv, pixels, *task), expected, atol=tolerance, rtol=tolerance)
            assert torch.equal(convolve(conv, pixels, *task), fused(conv, pixels, *task)), "and it is what is used"


def test_what_one_pass_cannot_do_is_done_in_steps():
    conv = nn.Conv2d(2, 2, 1)
    pixels = torch.randn(1, 2, 3, 4)
    with torch.inference_mode():
        assert torch.equal(convolve(conv, pixels, torch.tanh), torch.tanh(conv(pixels)))
        double = conv.double()(pixels.double())
        assert torch.equal(convolve(conv, pixels.double(), F.relu), F.relu(double))


def test_it_can_be_learned_through():
    conv = nn.Conv2d(2, 2, 1)
    pixels = torch.randn(1, 2, 3, 4)
    convolve(conv, pixels, F.gelu).sum().backward()
    learned = conv.weight.grad
    conv.zero_grad()
    F.gelu(conv(pixels)).sum().backward()
    assert torch.equal(learned, conv.weight.grad)


def test_an_activation_and_a_residual_are_refused():
    pixels = torch.randn(1, 2, 3, 4)
    with pytest.raises(ValueError, match="not both"):
        convolve(nn.Conv2d(2, 2, 1), pixels, F.relu, pixels)
