import importlib.util
import sys
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
import torch

from drethtr.base.errors import CheckpointError, MissingExtraError
from drethtr.network.backbones import BACKBONES
from drethtr.network.pretrained import MODEL, backbone_weights, fold_norm, network_in_rapidocr, ppocr_weights
from drethtr.recognition.model.architecture import PPOCR

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
    monkeypatch.setattr("drethtr.network.pretrained.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"drethtr\[pretrained\]"):
        ppocr_weights()


def test_rapidocr_without_its_network(tmp_path, monkeypatch):
    (tmp_path / "rapidocr").mkdir()
    (tmp_path / "rapidocr" / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "rapidocr", raising=False)
    with pytest.raises(CheckpointError, match=r"PP-OCRv6_rec_small\.onnx does not exist; run: pip install rapidocr=="):
        ppocr_weights()
