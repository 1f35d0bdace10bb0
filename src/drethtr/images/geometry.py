"""Baselines and outlines as points: lengths, areas, points along them.

N points (N, 2), each (x, y) in pixels.
"""

import numpy as np

from drethtr.base.arrays import Floats


def length_of(path: Floats) -> float:
    """The length of a path."""
    return float(np.hypot(*np.diff(path, axis=0).T).sum())


def distances_along(path: Floats) -> Floats:
    """The distance of each point from the start of a path, along it: (N,), from 0 to its length."""
    return np.concatenate(([0.0], np.hypot(*np.diff(path, axis=0).T).cumsum()))


def points_at(places: Floats, known: Floats, path: Floats) -> Floats:
    """Points interpolated at distances along a path whose own points are at the distances `known`."""
    return np.stack([np.interp(places, known, values) for values in path.T], axis=1)


def points_along(path: Floats, step: float) -> Floats:
    """Points at even distances of about `step` along a path, with both of its ends."""
    distances = distances_along(path)
    return points_at(np.linspace(0, distances[-1], max(2, round(distances[-1] / step) + 1)), distances, path)


def area_of(outline: Floats) -> float:
    """The area of a polygon."""
    x, y = outline.T
    return abs(float(x @ np.roll(y, 1) - y @ np.roll(x, 1))) / 2
