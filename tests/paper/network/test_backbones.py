"""The paper's other image embedders: as large, and with as many tokens, as it says."""

from dataclasses import replace

import pytest
import torch

from drethtr.base.errors import ConfigError
from drethtr.network.backbones import BACKBONES
from drethtr.network.network import DRetHTR
from drethtr.paper.variants import Patches, ResNet50, ShallowCNN
from drethtr.recognition.model.architecture import BASE


def features(config, columns):
    backbone = BACKBONES.build(config).eval()
    with torch.inference_mode():
        return backbone(torch.rand(1, 1, backbone.height, columns) * 2 - 1, torch.tensor([columns]))


def size(module):
    return sum(parameter.numel() for parameter in module.parameters())


@pytest.mark.parametrize(("rows", "width"), [(2, 4096), (4, 8192)])
def test_resnet_has_a_token_for_every_16_columns(rows, width):
    assert features(ResNet50(rows=rows), 227).tokens.shape == (1, 15, width)


def test_resnet_is_named_and_counted_as_elsewhere():
    """ResNet-50 has 25,557,032 parameters, 2,049,000 of them in its classifier; the stem here lacks two channels."""
    backbone = BACKBONES.build(ResNet50())
    assert size(backbone) == 25_557_032 - 2_049_000 - 2 * 64 * 49
    names = backbone.state_dict().keys()
    assert {"conv1.weight", "bn1.running_var", "layer1.0.downsample.0.weight", "layer4.2.bn3.bias"} <= names
    assert len(names) == 318


@pytest.mark.parametrize(("rows", "width", "published"), [(4, 512, 240_208), (10, 1280, 452_176)])
def test_the_shallow_cnn_has_the_published_size(rows, width, published):
    """With its 276 learned positions, which are the network's here."""
    assert features(ShallowCNN(rows=rows), 2227).tokens.shape == (1, 276, width)
    assert size(BACKBONES.build(ShallowCNN(rows=rows))) + 276 * width == published


def test_the_shallow_cnn_knows_how_many_tokens_it_makes():
    backbone = BACKBONES.build(ShallowCNN())
    with torch.inference_mode():
        for columns in range(24, 56):
            found = backbone(torch.zeros(1, 1, 64, columns), torch.tensor([columns]))
            assert found.counts.tolist() == [found.tokens.shape[1]]


def test_the_first_token_of_the_shallow_cnn_sees_what_the_narrowest_line_has():
    backbone = BACKBONES.build(ShallowCNN()).eval()
    line = torch.rand(1, 1, 64, 40) * 2 - 1
    with torch.inference_mode():
        whole = backbone(line, torch.tensor([40])).tokens
        cut = backbone(line[..., : backbone.narrowest], torch.tensor([backbone.narrowest])).tokens
    assert cut.shape[1] == 1 and torch.allclose(cut[:, 0], whole[:, 0], atol=1e-6)


def test_patches_are_read_top_to_bottom_then_to_the_right():
    """Each token depends on the pixels of its patch alone, and those in reading order of rows."""
    backbone = BACKBONES.build(Patches(rows=32, columns=4, width=6)).eval()
    line = torch.rand(1, 1, 64, 9) * 2 - 1
    with torch.inference_mode():
        found = backbone(line, torch.tensor([9]))
        patch = backbone.embed(line[0, 0, 32:, 4:8].flatten())
        last = torch.full((32, 4), -1.0)
        last[:, :1] = line[0, 0, :32, 8:]
        filled = backbone.embed(last.flatten())
    assert found.counts.tolist() == [6]
    assert torch.allclose(found.tokens[0, 3], patch, atol=1e-6)
    assert torch.allclose(found.tokens[0, 4], filled, atol=1e-6)


def test_what_stands_right_of_a_line_is_not_in_its_last_patch():
    backbone = BACKBONES.build(Patches(rows=32, columns=4, width=6)).eval()
    lines = torch.rand(2, 1, 64, 12) * 2 - 1
    with torch.inference_mode():
        together = backbone(lines, torch.tensor([12, 9])).tokens
        alone = backbone(lines[1:, ..., :9], torch.tensor([9])).tokens
    assert torch.allclose(together[1:], alone, atol=1e-6)


@pytest.mark.parametrize("backbone", [ResNet50(), ShallowCNN(), Patches()], ids=repr)
def test_any_width_of_network_goes_with_any_backbone(backbone):
    with torch.device("meta"):
        assert DRetHTR(replace(BASE, backbone=backbone), 83).to_width.out_features == 768


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        (ResNet50, {"rows": 3}, "rows must be 2 or 4 for ResNet50, not 3"),
        (ResNet50, {"dropout": 1.0}, "dropout must be at least 0 and less than 1, not 1.0"),
        (ShallowCNN, {"rows": 5}, "rows must be 4 or 10 for ShallowCNN, not 5"),
        (ShallowCNN, {"dropout": -0.1}, "dropout must be at least 0 and less than 1, not -0.1"),
        (Patches, {"rows": 24}, "rows must divide the height of 64, not 24"),
        (Patches, {"columns": 6}, "columns must be a multiple of 4, the patches in a column, not 6"),
        (Patches, {"width": 0}, "at least 1"),
    ],
    ids=str,
)
def test_settings_out_of_range_are_refused(kind, settings, message):
    with pytest.raises(ConfigError, match=message):
        kind(**settings)
