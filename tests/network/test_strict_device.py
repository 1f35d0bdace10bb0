"""No operation mixes devices, and no step that is captured waits for the host: a GPU would refuse both.

Without one, a device of our own does.
"""

from copy import deepcopy

import pytest
import torch
from conftest import TINY
from noise import VOCABULARY, find, noise_lines, noisy_weights
from searches import NETWORKS, agree
from torch.testing import assert_close

from drethtr.network.backend import TorchNetwork
from drethtr.network.network import DRetHTR
from drethtr.network.rescorer import RescorerNetwork
from drethtr.network.resident import ResidentSearch
from drethtr.recognition.decoding.scorer import LanguageScorer, NetworkScorer
from drethtr.recognition.decoding.strategies import CTC, Beam, Greedy, Joint, VerifiedDrafts
from drethtr.recognition.model.architecture import RescorerConfig
from drethtr.recognition.protocol import Precision, TextTree
from drethtr.training.feed.batch import Batch
from drethtr.training.objective import BatchCounts, LossConfig, Objective

strict = pytest.importorskip(
    "strict_device", reason="this version of torch has no devices written in Python", exc_type=ImportError
)


@pytest.fixture
def device(monkeypatch):
    """The device, on which the steps of searches are captured."""
    step = ResidentSearch.step

    def captured(search):
        with strict.capture():
            step(search)

    monkeypatch.setattr(ResidentSearch, "step", captured)
    with strict.strict_device() as device:
        yield device


def there(network, device, precision=Precision.FLOAT32):
    """The backend of a copy of a network on the device."""
    return TorchNetwork(deepcopy(network).to(device), precision, as_on_gpu=True)


def test_what_a_gpu_refuses_is_refused(device):
    x = torch.ones(2, device=device)
    for refused in (lambda: x + torch.ones(2), lambda: torch.cat([x, torch.ones(1)])):
        with pytest.raises(strict.Refused, match="two devices"):
            refused()
    with strict.capture():
        for refused in (x.tolist, lambda: bool(x[0]), x.cpu, lambda: torch.tensor([1.0], device=device)):
            with pytest.raises(strict.Refused, match="waits for the host"):
                refused()
    assert (2 * x)[torch.tensor([1])].tolist() == [2]


def test_encoding_waits_for_nothing(device):
    images, widths = torch.rand(3, 1, 48, 128) * 2 - 1, torch.tensor([128, 90, 1])
    network = noisy_weights()
    expected = network.encode_image(images, widths)
    network, images = deepcopy(network).to(device), images.to(device)
    with strict.capture(copies=True), torch.inference_mode():
        found = network.encode_image(images, widths)
    assert_close(found.ctc.refined.cpu(), expected.ctc.refined)


@pytest.mark.parametrize("changes", NETWORKS.values(), ids=NETWORKS)
@pytest.mark.parametrize("beams", [1, 4])
def test_searches_stay_there(changes, beams, device):
    network = noisy_weights(**changes)
    expected = NetworkScorer(TorchNetwork(network), noise_lines(TorchNetwork(network), 5)).search(beams)
    made = there(network, device)
    agree(NetworkScorer(made, noise_lines(made, 5)).search(beams), expected)
    assert made.searches.kept


@pytest.mark.parametrize("strategy", [CTC(), Greedy(), VerifiedDrafts(), Beam(4), Joint()], ids=repr)
def test_every_strategy_finds_there_what_it_finds_here(strategy, device):
    network = noisy_weights()
    here = find(strategy, TorchNetwork(network), noise_lines(TorchNetwork(network), 5), 2)
    made = there(network, device)
    found = find(strategy, made, noise_lines(made, 5), 2)
    assert [line.tokens for line in found] == [line.tokens for line in here]


def test_bfloat16_and_a_rescorer_there(device):
    network = noisy_weights()
    made = there(network, device, Precision.BFLOAT16)
    assert all(line.tokens for line in find(Joint(), made, noise_lines(made, 3)))
    rescorer = RescorerNetwork(RescorerConfig(layers=1, width=16, heads=2, hidden=16), VOCABULARY).eval()
    trees = [TextTree.of([(5, 6, 7), (5, 8)]), TextTree.of([(9,)])]
    expected = LanguageScorer(TorchNetwork(network, rescorer=rescorer)).score_trees(trees)
    made = TorchNetwork(network, rescorer=deepcopy(rescorer).to(device), as_on_gpu=True)
    made.device = device
    for found, of_tree in zip(LanguageScorer(made).score_trees(trees), expected, strict=True):
        assert found == pytest.approx(of_tree, rel=1e-5, abs=1e-5)


def test_gradients_there_are_those_here(device):
    torch.manual_seed(0)
    images, widths = torch.rand(2, 1, 48, 128) * 2 - 1, torch.tensor([128, 90])
    batch = Batch(images, widths, torch.tensor([[4, 5, 6], [7, 8, 1]]), torch.tensor([3, 2]), ("", ""))
    counts = BatchCounts(lines=2, characters=5, tokens=7)
    objective = Objective(DRetHTR(TINY, VOCABULARY).eval(), LossConfig())
    moved = deepcopy(objective).to(device)
    objective(batch, counts).total.backward()
    moved(Batch(*(part.to(device) for part in batch[:4]), *batch[4:]), counts).total.backward()
    for (name, weight), (_, other) in zip(objective.named_parameters(), moved.named_parameters(), strict=True):
        if weight.grad is not None:
            assert_close(other.grad.cpu(), weight.grad, msg=lambda text, name=name: f"{name}: {text}")
