"""Which texts can be accepted unseen."""

import numpy as np
import pytest

from drethtr.recognition.support.acceptance import acceptable


@pytest.mark.parametrize(
    ("precision", "accepted"), [(0.99, [2]), (0.95, [0, 2]), (0.9, [0, 2, 3]), (0, [0, 1, 2, 3]), (1, [])]
)
def test_as_many_as_keep_the_precision(precision, accepted):
    assert np.flatnonzero(acceptable(np.array([0.92, 0.2, 0.99, 0.8]), precision)).tolist() == accepted


def test_nothing_of_nothing():
    assert acceptable(np.array([]), 0.5).tolist() == []
