"""A search that stays on the device finds what `beam_search` finds; without a GPU, its steps are called one by one."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import TINY
from noise import VOCABULARY, noise_lines, noisy_weights
from searches import NETWORKS, agree, both_ways, drawn

from drethtr.network import fused, resident
from drethtr.network.ancestry import FORMULAS
from drethtr.network.attention import KeyValue
from drethtr.network.backend import BATCH_LINES, GPU_COLUMNS, TorchNetwork
from drethtr.network.network import BatchMemory, DRetHTR
from drethtr.network.resident import ResidentSearch, ResidentSearches, Shape
from drethtr.paper.speed.decoding import PublishedRetentive, Task, build
from drethtr.recognition.batching import group_by_width, padded_width
from drethtr.recognition.decoding.scorer import NetworkScorer
from drethtr.recognition.decoding.stepwise import BeamSearch
from drethtr.recognition.model.architecture import Learned, Light, Retentive
from drethtr.recognition.protocol import Precision
from drethtr.text.tokenizer import BOS, EOS, PAD


@pytest.mark.parametrize("changes", NETWORKS.values(), ids=NETWORKS)
@pytest.mark.parametrize("beams", [1, 4])
def test_it_finds_what_a_search_step_by_step_finds(changes, beams):
    network = noisy_weights(**changes)
    memory = noise_lines(TorchNetwork(network), 9)
    agree(*both_ways(network, memory, beams, nbest=beams))


@pytest.mark.parametrize("exponent", [0.0, 0.7, 2.0])
def test_texts_are_ranked_and_given_up_alike(exponent):
    network = noisy_weights()
    memory = noise_lines(TorchNetwork(network), 5)
    agree(*both_ways(network, memory, 6, length_exponent=exponent, nbest=2))


def test_a_text_longer_than_its_room_goes_on_in_a_larger_one(monkeypatch):
    monkeypatch.setattr(resident, "ROOM", 4)
    plain = replace(TINY, ctc=None, backbone=Light(height=48), positions=Learned())
    network = build(Task(name="tiny", config=plain, batch=3, beams=3, characters=30), Retentive())
    memory = noise_lines(TorchNetwork(network), 3)
    found, expected = both_ways(network, memory, 3)
    agree(found, expected)
    assert len(found[0][0].tokens) == 30


def test_one_batch_after_another_in_the_same_tensors():
    """A smaller batch sees nothing of the one before."""
    network = noisy_weights()
    alone, stays = TorchNetwork(network), TorchNetwork(network, as_on_gpu=True)
    for lines, seed in ((7, 1), (2, 2), (5, 3)):
        memory = noise_lines(alone, lines, seed)
        agree(NetworkScorer(stays, memory).search(3), NetworkScorer(alone, memory).search(3))
    assert len(stays.searches.kept) == 1


def test_threads_take_turns():
    """The next batch is written into the tensors of the one before."""
    network = noisy_weights()
    stays = TorchNetwork(network, as_on_gpu=True)
    memories = [noise_lines(stays, lines, lines) for lines in range(1, 9)] * 3
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda memory: NetworkScorer(stays, memory).search(2), memories))
    for texts, memory in zip(found, memories, strict=True):
        agree(texts, NetworkScorer(TorchNetwork(network), memory).search(2))


def test_few_shapes_are_kept(monkeypatch):
    monkeypatch.setattr(resident, "KEPT", 2)
    stays = TorchNetwork(noisy_weights(), as_on_gpu=True)
    memory = noise_lines(stays, 2)
    for beams in (1, 2, 3):
        NetworkScorer(stays, memory).search(beams)
    assert [shape.beams for shape in stays.searches.kept] == [2, 3]


def test_shapes_are_kept_as_far_as_memory_allows():
    stays = TorchNetwork(noisy_weights(), as_on_gpu=True)
    memory = noise_lines(stays, 2)
    NetworkScorer(stays, memory).search(2)
    stays.searches.most_bytes = 2.5 * stays.searches.kept_bytes
    for beams in (1, 3):  # together as large as two of the first
        NetworkScorer(stays, memory).search(beams)
    assert [shape.beams for shape in stays.searches.kept] == [1, 3]
    stays.searches.most_bytes = 0
    NetworkScorer(stays, memory).search(4)
    assert [shape.beams for shape in stays.searches.kept] == [4]


def test_lines_of_all_widths_are_captured_once(monkeypatch):
    """On a GPU, a capture takes as long as reading several batches."""
    network, made = noisy_weights().to("meta"), []
    wanted = BeamSearch(1, np.array([5]), EOS, (BOS, PAD))

    class Counted(ResidentSearch):
        def __init__(self, network, shape, like, kernels):
            made.append(shape)
            super().__init__(network, shape, like, kernels)

    monkeypatch.setattr(resident, "ResidentSearch", Counted)
    searches = ResidentSearches(network)

    def read():
        """What is searched for 2,560 lines, 256 at a time, of widths as in sets of old hands."""
        rng, batches = np.random.default_rng(0), 0
        for _ in range(10):
            widths = rng.normal(860, 370, 256).clip(60, 2400).astype(int)
            for group in group_by_width(widths, GPU_COLUMNS, BATCH_LINES):
                keys = torch.empty(len(group), 2, padded_width(widths[group[0]]) // 8, 16, device="meta")
                image = KeyValue(keys, keys)
                shape = Shape.of(BatchMemory((image,), None, None), wanted)
                searches.search(shape, image)
                searches.search(shape._replace(room=2 * shape.room), image)
                batches += 1
        return batches

    assert read() > 90
    assert len(made) == len(set(made)) <= resident.KEPT
    before = len(made)
    read()
    assert len(made) == before


def test_what_does_not_fit_together_is_searched_in_parts(monkeypatch):
    network = noisy_weights()
    stays = TorchNetwork(network, as_on_gpu=True)
    memory = noise_lines(stays, 5)
    run, taken = stays.searches.run, []

    def at_most_two(batch, wanted):
        taken.append(len(wanted.limits))
        if len(wanted.limits) > 2:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        return run(batch, wanted)

    monkeypatch.setattr(stays.searches, "run", at_most_two)
    agree(NetworkScorer(stays, memory).search(3), NetworkScorer(TorchNetwork(network), memory).search(3))
    assert taken == [5, 2, 3, 1, 2]


def test_searches_of_other_shapes_make_room(monkeypatch):
    network = noisy_weights()
    stays = TorchNetwork(network, as_on_gpu=True)
    memory, made = noise_lines(stays, 2), []

    class Large(ResidentSearch):
        def __init__(self, *given):
            made.append(given)
            if len(made) == 2:
                raise torch.cuda.OutOfMemoryError("CUDA out of memory")
            super().__init__(*given)

    monkeypatch.setattr(resident, "ResidentSearch", Large)
    for beams in (1, 2):
        NetworkScorer(stays, memory).search(beams)
    assert [shape.beams for shape in stays.searches.kept] == [2]


def test_they_make_room_for_the_first_kernels_too(monkeypatch):
    """Those are tried once for each type of number, on tensors of their own."""
    network = noisy_weights()
    stays = TorchNetwork(network, as_on_gpu=True)
    memory, asked = noise_lines(stays, 2), []

    def kernels_for(like):
        asked.append(like)
        if len(asked) == 2:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        return FORMULAS

    monkeypatch.setattr(resident, "kernels_for", kernels_for)
    for beams in (1, 2):
        NetworkScorer(stays, memory).search(beams)
    assert [shape.beams for shape in stays.searches.kept] == [2]


def test_without_a_compiler_the_formulas_are_computed(monkeypatch):
    """Triton comes with torch's wheels, but compiles with gcc or clang, which many servers do not have."""

    def no_compiler(*given):
        raise RuntimeError("Failed to find C compiler. Please specify via CC environment variable.")

    monkeypatch.setattr(fused, "triton", "installed")
    monkeypatch.setattr(fused, "recall", no_compiler)
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    fused.can_compile.cache_clear()
    network = noisy_weights()
    memory = noise_lines(TorchNetwork(network), 3)
    with pytest.warns(RuntimeWarning, match="Failed to find C compiler"):
        found, expected = both_ways(network, memory, 2)
    agree(found, expected)
    assert fused.kernels_for(memory.kept.layers[0]) is FORMULAS  # and no second warning
    fused.can_compile.cache_clear()


