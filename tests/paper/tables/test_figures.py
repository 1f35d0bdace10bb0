import numpy as np
import pytest

from drethtr.paper.tables.figures import TOKENS, cost_chart, decay_of, mean_distance
from drethtr.paper.tables.result import SECONDS, Measurement, Result
from drethtr.pictures.chart import ranges


def test_slower_decay_reaches_farther_back():
    near, far = mean_distance(decay_of(np.array([0.1, 0.5, 0.9])))
    assert 0 < near < 0.5 < far < TOKENS


def test_the_distance_is_that_of_the_weights():
    looking_back = np.eye(6, k=-1)
    assert mean_distance(looking_back) == pytest.approx(1) and mean_distance(np.eye(6)) == 0


def test_a_decay_matrix_falls_by_gamma_with_every_token():
    first, last = decay_of(np.array([0.5, 0.7, 0.9]))
    assert first[3, :5].tolist() == pytest.approx([0.125, 0.25, 0.5, 1, 0])
    assert float(last[TOKENS - 1, 0]) == pytest.approx(0.9 ** (TOKENS - 1))


def test_a_row_is_placed_at_the_median_of_its_seeds():
    of_row = [
        Result(table="t", row="a", seed=seed, fingerprint="", outcome=Measurement(figures={SECONDS: seconds}))
        for seed, seconds in enumerate((4.0, 1.0, 0.0))  # 0 was not measured
    ]
    drawn = ranges(f"t: {SECONDS}", SECONDS, [("a", {"ours": (2.5, 1.0, 4.0)})])
    assert cost_chart("t", {"a": of_row}, SECONDS) == drawn
