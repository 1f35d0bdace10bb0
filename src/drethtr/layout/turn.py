"""Rotate pages by multiples of 90 degrees, or single lines by 180, and convert positions."""

import numpy as np

from drethtr.base.arrays import Floats
from drethtr.images.straighten import Strip
from drethtr.layout.finder import FoundLine

SPACING = 48
"""Pixels between the points of the baseline of a turned line."""


def quarters_of(baseline: Floats) -> int:
    """Number of counterclockwise 90 degree rotations of the page that make the line run from left to right: 0 to 3."""
    x, y = baseline[-1] - baseline[0]
    return round(float(np.arctan2(y, x)) / (np.pi / 2)) % 4


def turn_points(points: Floats, quarters: int, width: int, height: int) -> Floats:
    """The positions of points (x, y) of a page after `numpy.rot90(page, quarters)`."""
    x, y = points.T
    turned = ((x, y), (y, width - x), (width - x, height - y), (height - y, x))[quarters % 4]
    return np.stack(turned, axis=1)


def turn_line(line: FoundLine, quarters: int, width: int, height: int) -> FoundLine:
    """The position of a line of a page after `numpy.rot90(page, quarters)`."""
    baseline, polygon = (turn_points(points, quarters, width, height) for points in (line.baseline, line.polygon))
    return line._replace(baseline=baseline, polygon=polygon)


def half_turned(line: FoundLine, strip: Strip) -> FoundLine:
    """A line as found on the page upside down: the upper edge of its strip becomes the lower one."""
    below = strip.line.shape[0] - strip.above
    other = strip.places - strip.downs * (strip.above - below)
    few = np.linspace(len(other) - 1, 0, max(2, len(other) // SPACING)).round().astype(int)
    return line._replace(baseline=other[few])
