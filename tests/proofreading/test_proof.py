"""Which lines are accepted as training data, by the probabilities that they are right."""

import numpy as np
import pytest

from drethtr.proofreading.check import TextCheck
from drethtr.proofreading.proof import ProofLine, acceptable, accepted


def lines(*probabilities):
    return [ProofLine("p", n, TextCheck("text", (), p, ""), ()) for n, p in enumerate(probabilities)]


def test_accepted_lines_keep_their_order():
    assert [line.line for line in accepted(lines(0.92, 0.2, 0.99, 0.8), 0.95)] == [0, 2]


def test_lines_without_text_are_not():
    assert accepted([ProofLine("p", 0, TextCheck("", (), 1.0, ""), ())], 0.5) == []


@pytest.mark.parametrize(
    ("precision", "accepted"), [(0.99, [2]), (0.95, [0, 2]), (0.9, [0, 2, 3]), (0, [0, 1, 2, 3]), (1, [])]
)
def test_as_many_as_keep_the_precision(precision, accepted):
    assert np.flatnonzero(acceptable(np.array([0.92, 0.2, 0.99, 0.8]), precision)).tolist() == accepted


def test_nothing_of_nothing():
    assert acceptable(np.array([]), 0.5).tolist() == []
