"""Segmentation of an image that is a single line."""

from dataclasses import dataclass

import numpy as np

from drethtr.images.line import Line
from drethtr.layout.finder import Finder, FoundLine
from drethtr.layout.given import FOOT


@dataclass(frozen=True)
class Whole(Finder):
    """Takes the whole image as one line."""

    whole = True

    def find(self, page: Line) -> list[FoundLine]:
        """One line, from the left to the right edge of the image."""
        height, width = page.shape
        baseline = ((0, FOOT * height), (width, FOOT * height))
        corners = ((0, 0), (width, 0), (width, height), (0, height))
        return [FoundLine(np.array(baseline, dtype=np.float64), np.array(corners, dtype=np.float64))]
