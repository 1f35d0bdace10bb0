"""What every backbone promises, whatever its layers."""

from copy import deepcopy
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from drethtr.base.errors import ConfigError, DataError
from drethtr.network.backbones import BACKBONES
from drethtr.network.backbones.ppocr import LargerNeighbor, strongest_of_four
from drethtr.network.precision import fold_norms
from drethtr.paper.network.backbones import Bottleneck
from drethtr.paper.variants import Patches, ResNet50, ShallowCNN
from drethtr.recognition.model.architecture import PPOCR, EfficientNetV2S, Light

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
WIDTHS = (5, 66, 64)


@pytest.fixture(scope="module", params=KINDS, ids=repr)
def built(request):
    torch.manual_seed(0)
    return settle(BACKBONES.build(request.param)).eval()


@pytest.fixture
def backbone(built):
    """One that may be changed."""
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


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 5e-4), (torch.float64, 1e-9)], ids=str)
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
    images, widths = lines(backbone, WIDTHS), torch.tensor(WIDTHS)
    with torch.inference_mode():
        expected = backbone(images, widths).tokens
        fold_norms(backbone)
        assert not any(isinstance(module, nn.BatchNorm2d) for module in backbone.modules())
        torch.testing.assert_close(backbone(images, widths).tokens, expected, rtol=1e-3, atol=1e-3)


def test_what_lies_right_of_a_line_gets_no_gradient(backbone):
    images = lines(backbone, WIDTHS).requires_grad_()
    backbone(images, torch.tensor(WIDTHS)).tokens.square().sum().backward()
    for row, width in enumerate(WIDTHS):
        assert images.grad[row, ..., :width].any()
        assert not images.grad[row, ..., width:].any()


@pytest.mark.parametrize("width", [1, 7, 17])
def test_a_narrow_line_has_at_least_one_token(built, width):
    with torch.inference_mode():
        features = built(lines(built, (width,)), torch.tensor([width]))
    assert features.tokens.shape == (1, int(features.counts), built.width)
    assert features.counts >= 1


def test_memory_layout_changes_nothing(backbone):
    images, widths = lines(backbone, WIDTHS), torch.tensor(WIDTHS)
    with torch.inference_mode():
        expected = backbone(images, widths).tokens
        actual = backbone.to(memory_format=torch.channels_last)(images, widths).tokens
    assert torch.allclose(actual, expected, atol=5e-4)


LOST = {EfficientNetV2S: 0.15, ResNet50: 0.08, Light: 0.025, PPOCR: 0.015}
"""What bfloat16 may change of the features of deep networks; of others a hundredth."""


def test_bfloat16_is_close(built, request):
    """On narrow lines: many a processor takes long for these numbers."""
    images, widths = lines(built, (30, 17)), torch.tensor((30, 17))
    with torch.inference_mode():
        expected = built(images, widths).tokens
        with torch.autocast("cpu", torch.bfloat16):
            actual = built(images, widths).tokens
    lost = LOST.get(type(request.node.callspec.params["built"]), 0.01)
    assert (actual - expected).norm() < lost * expected.norm()


@pytest.mark.parametrize("shape", [(1, 1, 40, 100), (1, 3, 48, 100)], ids=str)
def test_other_images_are_refused(built, shape):
    with pytest.raises(DataError, match=r"takes 1 and \d+: .*preparation\.height"):
        built(torch.zeros(shape), torch.tensor([100]))


NAMES = Path(__file__).parent / "fixtures" / "efficientnet_v2_s.tsv"


def test_parameters_are_named_and_shaped_as_in_the_published_weights():
    backbone = BACKBONES.build(EfficientNetV2S(dropout=0.3))
    ours = {name: "x".join(map(str, tensor.shape)) or "scalar" for name, tensor in backbone.state_dict().items()}
    assert ours == dict(f"features.{line}".split("\t") for line in NAMES.read_text().splitlines())
    assert sum(parameter.numel() for parameter in backbone.parameters()) == 20_177_056


def test_dropout_follows_every_silu():
    backbone = BACKBONES.build(EfficientNetV2S(dropout=0.3))
    dropouts = [module for module in backbone.modules() if isinstance(module, torch.nn.Dropout)]
    assert len(dropouts) == 102 and all(module.p == 0.3 for module in dropouts)
    assert not [m for m in BACKBONES.build(EfficientNetV2S()).modules() if isinstance(m, torch.nn.Dropout)]


def test_stochastic_depth_grows_from_block_to_block():
    drops = [module.drop for module in BACKBONES.build(EfficientNetV2S()).modules() if hasattr(module, "drop")]
    assert drops == pytest.approx([0.2 * block / 40 for block in range(40)])


@pytest.mark.parametrize(("columns", "tokens"), [(64, 4), (72, 5), (128, 8)])
def test_a_token_for_every_16_columns_begun(columns, tokens):
    backbone = BACKBONES.build(EfficientNetV2S()).eval()
    with torch.inference_mode():
        features = backbone(torch.zeros(1, 1, 64, columns), torch.tensor([columns]))
    assert features.tokens.shape == (1, tokens, 2560)


def test_a_token_is_both_rows_of_its_column():
    backbone = BACKBONES.build(EfficientNetV2S()).eval()
    image = torch.rand(1, 1, 64, 32) * 2 - 1
    maps = []
    backbone.features.register_forward_hook(lambda module, inputs, output: maps.append(output.pixels))
    with torch.inference_mode():
        tokens = backbone(image, torch.tensor([32])).tokens
    assert torch.equal(tokens[0, 1, 2 * 7 + 1], maps[0][0, 7, 1, 1])


def test_a_canvas_is_all_line():
    """Every line gets the tokens of the same line filled up with paper by hand."""
    torch.manual_seed(0)
    backbone = BACKBONES.build(EfficientNetV2S(canvas=130)).eval()
    free = BACKBONES.build(EfficientNetV2S()).eval()
    free.load_state_dict(backbone.state_dict())
    images = torch.rand(2, 1, 64, 90) * 2 - 1
    filled = torch.full((2, 1, 64, 130), -1.0)
    filled[0, ..., :90], filled[1, ..., :70] = images[0], images[1, ..., :70]
    with torch.inference_mode():
        on_canvas = backbone(images, torch.tensor([90, 70]))
        expected = free(filled, torch.tensor([130, 130]))
    assert on_canvas.counts.tolist() == [9, 9]
    assert torch.allclose(on_canvas.tokens, expected.tokens, rtol=1e-4, atol=0)


def test_a_line_wider_than_the_canvas_is_refused():
    backbone = BACKBONES.build(EfficientNetV2S(canvas=64)).eval()
    with torch.inference_mode():
        assert backbone(torch.zeros(1, 1, 64, 80), torch.tensor([64])).counts.tolist() == [4]
        with pytest.raises(DataError, match="a line of 65 columns is wider than this backbone's canvas of 64"):
            backbone(torch.zeros(1, 1, 64, 80), torch.tensor([65]))


@pytest.mark.parametrize("wrong", [{"dropout": 1.0}, {"stochastic_depth": -0.1}, {"canvas": 0}], ids=str)
def test_settings_out_of_range_are_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        EfficientNetV2S(**wrong)


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
