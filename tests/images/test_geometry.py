"""Lengths, areas and points of baselines and outlines."""

import numpy as np
import pytest

from drethtr.images.geometry import area_of, length_of, points_along

BENT = np.array([(0.0, 0.0), (3.0, 4.0), (3.0, 14.0)])


def test_a_path_is_as_long_as_its_parts():
    assert length_of(BENT) == 15 and length_of(BENT[:1]) == 0


@pytest.mark.parametrize(("step", "count"), [(5.0, 4), (4.0, 5), (100.0, 2)])
def test_points_are_at_even_distances_along_a_path_from_end_to_end(step, count):
    points = points_along(BENT, step)
    assert len(points) == count and np.allclose(points[[0, -1]], BENT[[0, -1]])
    assert np.allclose(points_along(BENT, 5.0), [(0, 0), (3, 4), (3, 9), (3, 14)])


@pytest.mark.parametrize("turn", [1, -1])
def test_an_area_does_not_depend_on_the_direction(turn):
    assert area_of(np.array([(0.0, 0.0), (4.0, 0.0), (4.0, 3.0)])[::turn]) == 6
