"""What is compared does the same work: the same texts, the same logits, only by other means."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import TINY

from drethtr.network.backend import TorchNetwork
from drethtr.network.network import DRetHTR
from drethtr.paper.published_decoding import LIMIT
from drethtr.paper.speed.decoding import (
    CopyingScorer,
    PublishedRetentive,
    Task,
    build,
    contenders,
    formulas,
    images_of,
    measure,
    measure_memory,
    notes,
    on_canvas,
    prepare_published,
    tasks_of,
)
from drethtr.paper.speed.race import MEGABYTE, QUICK, can_measure
from drethtr.paper.variants import JointSoftmax
from drethtr.recognition.decoding.scorer import NetworkScorer, log_softmax
from drethtr.recognition.model.architecture import SMALL, Learned, Light, Retentive

PLAIN = replace(TINY, ctc=None, backbone=Light(height=48), positions=Learned())
TASK = Task(name="tiny", config=PLAIN, batch=2, beams=3, characters=7, pixels=300)


@pytest.mark.parametrize("mixer", [Retentive(), JointSoftmax()], ids=["retention", "cache"])
@pytest.mark.parametrize("beams", [1, 3])
def test_texts_are_as_long_as_they_should_be(mixer, beams):
    task = replace(TASK, beams=beams)
    network = TorchNetwork(build(task, mixer))
    texts = NetworkScorer(network, network.encode(images_of(task, 48))).search(beams)
    assert [len(best.tokens) for [best] in texts] == [7, 7]


@pytest.mark.parametrize(("batch", "beams", "steps"), [(1, 1, 8), (1, 3, 8), (2, 3, 8), (2, 1, LIMIT)])
def test_the_published_search_takes_as_many_steps_as_it_would(batch, beams, steps, monkeypatch):
    """Spec 3: only greedy search over several lines misses their ends, and goes on to its limit."""
    taken, decode_text = [], DRetHTR.decode_text
    monkeypatch.setattr(DRetHTR, "decode_text", lambda *given: taken.append(given) or decode_text(*given))
    prepare_published(replace(TASK, batch=batch, beams=beams))()
    assert len(taken) == steps


def test_published_retention_says_what_ours_says():
    """Copies of the image, and decay summed over the whole text at every step, give the same logits."""
    ours, published = (TorchNetwork(build(TASK, mixer)) for mixer in (Retentive(), PublishedRetentive()))
    memory = ours.encode(list(map(on_canvas, images_of(TASK, 48))))
    scorers = [NetworkScorer(ours, memory), CopyingScorer(published, memory)]
    states = [ours.begin(memory), published.begin(memory)]
    rows, tokens = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0])
    for step in range(5):
        said = [scorer.step(tokens, state) for scorer, state in zip(scorers, states, strict=True)]
        allowed = np.isfinite(said[0][0])
        theirs = log_softmax(np.where(allowed, said[1][0], -np.inf))
        np.testing.assert_allclose(said[0][0][allowed], theirs[allowed], rtol=1e-5, atol=1e-5)
        states = [state for _, state in said]
        if step == 0:
            states = [scorer.reorder(state, rows) for scorer, state in zip(scorers, states, strict=True)]
        tokens = np.arange(6) + 4 + step


def test_canvas_is_paper_right_of_the_line():
    [image, _] = images_of(TASK, 64)
    canvas = on_canvas(image)
    assert canvas.shape == (64, 2227)
    assert np.array_equal(canvas[:, : image.shape[1]], image) and (canvas[:, image.shape[1] :] == -1).all()


def test_weights_are_the_same():
    networks = [build(TASK, mixer) for mixer in (Retentive(), JointSoftmax(), PublishedRetentive())]
    states = [network.state_dict() for network in networks]
    assert all(state.keys() == states[0].keys() for state in states)
    assert all(torch.equal(state[name], weight) for state in states for name, weight in states[0].items())


def test_measures_every_contender():
    report = measure([TASK], QUICK)
    [race] = report.races
    assert list(race.figures) == [contender.name for contender in contenders(TASK)]
    assert all(seconds > 0 for figures in race.figures.values() for seconds in figures)


def test_the_formulas_of_memory():
    """Spec 3: SMALL, 128 lines, 10 beams, 94 characters in GB; here in MB, our images of 50 tokens instead of 140."""
    task = Task(name="small", config=SMALL, batch=128, beams=10, characters=94)
    image, copied, retention, text = formulas(task).values()
    assert copied == pytest.approx(5870, rel=0.001)
    assert retention == pytest.approx(2684, rel=0.001) and text == pytest.approx(3942, rel=0.001)
    assert image == pytest.approx(590 * 50 / 140, rel=0.01)


@pytest.mark.parametrize(
    ("batch", "beams", "characters", "rows", "room"),
    [(1, 1, 44, 8, 64), (2, 3, 63, 24, 64), (9, 2, 64, 32, 128), (8, 1, 128, 8, 256)],
)
def test_on_a_gpu_the_formulas_are_those_of_searches_that_stay_there(batch, beams, characters, rows, room):
    """They pad batches, keep keys and values of the text whatever the mixer, and copy those of the image twice."""
    task = replace(TASK, batch=batch, beams=beams, characters=characters)
    network = TorchNetwork(build(task, Retentive()), as_on_gpu=True)
    NetworkScorer(network, network.encode(images_of(task, 48))).search(beams)
    *_, search = network.searches.kept.values()
    placed, written = (
        sum(part.nbytes for parts in layers for part in parts) / MEGABYTE
        for layers in (search.images, [cache.written for cache in search.caches])
    )
    image, copied, memory, _ = formulas(task).values()
    names, found = zip(*formulas(replace(task, device=torch.device("cuda"))).items(), strict=True)
    assert found == pytest.approx((2 * image + placed, copied, memory, written))
    assert "published" in names[2] and f"R' = {rows}, in room for N = {room}" in names[3]


def test_on_a_gpu_the_published_algorithm_is_called_eager():
    there = replace(TASK, device=torch.device("cuda"))
    assert [one.name for one in contenders(there)][-1] == "published, eager"
    assert "published, eager: the paper's algorithm" in notes(there)[1]
    assert "preallocated" in notes(TASK)[1] and "preallocated" not in notes(there)[1]


def test_a_grid_has_every_combination():
    tasks = tasks_of(("compact", "base"), (1, 8), (1, 5, 10), torch.device("cpu"))
    assert (
        len(tasks) == 12 and str(tasks[0]) == "COMPACT, batch 1, beam 1" and str(tasks[-1]) == "BASE, batch 8, beam 10"
    )


PEAK_TASK = Task(name="tiny", config=replace(TINY, ctc=None), batch=1, beams=2, characters=7, pixels=300)


@pytest.mark.skipif(not can_measure(torch.device("cpu")), reason="this system does not tell the peak memory of a CPU")
def test_contenders_are_weighed_beside_the_formulas(monkeypatch):
    """Ours and the published algorithm: each starts a process."""
    some = contenders(PEAK_TASK)[:: len(contenders(PEAK_TASK)) - 1]
    monkeypatch.setattr("drethtr.paper.speed.decoding.contenders", lambda task: some)
    [race] = measure_memory([PEAK_TASK]).races
    assert list(race.figures) == ["retention", "published"] and race.unit == "MB"
    assert all(megabytes > 0 for [megabytes] in race.figures.values())
    assert race.facts == formulas(PEAK_TASK)
