"""What every backbone promises, whatever its layers."""

from copy import deepcopy

import pytest
import torch
from torch import nn

from drethtr.base.errors import DataError
from drethtr.network.backbones import BACKBONES
from drethtr.network.precision import fold_norms
from drethtr.paper.network.resnet import Bottleneck
from drethtr.paper.variants import Patches, ResNet50, ShallowCNN
from drethtr.recognition.model.backbones import PPOCR, EfficientNetV2S, Light

KINDS = [
    PPOCR(),
    PPOCR(height=64),
    EfficientNetV2S(),
    EfficientNetV2S(canvas=160),
    Light(),
    Light(height=48),
    ResNet50(),
    ShallowCNN(),
    ShallowCNN(rows=10),
    Patches(),
    Patches(rows=64, columns=16),
]
WIDTHS = (5, 98, 64)


@pytest.fixture(scope="module", params=KINDS, ids=repr)
def built(request):
    torch.manual_seed(0)
    return settle(BACKBONES.build(request.param)).eval()


@pytest.fixture
def backbone(built):
    return deepcopy(built)


def settle(backbone):
    """Give fresh batch norms the statistics of a batch; without them the deep networks fade to nothing."""
    for module in backbone.modules():
        if isinstance(module, Bottleneck):
            nn.init.constant_(module.bn3.weight, 0.2)  # or the branches of 16 blocks drown what went in
    norms = [module for module in backbone.modules() if isinstance(module, nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = None  # a cumulative mean
    if norms:
        with torch.inference_mode():
            backbone(lines(backbone, WIDTHS), torch.tensor(WIDTHS))
    return backbone


def lines(backbone, widths, dtype=torch.float32):
    """A batch whose lines are different, with other things than zeros on their right."""
    generator = torch.Generator().manual_seed(1)
    return torch.rand((len(widths), 1, backbone.height, max(widths)), generator=generator, dtype=dtype) * 2 - 1


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-4), (torch.float64, 1e-9)], ids=str)
def test_padding_changes_nothing(backbone, dtype, tolerance):
    backbone = backbone.to(dtype)
    images = lines(backbone, WIDTHS, dtype)
    with torch.inference_mode():
        together = backbone(images, torch.tensor(WIDTHS))
        for row, width in enumerate(WIDTHS):
            alone = backbone(images[row : row + 1, ..., :width], torch.tensor([width]))
            count = int(alone.counts)
            assert count == together.counts[row] == alone.tokens.shape[1]
            assert alone.tokens.abs().max() > 1e-3
            assert torch.allclose(together.tokens[row, :count], alone.tokens[0], rtol=0, atol=tolerance)
            assert not together.tokens[row, count:].any()


def test_folded_norms_change_nothing(backbone):
    backbone = backbone.double()
    images = lines(backbone, WIDTHS, torch.float64)
    with torch.inference_mode():
        alone = [(images[row : row + 1, ..., :width], torch.tensor([width])) for row, width in enumerate(WIDTHS)]
        tasks = [(images, torch.tensor(WIDTHS)), *alone]
        expected = [backbone(*task).tokens for task in tasks]
        fold_norms(backbone)
        assert not any(isinstance(module, nn.BatchNorm2d) for module in backbone.modules())
        for task, tokens in zip(tasks, expected, strict=True):
            torch.testing.assert_close(backbone(*task).tokens, tokens)


def test_what_lies_right_of_a_line_gets_no_gradient(backbone):
    images = lines(backbone, WIDTHS).requires_grad_()
    backbone(images, torch.tensor(WIDTHS)).tokens.square().sum().backward()
    for row, width in enumerate(WIDTHS):
        assert images.grad[row, ..., :width].any()
        assert not images.grad[row, ..., width:].any()


@pytest.mark.parametrize("width", [1, 7, 17])
def test_a_narrow_line_has_at_least_one_token(backbone, width):
    features = backbone(lines(backbone, (width,)), torch.tensor([width]))
    assert features.tokens.shape == (1, int(features.counts), backbone.width)
    assert features.counts >= 1


def test_memory_layout_changes_nothing(backbone):
    images, widths = lines(backbone, WIDTHS), torch.tensor(WIDTHS)
    with torch.inference_mode():
        expected = backbone(images, widths).tokens
        actual = backbone.to(memory_format=torch.channels_last)(images, widths).tokens
    assert torch.allclose(actual, expected, atol=1e-4)


def test_bfloat16_is_close(backbone):
    """On narrow lines: many a processor takes long for these numbers."""
    images, widths = lines(backbone, (30, 17)), torch.tensor((30, 17))
    with torch.inference_mode():
        expected = backbone(images, widths).tokens
        with torch.autocast("cpu", torch.bfloat16):
            actual = backbone(images, widths).tokens
    assert (actual - expected).norm() < 0.15 * expected.norm()


@pytest.mark.parametrize("shape", [(1, 1, 40, 100), (1, 3, 48, 100)], ids=str)
def test_other_images_are_refused(backbone, shape):
    with pytest.raises(DataError, match="takes 1 and"):
        backbone(torch.zeros(shape), torch.tensor([100]))
