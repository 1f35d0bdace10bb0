import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import TINY

from drethtr.bench import training
from drethtr.bench.training import HEIGHT, Strokes, default_run, measure
from drethtr.images.prepare import Preparation
from drethtr.training.feed.batch import BatchConfig


def test_lines_are_800_pixels_wide_on_average():
    lines = [Strokes().sample(number, seed=0).line() for number in range(200)]
    assert {line.shape[0] for line in lines} == {HEIGHT}
    assert np.mean([line.shape[1] for line in lines]) == pytest.approx(800, rel=0.05)


def test_lines_are_the_same_every_time():
    first, again, other = (Strokes().sample(number, seed=0) for number in (5, 5, 6))
    assert first.image == again.image != other.image and first.text == again.text != other.text


def test_measures_so_many_lines():
    batches = BatchConfig(pixels=48 * 4000, lines=2, max_columns=2000, chunk=8)
    small = replace(default_run(), network=TINY, preparation=Preparation(height=48), batches=batches, augmentation=())
    speed = measure(replace(small, bfloat16=False), lines=6, workers=0, device="cpu")
    assert speed.lines >= 6 and speed.lines_per_second > 0 and 0 <= speed.loading <= 1
    assert 400 <= speed.mean_width <= 1200


def test_the_first_batch_of_a_shape_does_not_count(monkeypatch):
    """On a GPU, it takes seconds in which nothing is learned."""
    met = set()

    def step(learner, own, *rest):
        new = {batch.grays.shape for batch in own} - met
        met.update(new)
        time.sleep(0.2 if new else 0)
        return SimpleNamespace(total=0.0)

    monkeypatch.setattr(training, "train_step", step)
    batches = BatchConfig(pixels=48 * 4000, lines=2, max_columns=2000, chunk=32, fixed_shapes=True)
    run = replace(default_run(), network=TINY, preparation=Preparation(height=48), batches=batches, augmentation=())
    speed = measure(replace(run, bfloat16=False), lines=20, workers=0, device="cpu")
    assert len(met) > 3
    learning = (1 - speed.loading) * speed.lines / speed.lines_per_second
    assert learning < 0.1
