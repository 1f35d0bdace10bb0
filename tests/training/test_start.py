"""The weights a run starts from."""

from dataclasses import replace

import torch
from conftest import TINY

from drethtr.model.backbones import ResNet50
from drethtr.model.network import DRetHTR
from drethtr.text.tokenizer import Characters
from drethtr.training.start import FromImageNet


def test_imagenet_weights_are_kept(tmp_path):
    """The published code loads them and draws them anew; here a start comes last."""
    torch.manual_seed(0)
    config = replace(TINY, backbone=ResNet50())
    theirs = config.backbone.build().state_dict() | {"fc.weight": torch.zeros(3, 4), "fc.bias": torch.zeros(3)}
    torch.save(theirs, tmp_path / "resnet.pth")
    network = DRetHTR(config, 12)
    decoder = {name: weight.clone() for name, weight in network.state_dict().items() if "backbone" not in name}
    FromImageNet(str(tmp_path / "resnet.pth")).apply(network, Characters("abc"))
    for name, weight in network.state_dict().items():
        expected = decoder[name] if name in decoder else theirs[name.removeprefix("backbone.")]
        assert torch.equal(weight, expected), name
