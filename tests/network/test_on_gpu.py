"""What the tests of searches on the device cannot see without one: compiled kernels, captured steps, and threads."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import TINY
from noise import VOCABULARY, noise_lines, noisy_weights
from searches import NETWORKS, agree, both_ways, drawn
from torch.testing import assert_close

from drethtr.network import resident
from drethtr.network.ancestry import FORMULAS, AncestralCache, Ancestry
from drethtr.network.attention import KeyValue
from drethtr.network.backend import TorchNetwork, open_network
from drethtr.network.capture import STREAMS, captured
from drethtr.network.fused import FUSED, kernels_for
from drethtr.network.network import DRetHTR
from drethtr.network.resident import ResidentSearch
from drethtr.paper.speed.decoding import Task, build
from drethtr.recognition.decoding.scorer import NetworkScorer
from drethtr.recognition.model.architecture import Learned, Light, Retentive
from drethtr.recognition.protocol import Precision

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU with CUDA")
CUDA = torch.device("cuda")


def moved(cache, dtype):
    """A cache on the GPU, with keys and values of a type."""
    written = KeyValue(*(part.to(CUDA, dtype) for part in cache.written))
    return AncestralCache(written, cache.fade.to(CUDA), Ancestry(*(part.to(CUDA) for part in cache.ancestry)), FUSED)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("tokens", [1, 15, 16, 17, 35])
def test_the_compiled_kernels_compute_the_formulas(tokens, dtype):
    parents = torch.randint(6, (40, 6), generator=torch.Generator().manual_seed(1))
    cache, q = drawn(tokens, parents, normalize=True)
    there, q = moved(cache, dtype), q.to(CUDA, dtype)
    exact = moved(cache, dtype)
    exact = exact._replace(written=KeyValue(*(part.float() for part in exact.written)))
    assert kernels_for(there.written) is FUSED
    rounding = {} if dtype is torch.float32 else {"rtol": 2e-2, "atol": 2e-2}
    for normalize in (True, False):
        expected = FORMULAS.recall(q.float(), exact, normalize)
        assert_close(FUSED.recall(q, there, normalize), expected, **rounding)
    for found, expected in zip(FUSED.attend(q, there), FORMULAS.attend(q.float(), exact), strict=True):
        assert_close(found, expected, **rounding)


@pytest.mark.parametrize("changes", NETWORKS.values(), ids=NETWORKS)
@pytest.mark.parametrize("beams", [1, 4])
def test_captured_steps_find_what_a_search_step_by_step_finds(changes, beams):
    network = noisy_weights(**changes).to(CUDA)
    memory = noise_lines(TorchNetwork(network), 9)
    agree(*both_ways(network, memory, beams, nbest=beams))


@pytest.mark.parametrize("changes", NETWORKS.values(), ids=NETWORKS)
@torch.inference_mode()
def test_captured_steps_compute_in_bfloat16(changes):
    torch.manual_seed(0)
    wide = DRetHTR(replace(TINY, layers=1, width=1024, hidden=1024, **changes), VOCABULARY).eval().to(CUDA)
    ways = [TorchNetwork(wide, Precision.BFLOAT16, as_on_gpu=stays) for stays in (True, False)]
    memory = noise_lines(ways[0], 2)
    assert memory.kept.layers[0].keys.dtype == torch.bfloat16
    found, expected = (NetworkScorer(way, memory).search(2, nbest=2) for way in ways)
    for text, other in zip(found, expected, strict=True):
        assert text[0].log_probability == pytest.approx(other[0].log_probability, rel=0.02)


def test_a_text_longer_than_its_room_goes_on_in_another_graph(monkeypatch):
    monkeypatch.setattr(resident, "ROOM", 4)
    plain = replace(TINY, ctc=None, backbone=Light(height=48), positions=Learned())
    task = Task(name="tiny", config=plain, batch=3, beams=3, characters=30, device=CUDA)
    network = build(task, Retentive())
    found, expected = both_ways(network, noise_lines(TorchNetwork(network), 3), 3)
    agree(found, expected)
    assert len(found[0][0].tokens) == 30


def test_batches_of_other_sizes_are_searched_by_the_same_graph():
    network = noisy_weights().to(CUDA)
    stays, steps = (TorchNetwork(network, as_on_gpu=stays) for stays in (True, False))
    for lines, seed in ((7, 1), (2, 2), (5, 3)):
        memory = noise_lines(steps, lines, seed)
        agree(NetworkScorer(stays, memory).search(3), NetworkScorer(steps, memory).search(3))
    assert len(stays.searches.kept) == 1


def test_lines_that_were_read_before_capture_nothing(monkeypatch):
    made = []

    class Counted(ResidentSearch):
        def __init__(self, *given):
            made.append(given)
            super().__init__(*given)

    monkeypatch.setattr(resident, "ResidentSearch", Counted)
    network = TorchNetwork(noisy_weights().to(CUDA))
    memories = [noise_lines(network, lines, lines) for lines in (1, 3, 9, 20, 40, 64)]
    found = [[NetworkScorer(network, memory).search(2) for memory in memories] for _ in range(2)]
    assert len(made) == len(network.searches.kept)
    for first, again in zip(*found, strict=True):
        agree(first, again)


def test_threads_and_networks_search_at_once():
    """One captures while others encode, replay or wait for their turn to capture."""
    networks = [TorchNetwork(noisy_weights().to(CUDA)) for _ in range(2)]
    expected = [NetworkScorer(networks[0], noise_lines(networks[0], lines, lines)).search(2) for lines in range(1, 17)]

    def search(number):
        network, lines = networks[number % 2], 1 + number // 2
        return NetworkScorer(network, noise_lines(network, lines, lines)).search(2)

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(search, range(32)))
    for number, texts in enumerate(found):
        agree(texts, expected[number // 2])


def test_a_capture_without_memory_says_so_and_the_next_one_works():
    def too_large():
        torch.zeros(1, device=CUDA)  # torch warns of empty graphs
        if torch.cuda.is_current_stream_capturing():
            torch.empty(1 << 50, dtype=torch.uint8, device=CUDA)

    with pytest.raises(torch.cuda.OutOfMemoryError):
        captured(too_large)
    counted = torch.zeros((), device=CUDA)
    replay = captured(lambda: counted.add_(1))
    before = float(counted)
    replay()
    assert float(counted) == before + 1


def test_more_searches_than_streams_are_kept_apart():
    counted = torch.zeros((), device=CUDA)
    steps = [captured(lambda: counted.add_(1)) for _ in range(STREAMS + 8)]
    del steps[::3]
    steps += [captured(lambda: counted.add_(1)) for _ in range(8)]
    before = float(counted)
    for step in steps:
        step()
    assert float(counted) == before + len(steps)


def test_float32_is_float32(tiny_model):
    """Confidences are calibrated with it; TF32 has ten bits instead of 23."""
    line = np.random.default_rng(0).uniform(-1, 1, (48, 300)).astype(np.float32)
    here, there = (open_network(tiny_model, device, Precision.FLOAT32, 1).encode([line]) for device in ("cpu", "cuda"))
    assert not torch.backends.cudnn.allow_tf32
    np.testing.assert_allclose(there.ctc[0], here.ctc[0], rtol=1e-4, atol=1e-4)
