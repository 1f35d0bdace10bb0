import pytest
import torch
import torch.nn.functional as F

from drethtr.network.padded import MaskedConv, Padded, SqueezeExcitation, valid


def test_valid_says_which_positions_lie_within():
    assert valid(torch.tensor([0, 2]), 3).tolist() == [[False, False, False], [True, True, False]]


def test_lines_of_one_width_are_full_and_stay_so():
    x = Padded.of(torch.zeros(2, 1, 4, 9), torch.tensor([9, 9]), at_least=8)
    assert x.full
    x = MaskedConv(1, 1, (3, 3), (2, 2))(x)
    assert x.full and x.widths.tolist() == [5, 5] and x.pixels.shape == (2, 1, 2, 5)
    assert x.cleared() is x


@pytest.mark.parametrize("width", [1, 7, 8])
def test_a_narrow_line_is_filled_up_with_paper(width):
    x = Padded.of(torch.ones(1, 1, 2, width), torch.tensor([width]), at_least=8)
    assert x.full and x.widths.tolist() == [8]
    assert x.pixels[0, 0, 0].tolist() == [1.0] * width + [-1.0] * (8 - width)


def test_clearing_leaves_the_line_alone():
    x = Padded.of(torch.ones(2, 1, 1, 4), torch.tensor([4, 2]), at_least=1).cleared()
    assert x.pixels[:, 0, 0].tolist() == [[1, 1, 1, 1], [1, 1, 0, 0]]


def test_the_mean_is_over_the_line_only():
    pixels = torch.tensor([[1.0, 3.0, 50.0], [1.0, 1.0, 4.0]])[:, None, None]
    x = Padded.of(pixels, torch.tensor([2, 3]), at_least=1)
    assert x.mean().flatten().tolist() == [2.0, 2.0]


@pytest.mark.parametrize("kernel", [(3, 3), (2, 2), (1, 7), (5, 1), (1, 1)], ids=str)
@pytest.mark.parametrize("stride", [(1, 1), (2, 2), (2, 1)], ids=str)
@pytest.mark.parametrize("learning", [True, False], ids=["learning", "reading"])
def test_a_convolution_sees_zeros_right_of_each_line(kernel, stride, learning):
    torch.manual_seed(0)
    conv = MaskedConv(2, 3, kernel, stride)
    with torch.set_grad_enabled(learning):
        check_against_lines_alone(conv, torch.randn(3, 2, 6, 11), (11, 10, 3), stride)


def check_against_lines_alone(conv, pixels, widths, stride):
    before = pixels.clone()
    together = conv(Padded.of(pixels, torch.tensor(widths), at_least=1))
    for row, width in enumerate(widths):
        alone = conv(Padded.of(pixels[row : row + 1, ..., :width], torch.tensor([width]), at_least=1))
        columns = -(-width // stride[1])
        assert alone.pixels.shape[-1] == columns == together.widths[row] == alone.widths[0]
        assert torch.allclose(together.pixels[row, ..., :columns], alone.pixels[0], atol=1e-6)
    assert torch.equal(pixels, before), "what was given is not written into"


def test_an_even_kernel_leans_to_the_lower_right():
    conv = MaskedConv(1, 1, (2, 2), bias=False)
    pixels = torch.randn(1, 1, 3, 4)
    expected = F.conv2d(F.pad(pixels, (0, 1, 0, 1)), conv.weight)
    assert torch.equal(conv(Padded.of(pixels, torch.tensor([4]), at_least=1)).pixels, expected)


def test_squeeze_excitation_scales_by_the_mean_of_the_line():
    torch.manual_seed(0)
    squeeze = SqueezeExcitation(4, 2, F.relu, torch.sigmoid)
    pixels = torch.randn(1, 4, 3, 5)
    mean = pixels[..., :2].mean((2, 3))
    hidden = F.relu(F.linear(mean, squeeze.fc1.weight[..., 0, 0], squeeze.fc1.bias))
    scale = torch.sigmoid(F.linear(hidden, squeeze.fc2.weight[..., 0, 0], squeeze.fc2.bias))
    out = squeeze(Padded.of(pixels, torch.tensor([2]), at_least=1))
    assert torch.allclose(out.pixels, pixels * scale[..., None, None])
