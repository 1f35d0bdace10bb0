"""Every system of the paper can be trained, saved, loaded and read with."""

from dataclasses import replace

import pytest
import torch
from conftest import written

from drethtr.images.prepare import Preparation
from drethtr.network.backend import with_network
from drethtr.network.network import DRetHTR
from drethtr.paper.published_decoding import PublishedBeam
from drethtr.paper.variants import (
    EncoderDecoder,
    Fade,
    Gated,
    HeadNorm,
    JointSoftmax,
    Patches,
    ShallowCNN,
    SplitSoftmax,
    SwishGate,
)
from drethtr.recognition.decoding.strategies import Beam, Greedy
from drethtr.recognition.model.architecture import Learned, Multiplied, NetworkConfig, NoPrior, Retentive, Sinusoidal
from drethtr.recognition.model.decay import Scheduled
from drethtr.recognition.model.file import Model, load_model, save_model
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.tokenizer import Characters
from drethtr.training.feed.batch import collate
from drethtr.training.objective import BatchCounts, LossConfig, Objective
from drethtr.training.optimize import OptimizerConfig, make_optimizer

TINY = NetworkConfig(
    layers=2,
    width=32,
    heads=2,
    hidden=48,
    dropout=0.0,
    weight_dropout=0.0,
    embedding_dropout=0.0,
    backbone=Patches(rows=64, columns=8, width=32),
    positions=Sinusoidal(),
    prior=NoPrior(),
)
CROSS = EncoderDecoder(layers=1, hidden=24)
SYSTEMS = {
    "DRetHTR": TINY,
    "DTrHTR": replace(TINY, mixer=JointSoftmax()),
    "RetHTR": replace(TINY, architecture=CROSS, output=SwishGate()),
    "TrHTR": replace(TINY, architecture=CROSS, mixer=JointSoftmax()),
    "gated": replace(TINY, mixer=Retentive(Gated()), prior=Multiplied(Scheduled("original"))),
    "split softmax, fading": replace(TINY, mixer=SplitSoftmax(Fade()), output=HeadNorm(on_image=False)),
    "ShallowCNN": replace(TINY, backbone=ShallowCNN(), positions=Learned(276)),
    "without text positions": replace(TINY, text_positions=False),
}
TEXTS = ("abc", "a bcd e")


@pytest.mark.parametrize("config", SYSTEMS.values(), ids=SYSTEMS.keys())
def test_a_system_learns_two_lines_is_saved_and_reads(config, tmp_path):
    torch.manual_seed(0)
    model = Model(config, {}, Characters.learn(TEXTS), Preparation())
    network = DRetHTR(config, model.tokenizer.size)
    lines = [written(text) for text in TEXTS]
    batch = collate([model.preparation(line) for line in lines], TEXTS, model.tokenizer)
    objective = Objective(network.train(), LossConfig(label_smoothing=0.0))
    counts = BatchCounts(lines=len(TEXTS), characters=sum(map(len, TEXTS)), tokens=sum(map(len, TEXTS)) + len(TEXTS))
    optimizer = make_optimizer(network, OptimizerConfig(learning_rate=0.01, backbone_scale=1.0))
    for _ in range(120):
        loss = objective(batch, counts).total
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
    save_model(with_network(model, network), tmp_path / "model.safetensors")
    model = load_model(tmp_path / "model.safetensors")
    assert model.network == config
    for strategy in (Greedy(), Beam(3), PublishedBeam(3, limit=12)):
        assert [reading.text for reading in Recognizer(model, strategy).read(lines)] == list(TEXTS)
