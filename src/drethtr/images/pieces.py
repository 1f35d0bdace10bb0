"""Cut a line that is too long for a model into overlapping pieces."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from drethtr.images.line import Line

OVERLAP = 4.0
"""Overlap of neighboring pieces in line heights: room for a long word."""


class Piece(NamedTuple):
    """Pixel columns `left` to `right` of a line; characters in its share, `begin` to `end`, are read from it."""

    left: int
    right: int
    begin: float
    end: float

    def shares(self, left: float, right: float) -> bool:
        """Whether the middle of two columns is in its share."""
        return self.begin <= (left + right) / 2 < self.end


def cut(line: Line, longest: int) -> list[Piece]:
    """As few pieces as possible of at most `longest` columns; their shares meet where the overlap has least ink."""
    height, width = line.shape
    if width <= longest:
        return [Piece(0, width, -np.inf, np.inf)]
    overlap = min(round(OVERLAP * height), longest // 2)
    number = -(-(width - overlap) // (longest - overlap))
    size = -(-(width + (number - 1) * overlap) // number)
    lefts = [min(i * (size - overlap), width - size) for i in range(number)]
    # A letter that the cut goes through is read wrong in its piece, so that seams keep away from both ends.
    margin = min(height // 5, (overlap - 1) // 2)
    seams = [quietest(line, left + margin, before + size - margin) for before, left in pairwise(lefts)]
    edges = [-np.inf, *seams, np.inf]
    return [Piece(left, left + size, begin, end) for left, (begin, end) in zip(lefts, pairwise(edges), strict=True)]


def quietest(line: Line, left: int, right: int) -> float:
    """The column from `left` to `right` with the least ink around it; the middle one of ties."""
    window = max(1, line.shape[0] // 5)
    begin = max(left - window, 0)
    ink = (255 - line[:, begin : right + window].astype(np.float64)).sum(0)
    smooth = np.convolve(ink, np.ones(window), mode="same")[left - begin : right - begin]
    least = np.flatnonzero(smooth <= smooth.min() + 1e-9)
    return left + float(least[len(least) // 2])
