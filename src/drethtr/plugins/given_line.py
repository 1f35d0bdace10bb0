"""A line that another program has found, read as `drethtr transcribe` reads given lines."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from drethtr.base.errors import DataError
from drethtr.images.line import Line
from drethtr.images.straighten import Floats, Strip, straighten
from drethtr.layout.given import GivenLine, complete
from drethtr.recognition.reading import Reading
from drethtr.recognition.recognizer import Recognizer

Points: TypeAlias = Sequence[Sequence[float]] | None
"""Points x, y in pixels of the page, if they are known."""


def read_given_line(page: Line, baseline: Points, boundary: Points, recognizer: Recognizer) -> tuple[Strip, Reading]:
    """The straightened line and its reading.

    Raises:
        DataError: if it has neither baseline nor boundary, no extent, or is far too long for its height.
    """
    if not baseline and not boundary:
        raise DataError("the line has neither baseline nor boundary")
    [found] = complete(page, [GivenLine(floats(baseline), floats(boundary))])
    strip = straighten(page, found.baseline, found.polygon)
    [reading] = recognizer.read_lines([recognizer.open_line(strip.line)])
    return strip, reading


def floats(points: Points) -> Floats | None:
    """Points as an array; None if there are none."""
    return np.asarray(points, dtype=np.float64) if points else None
