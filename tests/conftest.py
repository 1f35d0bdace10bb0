"""Small models and lines shared by many tests."""

import os
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import torch
from box_font import make_font  # noqa: F401
from hypothesis import HealthCheck, settings
from PIL import Image, ImageDraw

from drethtr.datasets.sample import Sample
from drethtr.images.line import Line
from drethtr.images.prepare import Preparation
from drethtr.language.languages import Languages
from drethtr.language.ngrams import NGrams, log_probabilities
from drethtr.network.backend import with_network
from drethtr.network.network import DRetHTR
from drethtr.recognition.model.architecture import Added, CTCConfig, Light, NetworkConfig, Sinusoidal
from drethtr.recognition.model.file import Model, save_model
from drethtr.text.tokenizer import UNK, Characters, Tokenizer

if "PYTEST_XDIST_WORKER" in os.environ:
    # One processor per worker, including its child processes.
    torch.set_num_threads(1)
    os.environ["OMP_NUM_THREADS"] = "1"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each worker tests that stand side by side, so that what the tests of a file share is made once."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


# A test that hangs fails, with its name, where pytest-timeout is installed; the slowest takes a minute.
os.environ.setdefault("PYTEST_TIMEOUT", "1800")

# A busy machine must not fail tests.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def with_subnormal_numbers():
    """Torch networks turn them off for the process; Hypothesis draws them for other tests."""
    yield
    torch.set_flush_denormal(False)


TINY = NetworkConfig(
    layers=2,
    width=16,
    heads=2,
    hidden=32,
    backbone=Light(height=48),
    positions=Sinusoidal(),
    prior=Added(),
    ctc=CTCConfig(steps=2),
)


def written(text: str, height: int = 40) -> Line:
    """A line of printed text."""
    image = Image.new("L", (20 + 7 * len(text), height), 240)
    ImageDraw.Draw(image).text((8, height // 3), text, fill=20)
    return np.asarray(image)


def log_probability(models: NGrams | Languages, tokens: Sequence[int]) -> float:
    """The log-probability of a whole line by n-grams; in several languages, in its own."""
    every = tuple(models.models.values()) if isinstance(models, Languages) else (models,)
    return float(log_probabilities(every, [tokens]).max())


def fresh_model(network: NetworkConfig, tokenizer: Tokenizer, preparation: Preparation, card: dict) -> Model:
    """A model with fresh weights."""
    return with_network(Model(network, {}, tokenizer, preparation, card), DRetHTR(network, tokenizer.size))


@pytest.fixture(scope="session")
def built_model() -> Model:
    """`varied_model()`, not to be changed: building it takes as long as reading some lines."""
    return varied_model()


@pytest.fixture
def tiny_model(built_model: Model) -> Model:
    """A small model with random weights, whose outputs vary."""
    weights = {name: weight.copy() for name, weight in built_model.weights.items()}
    return replace(built_model, weights=weights, card=dict(built_model.card))


def varied_model() -> Model:
    """A small model with random weights, whose outputs vary."""
    torch.manual_seed(0)
    tokenizer = Characters.learn(["abcdefghij klmnop"])
    network = DRetHTR(TINY, tokenizer.size)
    head = network.ctc
    assert head is not None
    for weight in (head.refine.weight, network.to_logits.weight):
        torch.nn.init.normal_(weight)
    with torch.no_grad():  # never output unknown characters
        head.refine.bias.view(head.steps, -1)[:, UNK] = -1e4
        network.to_logits.weight[UNK] = 0
    return with_network(Model(TINY, {}, tokenizer, Preparation(height=48), {"name": "tiny"}), network)


@pytest.fixture
def headless_model() -> Model:
    """A small model without a CTC head."""
    torch.manual_seed(0)
    tokenizer = Characters.learn(["abcdefghij klmnop"])
    return fresh_model(replace(TINY, ctc=None), tokenizer, Preparation(height=48), {"name": "headless"})


@pytest.fixture(scope="session")
def built_file(built_model: Model, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The same model as the content of a file."""
    path = tmp_path_factory.mktemp("built") / "tiny.safetensors"
    save_model(built_model, path)
    return path.read_bytes()


@pytest.fixture
def tiny_path(built_file: bytes, tmp_path: Path) -> Path:
    """The same model in a file."""
    path = tmp_path / "tiny.safetensors"
    path.write_bytes(built_file)
    return path


@pytest.fixture
def draw():
    """Encode a picture of a text, 16 pixels high."""

    def encode(text, form="PNG", width=None, **options):
        image = Image.new("L", (width or 8 * len(text) + 8, 16), 255)
        ImageDraw.Draw(image).text((4, 2), text, fill=0)
        file = BytesIO()
        image.save(file, form, **options)
        return file.getvalue()

    return encode


@pytest.fixture
def make_samples(draw):
    """Samples of a set, with the texts `a0`, `a1x`, `a2xx`, …"""

    def make(name, count):
        texts = [name + str(number) + "x" * (number % 7) for number in range(count)]
        return tuple(Sample(draw(text), text, set=name, key=text) for text in texts)

    return make
