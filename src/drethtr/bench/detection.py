"""Compare detected lines with reference lines: how many are found, and how well their outlines agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from drethtr.documents.points import Box, Points, box_around


@dataclass(frozen=True)
class Detection:
    """Numbers of reference lines, detected lines, and matched pairs; `overlap` is the sum of the pairs' IoU."""

    marked: int = 0
    found: int = 0
    both: int = 0
    overlap: float = 0.0

    def __add__(self, other: "Detection") -> "Detection":
        return Detection(
            self.marked + other.marked, self.found + other.found, self.both + other.both, self.overlap + other.overlap
        )

    @property
    def recall(self) -> float:
        """The share of reference lines that were detected."""
        return self.both / max(self.marked, 1)

    @property
    def precision(self) -> float:
        """The share of detected lines that match a reference line."""
        return self.both / max(self.found, 1)

    @property
    def mean_overlap(self) -> float:
        """Mean intersection over union of the pairs."""
        return self.overlap / max(self.both, 1)


class Match(NamedTuple):
    """The numbers of a reference outline and of the detected one that matches it, with their IoU."""

    marked: int
    found: int
    overlap: float


def compare_outlines(marked: Sequence[Points], found: Sequence[Points], least: float = 0.5) -> Detection:
    """Count the outlines that `match_outlines` matches."""
    matches = match_outlines(marked, found, least)
    return Detection(len(marked), len(found), len(matches), sum(match.overlap for match in matches))


def match_outlines(marked: Sequence[Points], found: Sequence[Points], least: float = 0.5) -> list[Match]:
    """Match each reference outline with at most one detected outline, best IoU first, down to an IoU of `least`."""
    shares = np.array([[intersection_over_union(a, b) for b in found] for a in marked]).reshape(len(marked), len(found))
    matches = []
    while shares.size and shares.max() >= least:
        row, column = map(int, np.unravel_index(int(shares.argmax()), shares.shape))
        matches.append(Match(row, column, float(shares[row, column])))
        shares[row] = shares[:, column] = -1
    return matches


def intersection_over_union(first: Points, second: Points) -> float:
    """Intersection over union of two polygons."""
    a, b = box_around(first), box_around(second)
    if a is None or b is None or a.left >= b.right or b.left >= a.right or a.top >= b.bottom or b.top >= a.bottom:
        return 0.0
    window = Box(min(a.left, b.left), min(a.top, b.top), max(a.right, b.right), max(a.bottom, b.bottom))
    areas = [area(polygon, window) for polygon in (first, second)]
    return float((areas[0] & areas[1]).sum() / max((areas[0] | areas[1]).sum(), 1))


def area(polygon: Points, window: Box) -> NDArray[np.bool_]:
    """The pixels of a window that a polygon covers."""
    drawn = Image.new("1", (window.width + 1, window.height + 1))
    ImageDraw.Draw(drawn).polygon([(x - window.left, y - window.top) for x, y in polygon], fill=1)
    return np.asarray(drawn)