def test_a_kernel_without_memory_is_tried_again(monkeypatch):
    def no_memory(*given):
        raise RuntimeError("Triton Error [CUDA]: out of memory")

    monkeypatch.setattr(fused, "triton", "installed")
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    fused.can_compile.cache_clear()
    like = noise_lines(TorchNetwork(noisy_weights()), 1).kept.layers[0]
    monkeypatch.setattr(fused, "recall", no_memory)
    with pytest.raises(torch.cuda.OutOfMemoryError):
        fused.kernels_for(like)
    for kernel in ("recall", "attend"):
        monkeypatch.setattr(fused, kernel, lambda *given: None)
    assert fused.kernels_for(like) is fused.FUSED
    fused.can_compile.cache_clear()


@torch.inference_mode()
def test_it_writes_in_bfloat16():
    torch.manual_seed(0)
    wide = DRetHTR(replace(TINY, layers=1, width=1024, hidden=1024), VOCABULARY).eval()
    ways = [TorchNetwork(wide, Precision.BFLOAT16, as_on_gpu=stays) for stays in (True, False)]
    memory = noise_lines(ways[0], 2)
    assert memory.kept.layers[0].keys.dtype == torch.bfloat16
    found, expected = (NetworkScorer(way, memory).search(2, nbest=2) for way in ways)
    for text, other in zip(found, expected, strict=True):
        assert text[0].tokens == other[0].tokens
        assert text[0].log_probability == pytest.approx(other[0].log_probability, rel=1e-4)


