import pytest
import torch

from drethtr.experiments.figures import TOKENS, decay_of, mean_distance


def test_what_decays_slower_lies_farther_back():
    near, far = mean_distance(decay_of(torch.tensor([0.1, 0.5, 0.9])))
    assert 0 < near < 0.5 < far < TOKENS


def test_the_distance_is_that_of_the_weights():
    looking_back = torch.diag(torch.ones(5), -1)
    assert mean_distance(looking_back) == pytest.approx(1) and mean_distance(torch.eye(6)) == 0


def test_a_decay_matrix_falls_by_gamma_with_every_token():
    first, last = decay_of(torch.tensor([0.5, 0.7, 0.9]))
    assert first[3, :5].tolist() == pytest.approx([0.125, 0.25, 0.5, 1, 0])
    assert float(last[TOKENS - 1, 0]) == pytest.approx(0.9 ** (TOKENS - 1))
