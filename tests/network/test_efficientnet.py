from pathlib import Path

import pytest
import torch

from drethtr.base.errors import ConfigError, DataError
from drethtr.network.backbones import BACKBONES
from drethtr.recognition.model.backbones import EfficientNetV2S

NAMES = Path(__file__).parent / "fixtures" / "efficientnet_v2_s.tsv"


def test_parameters_are_named_and_shaped_as_in_the_published_weights():
    backbone = BACKBONES.build(EfficientNetV2S(dropout=0.3))
    ours = {name: "x".join(map(str, tensor.shape)) or "scalar" for name, tensor in backbone.state_dict().items()}
    assert ours == dict(line.split("\t") for line in NAMES.read_text().splitlines())
    assert sum(parameter.numel() for parameter in backbone.parameters()) == 20_177_056


def test_dropout_follows_every_silu():
    backbone = BACKBONES.build(EfficientNetV2S(dropout=0.3))
    dropouts = [module for module in backbone.modules() if isinstance(module, torch.nn.Dropout)]
    assert len(dropouts) == 102 and all(module.p == 0.3 for module in dropouts)
    assert not [m for m in BACKBONES.build(EfficientNetV2S()).modules() if isinstance(m, torch.nn.Dropout)]


def test_stochastic_depth_grows_from_block_to_block():
    drops = [module.drop for module in BACKBONES.build(EfficientNetV2S()).modules() if hasattr(module, "drop")]
    assert drops == pytest.approx([0.2 * block / 40 for block in range(40)])


@pytest.mark.parametrize(("columns", "tokens"), [(512, 32), (1000, 63), (1024, 64)])
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