def test_numbers_that_overflow_are_an_error_and_leave_no_trace():
    network = noisy_weights()
    stays = TorchNetwork(network, as_on_gpu=True)
    memory, right = noise_lines(stays, 2), network.to_logits.weight.clone()
    network.to_logits.weight.fill_(torch.inf)
    with pytest.raises(FloatingPointError, match="not finite"):
        NetworkScorer(stays, memory).search(2)
    network.to_logits.weight.copy_(right)
    agree(NetworkScorer(stays, memory).search(2), NetworkScorer(TorchNetwork(network), memory).search(2))


def test_states_of_other_forms_are_searched_step_by_step():
    plain = replace(TINY, ctc=None, backbone=Light(height=48), positions=Learned())
    network = TorchNetwork(
        build(Task(name="tiny", config=plain, batch=1, beams=1), PublishedRetentive()), as_on_gpu=True
    )
    wanted = BeamSearch(2, np.array([5]), EOS, (BOS, PAD))
    assert network.search(noise_lines(network, 1), wanted) is None


@pytest.mark.parametrize("changes", NETWORKS.values(), ids=NETWORKS)
@torch.inference_mode()
def test_a_step_asks_for_no_number_and_moves_no_tensor(changes):
    """As a CUDA graph demands: tensors without content, on a device that mixes with no other, are enough for it."""
    network = noisy_weights(**changes)
    like = noise_lines(TorchNetwork(network), 1).kept.layers[0]
    shape = Shape(lines=2, image=64, beams=3, room=8, nbest=2, length_exponent=1.0, end=EOS, forbidden=(BOS, PAD))
    here = ResidentSearch(network, shape, like, FORMULAS)
    places = [tensor.data_ptr() for tensor in here.tensors()]
    here.step()
    assert [tensor.data_ptr() for tensor in here.tensors()] == places
    ResidentSearch(network.to("meta"), shape, KeyValue(*(part.to("meta") for part in like)), FORMULAS).step()


@pytest.mark.parametrize("normalize", [True, False])
def test_rows_remember_whom_they_descend_from(normalize):
    parents = torch.randint(6, (40, 6), generator=torch.Generator().manual_seed(1))
    drawn(20, parents, normalize)


INTERPRETED = """
import torch
from searches import drawn
from drethtr.network.attention import KeyValue
from drethtr.network.ancestry import FORMULAS
from drethtr.network.fused import FUSED, kernels_for
assert kernels_for(KeyValue(*torch.zeros(2, 1, 1, 1, 8))) is FUSED
assert kernels_for(KeyValue(*torch.zeros(2, 1, 1, 1, 12))) is FORMULAS
parents = torch.randint(6, (40, 6), generator=torch.Generator().manual_seed(1))
for normalize in (True, False):
    for tokens in (1, 15, 16, 17, 35):
        cache, q = drawn(tokens, parents, normalize)
        torch.testing.assert_close(FUSED.recall(q, cache, normalize), FORMULAS.recall(q, cache, normalize))
        for found, expected in zip(FUSED.attend(q, cache), FORMULAS.attend(q, cache), strict=True):
            torch.testing.assert_close(found, expected)
"""


def test_the_kernels_compute_the_formulas():
    pytest.importorskip("triton")
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    given = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": path}
    subprocess.run([sys.executable, "-c", INTERPRETED], check=True, env=given)
