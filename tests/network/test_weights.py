import importlib.util
import sys
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import TINY

from drethtr.base.errors import CheckpointError, MissingExtraError
from drethtr.network.backbones import BACKBONES
from drethtr.network.network import DRetHTR
from drethtr.network.weights import (
    MODEL,
    backbone_weights,
    fold_norm,
    network_in_rapidocr,
    ppocr_weights,
    with_vocabulary,
)
from drethtr.recognition.model.architecture import PPOCR, CTCConfig

OLD, NEW = 12, 10
ROWS = torch.tensor([0, 1, 2, 3, 5, 7, 11, 5, 6, 8])
"""For each new token the old one that it is."""


def network(vocabulary, config=TINY):
    torch.manual_seed(0)
    network = DRetHTR(config, vocabulary).eval()
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    return network


def both(config=TINY):
    old, new = network(OLD, config), network(NEW, config)
    new.load_state_dict(with_vocabulary(old.state_dict(), torch.eye(OLD)[ROWS]))
    return old, new


@torch.inference_mode()
def test_tokens_that_stay_are_written_as_before():
    config = replace(TINY, ctc=CTCConfig(steps=2, inform_decoder=False))
    old, new = both(config)
    images, widths = torch.rand(1, 1, 48, 160), torch.tensor([160])
    before, ctc_before = old(images, widths, ROWS[None, 4:7])
    after, ctc_after = new(images, widths, torch.tensor([[4, 5, 6]]))
    torch.testing.assert_close(after, before[..., ROWS])
    assert ctc_before is not None and ctc_after is not None
    torch.testing.assert_close(ctc_after.draft, ctc_before.draft[..., ROWS])
    torch.testing.assert_close(ctc_after.refined, ctc_before.refined[..., ROWS])


def test_the_draft_tells_the_decoder_the_same():
    old, new = both()
    assert old.ctc is not None and old.ctc.inform is not None and new.ctc is not None and new.ctc.inform is not None
    torch.testing.assert_close(new.ctc.inform.weight, old.ctc.inform.weight[:, ROWS])


def test_a_new_token_may_begin_as_a_blend():
    old = network(OLD)
    shares = torch.eye(OLD)[ROWS]
    shares[9] = 0
    shares[9, [4, 6]] = 0.5
    weight = old.state_dict()["embed.tokens.weight"]
    blended = with_vocabulary(old.state_dict(), shares)["embed.tokens.weight"][9]
    torch.testing.assert_close(blended, (weight[4] + weight[6]) / 2)


def test_what_is_not_told_of_tokens_stays():
    old, new = both()
    for name, weight in old.state_dict().items():
        if OLD not in weight.shape and 2 * OLD not in weight.shape:
            assert new.state_dict()[name].equal(weight), name


pytest.importorskip("onnx")
if importlib.util.find_spec("rapidocr") is None:
    pytest.skip("rapidocr is not installed", allow_module_level=True)


@pytest.fixture(scope="module")
def pretrained():
    return ppocr_weights()


@pytest.fixture(scope="module")
def untrained(pretrained):
    untrained = BACKBONES.build(PPOCR()).eval()
    untrained.load_state_dict(pretrained.backbone)
    return untrained


@pytest.fixture(scope="module")
def original():
    """The published graph, its output before the softmax."""
    onnxruntime = pytest.importorskip("onnxruntime")
    _, model = network_in_rapidocr(MODEL)
    [softmax] = [node for node in model.graph.node if node.output[0] == model.graph.output[0].name]
    model.graph.output[0].name = softmax.input[0]
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-5), (torch.float32, 4e-5)], ids=str)
@pytest.mark.parametrize("width", [8, 48, 320, 333, 901])
def test_logits_are_those_of_the_published_graph(pretrained, untrained, original, width, dtype, tolerance):
    """In float32, both round."""
    image = np.random.default_rng(width).uniform(-1, 1, (1, 1, 48, width)).astype(np.float32)
    [expected] = original.run(None, {original.get_inputs()[0].name: np.repeat(-image, 3, axis=1)})
    with torch.inference_mode():
        features = deepcopy(untrained).to(dtype)(torch.from_numpy(image).to(dtype), torch.tensor([width]))
        neck = features.tokens[..., -untrained.draft_width :]
        head = pretrained.head_weight.to(dtype), pretrained.head_bias.to(dtype)
        logits = torch.nn.functional.linear(neck, *head).float()
    assert features.counts.tolist() == [expected.shape[1]]
    assert logits.shape == expected.shape
    assert np.abs(logits.numpy() - expected).max() < tolerance * np.abs(expected).max()
    assert torch.allclose(logits.softmax(-1), torch.from_numpy(expected).softmax(-1), atol=1e-4)


def test_every_class_has_a_character(pretrained):
    characters = pretrained.characters
    assert len(characters) == len(pretrained.head_weight) == len(pretrained.head_bias) == 18710
    assert characters[0] == "" and characters[-1] == " "
    assert len(set(characters)) == len(characters) and all(len(character) == 1 for character in characters[1:])


def test_another_graph_is_refused(pretrained):
    arrays = list(pretrained.backbone.values())
    with pytest.raises(CheckpointError, match=r"elsewhere\.onnx: its layers are not those of PP-OCRv6 small"):
        backbone_weights(arrays[:-1], Path("elsewhere.onnx"))


def test_a_folded_norm_does_what_the_norm_did():
    torch.manual_seed(0)
    conv, norm = torch.nn.Conv2d(3, 5, 1, bias=False), torch.nn.BatchNorm2d(5, eps=1e-3)
    statistics = (norm.weight, norm.bias, norm.running_mean, norm.running_var)
    for tensor in statistics:
        torch.nn.init.uniform_(tensor, 0.5, 2)
    x = torch.randn(2, 3, 4, 4)
    weight, bias = fold_norm(conv.weight, *statistics, epsilon=norm.eps)
    assert torch.allclose(torch.nn.functional.conv2d(x, weight, bias), norm.eval()(conv(x)), atol=1e-5)


def test_rapidocr_that_is_not_installed(monkeypatch):
    monkeypatch.setattr("drethtr.network.weights.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"drethtr\[pretrained\]"):
        ppocr_weights()


def test_rapidocr_without_its_network(tmp_path, monkeypatch):
    (tmp_path / "rapidocr").mkdir()
    (tmp_path / "rapidocr" / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "rapidocr", raising=False)
    with pytest.raises(CheckpointError, match=r"PP-OCRv6_rec_small\.onnx does not exist; run: pip install rapidocr=="):
        ppocr_weights()
