"""Recognize outlines that nobody drew: bands of a fixed height around each baseline.

Transkribus writes such bands where it has only baselines. They ignore the ink: a low band cuts off ascenders and
descenders, a high one contains two lines. Drawn outlines follow the ink, so their distance from the baseline varies,
and they have points of their own. A band has one point above and one below each point of the baseline (of 276 bands
written by other programs, 275 have exactly these, and one has fewer).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from drethtr.base.arrays import Floats

ROUNDING = 1.0
"""Pixels by which the edge of a band may be off: points are whole pixels, often of a page that was resized."""

SLACK = 0.02
"""Tolerance in addition to `ROUNDING`, relative to the height of the band."""

TOGETHER = 3
"""Lines of a page that share a band before straight ones count: a box around a straight line may have been drawn."""


class Band(NamedTuple):
    """An outline at constant distances from its baseline, in pixels."""

    above: float
    below: float
    bent: bool

    def count_alike(self, sides: Floats) -> int:
        """The number of bands, (n, 2) `above` and `below`, with the same height and distance from the baseline."""
        return int((np.abs(sides - (self.above, self.below)) <= tolerance(self)).all(1).sum())


def tolerance(band: Band) -> float:
    """The pixels by which an edge may be off."""
    return ROUNDING + SLACK * (band.above + band.below)


def band_of(baseline: Floats, polygon: Floats) -> Band | None:
    """The band that the outline of a line is, or None if it was drawn.

    Args:
        baseline: (n, 2) points (x, y).
        polygon: (m, 2) points (x, y).
    """
    if len(polygon) > 2 * len(baseline) + 1:  # closed, it has its first point twice
        return None
    if np.ptp(baseline[:, 0]) < np.ptp(baseline[:, 1]):  # written upward or downward
        baseline, polygon = baseline[:, ::-1], polygon[:, ::-1]
    order = np.argsort(baseline[:, 0], kind="stable")
    x, y = baseline[order].T
    distances = polygon[:, 1] - np.interp(polygon[:, 0], x, y)
    above, below = -distances[distances < 0], distances[distances >= 0]
    if not (len(above) >= 2 and len(below) >= 2):
        return None
    chord = np.interp(x, (x[0], x[-1]), (y[0], y[-1]))
    band = Band(float(np.median(above)), float(np.median(below)), bool(np.abs(y - chord).max() > 2 * ROUNDING))
    spread = max(np.abs(above - band.above).max(), np.abs(below - band.below).max())
    return band if spread <= tolerance(band) else None


def are_bands(lines: Sequence[tuple[Floats, Floats]]) -> list[bool]:
    """Whether the outline of each line of a page is a band.

    An outline parallel to a bent baseline is a band. Around a straight baseline it may be a box that somebody drew,
    unless other lines of the page have the same band.

    Args:
        lines: Baseline and polygon of each.
    """
    found = [band_of(*line) for line in lines]
    sides = np.array([(band.above, band.below) for band in found if band is not None]).reshape(-1, 2)
    certain = [band is not None and (band.bent or band.count_alike(sides) >= TOGETHER) for band in found]
    # A band around a steep or broken baseline is not quite parallel to it; it was made like the other bands.
    return [True] * len(lines) if 2 * sum(certain) > len(lines) else certain
