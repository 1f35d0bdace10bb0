"""A line longer than a model can take, as overlapping pieces."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from drethtr.images.line import Line

OVERLAP = 4.0
"""Width of what two neighboring pieces share, in line heights: room for a long word."""


class Piece(NamedTuple):
    """Pixel columns `left` to `right` of a line; what stands in its share, `begin` to `end`, is read from it."""

    left: int
    right: int
    begin: float
    end: float

    def shares(self, left: float, right: float) -> bool:
        """Whether what stands between two columns stands in its share."""
        return self.begin <= (left + right) / 2 < self.end


def cut(line: Line, longest: int) -> list[Piece]:
    """Pieces of at most `longest` columns, as few as possible; the shares meet where the overlap has least ink."""
    height, width = line.shape
    if width <= longest:
        return [Piece(0, width, -np.inf, np.inf)]
    overlap = min(round(OVERLAP * height), longest // 2)
    number = -(-(width - overlap) // (longest - overlap))
    size = -(-(width + (number - 1) * overlap) // number)
    lefts = [min(i * (size - overlap), width - size) for i in range(number)]
    seams = [quietest(line, left, left_before + size) for left_before, left in pairwise(lefts)]
    edges = [-np.inf, *seams, np.inf]
    return [Piece(left, left + size, begin, end) for left, (begin, end) in zip(lefts, pairwise(edges), strict=True)]


def quietest(line: Line, left: int, right: int) -> float:
    """The column between two where a window of a fifth of the height holds least ink, the middle one if many do."""
    window = max(1, line.shape[0] // 5)
    ink = (255 - line[:, left:right].astype(np.float64)).sum(0)
    smooth = np.convolve(ink, np.ones(window), mode="same")
    smooth[:window] = smooth[len(smooth) - window :] = np.inf
    least = np.flatnonzero(smooth <= smooth.min() + 1e-9)
    return left + float(least[len(least) // 2])
