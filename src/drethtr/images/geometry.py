"""Baselines and outlines as points: lengths, areas, points along them.

N points (N, 2), each (x, y) in pixels.
"""

import numpy as np

from drethtr.base.arrays import Floats


def length_of(path: Floats) -> float:
    """The length of a path."""
    return float(np.hypot(*np.diff(path, axis=0).T).sum())


def points_along(path: Floats, step: float) -> Floats:
    """Points at even distances of about `step` along a path, with both of its ends."""
    lengths = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(path, axis=0).T))))
    places = np.linspace(0, lengths[-1], max(2, round(lengths[-1] / step) + 1))
    points: Floats = np.stack([np.interp(places, lengths, values) for values in path.T], axis=1)
    return points


def area_of(outline: Floats) -> float:
    """The area of a polygon."""
    x, y = outline.T
    return abs(float(x @ np.roll(y, 1) - y @ np.roll(x, 1))) / 2
