"""Line segmentation by projection profiles, for straight lines; requires only numpy.

The page is deskewed and cut at columns without ink, and each column is cut into rows at the peaks of its ink density.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from PIL import Image

from drethtr.base.arrays import Booleans, Floats
from drethtr.base.errors import ConfigError
from drethtr.images.line import Line
from drethtr.layout.finder import Finder, FoundLine
from drethtr.layout.outline import ink_of, outline, reduced
from drethtr.layout.ridge import Ridge

# Not tuned: pages that are not clean and straight need the network. On a page of 35 lines this finds 145, most of them
# in the pattern of a book's edge (LOG.md, 2026-11-24).

MAX_SKEW = 10.0
"""Maximum skew of a page in degrees."""

DARK, DARK_SHARE = 28, 0.4
"""Minimum contrast of ink in gray levels, and relative to the darkest ink, since ruled lines are fainter."""

SPARSE = 0.25
"""A pixel column counts as white below this share of the ink of text."""

MIN_COLUMN = 0.03
"""Minimum width of a text column, relative to the page."""


@dataclass(frozen=True, kw_only=True)
class Projection(Finder):
    """Settings of the projection.

    side    longer side of the reduced page, in pixels
    gutter  minimum width of a gutter relative to the page width; also at least the height of a line
    """

    side: int = 1000
    gutter: float = 0.025

    def __post_init__(self) -> None:
        if self.side < 100 or not 0 < self.gutter < 1:
            raise ConfigError(f"side must be at least 100 and gutter between 0 and 1, not {self.side}, {self.gutter}")

    def find(self, page: Line) -> list[FoundLine]:
        """The lines that run horizontally."""
        scale = min(1.0, self.side / max(page.shape))
        ink = ink_of(reduced(page, scale, Image.Resampling.BOX))
        dark = ink > max(DARK, DARK_SHARE * float(np.quantile(ink, 0.99)))
        slope = find_slope(dark)
        level = shear(dark, slope)
        if not level.any():
            return []
        gap = max(self.gutter * level.shape[1], find_pitch(level.sum(1).astype(np.float64)))
        ridges = [
            Ridge(left, row + slope * (np.arange(left, right) - dark.shape[1] / 2), thickness)
            for first, last in text_columns(level, round(gap))
            for left, right, row, thickness in lines_of(level, first, last)
        ]
        return outline(page, ridges, scale)


def shear(dark: Booleans, slope: float) -> Booleans:
    """The image with every column shifted up by `slope` per column from the middle."""
    rows = np.arange(dark.shape[0])[:, None] + np.rint(slope * (np.arange(dark.shape[1]) - dark.shape[1] / 2)).astype(
        int
    )
    inside = (rows >= 0) & (rows < dark.shape[0])
    moved: Booleans = np.take_along_axis(dark, rows.clip(0, dark.shape[0] - 1), axis=0) & inside
    return moved


def find_slope(dark: Booleans) -> float:
    """The slope that maximizes the variation of ink between rows, in rows per column."""
    small = dark[:, :: max(1, dark.shape[1] // 250)]
    step = dark.shape[1] / max(1, small.shape[1])

    def sharpness(degrees: float) -> float:
        profile = shear(small, np.tan(np.radians(degrees)) * step).sum(1).astype(np.float64)
        return float(np.square(np.diff(profile)).sum())

    coarse = max(np.arange(-MAX_SKEW, MAX_SKEW + 0.5, 0.5), key=sharpness)
    fine = max(np.arange(coarse - 0.5, coarse + 0.51, 0.1), key=sharpness)
    return float(np.tan(np.radians(fine)))


def text_columns(dark: Booleans, gap: int) -> list[tuple[int, int]]:
    """First and last pixel column of every text column; the gaps between them are at least `gap` wide."""
    window = max(1, gap // 2)
    density = smoothed(dark.mean(0), np.full(window, 1 / window))
    filled = density > max(0.004, SPARSE * float(np.quantile(density, 0.75)))
    return [run for run in runs(filled, gap - window) if run[1] - run[0] > MIN_COLUMN * dark.shape[1]]


def smoothed(values: Floats, window: Floats) -> Floats:
    """A moving average, with zeros beyond the ends; the window may be longer than the values."""
    before = (len(window) - 1) // 2
    averaged: Floats = np.convolve(values, window)[before : before + len(values)]
    return averaged


def runs(filled: Booleans, gap: int) -> list[tuple[int, int]]:
    """Start and end of runs; gaps up to `gap` do not interrupt a run."""
    places = np.flatnonzero(filled)
    if not len(places):
        return []
    breaks = np.flatnonzero(np.diff(places) > max(1, gap))
    starts = places[np.concatenate(([0], breaks + 1))]
    ends = places[np.concatenate((breaks, [len(places) - 1]))] + 1
    return [(int(start), int(end)) for start, end in zip(starts, ends, strict=True)]


def lines_of(dark: Booleans, first: int, last: int) -> Iterator[tuple[int, int, float, float]]:
    """Left, right, middle row and thickness of each line between two columns."""
    profile = dark[:, first:last].sum(1).astype(np.float64)
    if not profile.any():
        return
    pitch = find_pitch(profile)
    window = np.hanning(max(3, round(0.6 * pitch)) | 1)
    smooth = smoothed(profile, window / window.sum())
    peaks = np.flatnonzero((smooth[1:-1] > smooth[:-2]) & (smooth[1:-1] >= smooth[2:])) + 1
    strong = [int(peak) for peak in peaks if smooth[peak] > 0.15 * np.quantile(smooth[peaks], 0.8)]
    kept: list[int] = []
    for peak in sorted(strong, key=lambda peak: -smooth[peak]):
        if all(abs(peak - other) > 0.55 * pitch for other in kept):
            kept.append(peak)
    for row in sorted(kept):
        thickness = 0.32 * pitch
        band = dark[max(0, round(row - thickness)) : round(row + thickness) + 1, first:last].any(0)
        inked = np.flatnonzero(band)
        if len(inked) > thickness:
            yield first + int(inked[0]), first + int(inked[-1]) + 1, float(row), thickness


def find_pitch(profile: Floats) -> float:
    """The distance between lines in rows, from the autocorrelation of the profile."""
    centered = profile - profile.mean()
    limit = max(1, min(len(profile) // 2, 200))
    likeness = np.array([(centered[lag:] * centered[: len(centered) - lag]).sum() for lag in range(limit)])
    peaks = np.flatnonzero((likeness[1:-1] > likeness[:-2]) & (likeness[1:-1] >= likeness[2:])) + 1
    core = float(np.median([end - start for start, end in runs(profile > 0.5 * profile.max(), 0)]))
    peaks = peaks[(peaks >= max(6, 1.5 * core)) & (likeness[peaks] > 0.1 * likeness[0])]
    if not len(peaks):  # a single line
        return max(6.0, 3 * core)
    # Multiples of the distance correlate too, sometimes more strongly.
    return float(peaks[likeness[peaks] > 0.6 * likeness[peaks].max()][0])
