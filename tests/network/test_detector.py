"""The line detector, in torch: equal to the published graph, and to what onnxruntime computes."""

import numpy as np
import onnxruntime
import pytest
import torch

from drethtr.layout.network import MAPS, MEANS, SPREADS, LineModel, detector_graph, look_at
from drethtr.network.detector import Detector
from drethtr.network.pretrained import DETECTOR, detector_weights, network_in_rapidocr


def picture(height=96, width=160):
    """Smooth tones and lines of dashes."""
    y, x = np.mgrid[:height, :width]
    page = 200 + 30 * np.sin(x / 40)
    page[(y % 24 < 6) & (x % 9 < 5) & (x > 20) & (x < width - 30)] = 40
    return page.astype(np.uint8)


def in_torch(network, page):
    with torch.no_grad():
        cores, maps = network.eval()(torch.from_numpy(page)[None, None].float() / 255)
    return cores.sigmoid()[0, 0].numpy(), maps.sigmoid()[0].numpy()


def test_the_torch_network_equals_the_published_graph():
    pytest.importorskip("onnx")
    pytest.importorskip("rapidocr")
    network = Detector()
    network.load_state_dict(detector_weights(), strict=False)
    page = picture()
    published = onnxruntime.InferenceSession(str(network_in_rapidocr(DETECTOR)[0]))
    image = ((page.astype(np.float32) / 255 - MEANS) / SPREADS)[None]
    [[[expected]]] = published.run(None, {published.get_inputs()[0].name: image})
    assert expected.max() > 0.5, "it sees nothing, so that the comparison would mean nothing"
    assert np.abs(in_torch(network, page)[0] - expected).max() < 1e-5


def test_onnxruntime_computes_the_same_maps():
    torch.manual_seed(0)
    network = Detector()
    torch.nn.init.normal_(network.maps.leave.weight)
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    page = picture()
    cores, maps = in_torch(network, page)
    found = look_at(page, LineModel(weights).session(1))
    assert np.abs(found.cores - cores).max() < 1e-4
    beside = np.concatenate((found.text[None], found.roles))
    assert beside.shape == maps.shape == (len(MAPS), 24, 40)
    assert np.ptp(maps) > 0.3 and np.abs(beside - maps).max() < 1e-4


def test_without_the_second_head_there_are_only_cores():
    weights = {name: t.numpy() for name, t in Detector().state_dict().items() if not name.startswith("maps.")}
    model = LineModel(weights)
    assert not model.has_maps and len(detector_graph(weights, maps=False).outputs) == 1
    found = look_at(picture(), model.session(1))
    assert found.cores.shape == (96, 160) and found[1:] == (None, None)


def test_a_page_of_any_size_gets_maps_of_its_size():
    model = LineModel({name: tensor.numpy() for name, tensor in Detector().state_dict().items()})
    found = look_at(picture(50, 71), model.session(1))
    assert found.cores.shape == (50, 71) and found.text.shape == (13, 18) and found.roles.shape == (6, 13, 18)
