"""Lines from the rows and columns in which a page is dark: needs nothing but numpy, and writing that runs straight.

The page is turned level, cut at columns without ink, and every column is cut into rows where its ink is densest.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from drethtr.base.errors import ConfigError
from drethtr.images.line import Line
from drethtr.layout.finder import Finder, FoundLine
from drethtr.layout.outline import ink_of, outline
from drethtr.layout.ridge import Ridge

Floats: TypeAlias = NDArray[np.float64]

STEEPEST = 10.0
"""Degrees by which a page may be turned."""

DARK, DARK_SHARE = 28, 0.4
"""Grey levels between paper and what counts as ink, and the same as a share of the darkest: ruled lines are fainter."""


SPARSE = 0.25
"""A column of pixels belongs to the white if it holds less ink than this share of what text holds."""


NARROWEST = 0.03
"""Share of the page that a column of text takes at least."""


@dataclass(frozen=True, kw_only=True)
class Projection(Finder):
    """How pages are looked at.

    side    longer side of the picture, in pixels
    gutter  least width of the white between two columns, as a share of the page's; nor is it less than a line's height
    """

    side: int = 1000
    gutter: float = 0.025

    def __post_init__(self) -> None:
        if self.side < 100 or not 0 < self.gutter < 1:
            raise ConfigError(f"side must be at least 100 and gutter between 0 and 1, not {self.side}, {self.gutter}")

    def find(self, page: Line) -> list[FoundLine]:
        """The lines that run across the page."""
        scale = min(1.0, self.side / max(page.shape))
        size = (max(1, round(page.shape[1] * scale)), max(1, round(page.shape[0] * scale)))
        ink = ink_of(np.asarray(Image.fromarray(page).resize(size, Image.Resampling.BOX)))
        dark = ink > max(DARK, DARK_SHARE * float(np.quantile(ink, 0.99)))
        slope = find_slope(dark)
        level = shear(dark, slope)
        if not level.any():
            return []
        gap = max(self.gutter * level.shape[1], find_pitch(level.sum(1).astype(np.float64)))
        ridges = [
            Ridge(left, row + slope * (np.arange(left, right) - dark.shape[1] / 2), thickness)
            for first, last in columns_of(level, round(gap))
            for left, right, row, thickness in lines_of(level, first, last)
        ]
        return outline(page, ridges, scale)


def shear(dark: NDArray[np.bool_], slope: float) -> NDArray[np.bool_]:
    """The picture with every column moved up by `slope` for each step from the middle."""
    rows = np.arange(dark.shape[0])[:, None] + np.rint(slope * (np.arange(dark.shape[1]) - dark.shape[1] / 2)).astype(
        int
    )
    inside = (rows >= 0) & (rows < dark.shape[0])
    moved: NDArray[np.bool_] = np.take_along_axis(dark, rows.clip(0, dark.shape[0] - 1), axis=0) & inside
    return moved


def find_slope(dark: NDArray[np.bool_]) -> float:
    """The slope at which the rows differ most in ink, rows per column."""
    small = dark[:, :: max(1, dark.shape[1] // 250)]
    step = dark.shape[1] / max(1, small.shape[1])

    def sharpness(degrees: float) -> float:
        profile = shear(small, np.tan(np.radians(degrees)) * step).sum(1).astype(np.float64)
        return float(np.square(np.diff(profile)).sum())

    coarse = max(np.arange(-STEEPEST, STEEPEST + 0.5, 0.5), key=sharpness)
    fine = max(np.arange(coarse - 0.5, coarse + 0.51, 0.1), key=sharpness)
    return float(np.tan(np.radians(fine)))


def columns_of(dark: NDArray[np.bool_], gap: int) -> list[tuple[int, int]]:
    """First and last column of every column of text; between two of them, so many columns are white."""
    window = max(1, gap // 2)
    density = smoothed(dark.mean(0), np.full(window, 1 / window))
    filled = density > max(0.004, SPARSE * float(np.quantile(density, 0.75)))
    return [run for run in runs(filled, gap - window) if run[1] - run[0] > NARROWEST * dark.shape[1]]


def smoothed(values: Floats, window: Floats) -> Floats:
    """The values averaged in a window that may be longer than they are; beyond their ends there is nothing."""
    before = (len(window) - 1) // 2
    averaged: Floats = np.convolve(values, window)[before : before + len(values)]
    return averaged


def runs(filled: NDArray[np.bool_], gap: int) -> list[tuple[int, int]]:
    """Start and end of stretches; gaps up to `gap` do not interrupt one."""
    places = np.flatnonzero(filled)
    if not len(places):
        return []
    breaks = np.flatnonzero(np.diff(places) > max(1, gap))
    starts = places[np.concatenate(([0], breaks + 1))]
    ends = places[np.concatenate((breaks, [len(places) - 1]))] + 1
    return [(int(start), int(end)) for start, end in zip(starts, ends, strict=True)]


def lines_of(dark: NDArray[np.bool_], first: int, last: int) -> Iterator[tuple[int, int, float, float]]:
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
    """Rows from line to line: where the profile is most like itself."""
    centered = profile - profile.mean()
    limit = max(1, min(len(profile) // 2, 200))
    likeness = np.array([(centered[lag:] * centered[: len(centered) - lag]).sum() for lag in range(limit)])
    peaks = np.flatnonzero((likeness[1:-1] > likeness[:-2]) & (likeness[1:-1] >= likeness[2:])) + 1
    core = float(np.median([end - start for start, end in runs(profile > 0.5 * profile.max(), 0)]))
    peaks = peaks[(peaks >= max(6, 1.5 * core)) & (likeness[peaks] > 0.1 * likeness[0])]
    if not len(peaks):  # a line alone
        return max(6.0, 3 * core)
    # Two and three lines further the page is like itself again, and at times more so.
    return float(peaks[likeness[peaks] > 0.6 * likeness[peaks].max()][0])
