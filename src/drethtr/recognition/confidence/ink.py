"""Find the ink of a line: pixels darker than the paper around them by more than the grain of the paper."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from drethtr.base.arrays import Booleans
from drethtr.images.line import Line

ROWS = 40
"""Height to which lines are scaled: fine enough for strokes, and fast."""

FAINTEST = 20
"""Contrast of the faintest ink with the paper, in gray levels."""

GRAINS = 5.0
"""Contrast of the faintest ink with the paper, in multiples of the grain of the paper."""

SHARE_OF_DARKEST = 0.35
"""Contrast of the faintest ink, relative to the darkest of the line."""

RULE = 1.5
"""A straight run of ink of at least this many line heights is a ruled line."""

TAILS = (0.5, 99.5)
"""Percentiles of the darkness of blank paper, between which its grain is measured."""

UNEVEN, SMOOTH = 1.3, 6.0
"""The dark tail of blank paper is at most this many times its light tail, or this many gray levels.

By the contrast of the ink alone, 5 of 2,231 written lines would count as blank paper; with both tails, none of 3,054
(LOG.md, 2026-11-24, night, and 2026-11-25, evening)."""

STEP = 4
"""Distance in columns for measuring the grain: more than one, since lines lower than `ROWS` are enlarged."""

MIN_ROWS = 2
"""Minimum rows of ink in an inked column; less is a speck."""


class Ink(NamedTuple):
    """The ink of a line.

    columns  which columns have some, apart from ruled lines, (width,)
    blank    whether the line is certainly blank paper, ruled or not
    """

    columns: Booleans
    blank: bool

    @classmethod
    def of(cls, line: Line) -> "Ink":
        """Find the ink of a line."""
        height, width = line.shape
        size = max(1, round(width * ROWS / height)), ROWS
        seen = np.asarray(Image.fromarray(line).resize(size, Image.Resampling.BOX))
        # Relative to the paper of each column, since photographs get darker towards their edges.
        darkness = local_paper(seen)[None, :] - seen.astype(np.float32)
        inked: Booleans = find_ink(darkness).sum(0) >= MIN_ROWS
        return cls(inked[np.arange(width) * len(inked) // width], not inked.any() and is_bare(darkness))


def is_bare(darkness: NDArray[np.float32]) -> bool:
    """Whether paper without ink (`ROWS`, width) is bare: faint writing lengthens its dark tail only, see `UNEVEN`."""
    writing = darkness[~long_runs(darkness > FAINTEST, round(RULE * ROWS))]
    light, dark = np.percentile(writing, TAILS) if writing.size else (0.0, 0.0)
    return bool(dark <= max(SMOOTH, UNEVEN * -light))


def find_ink(darkness: NDArray[np.float32]) -> Booleans:
    """The ink, apart from ruled lines, of a line this much darker than its paper, (`ROWS`, width)."""
    # Not the maximum: a blot or the edge of a photograph would make all writing look faint.
    darkest = quantile(darkness, 0.995)
    mask: Booleans = darkness > max(FAINTEST, GRAINS * grain_of(darkness), SHARE_OF_DARKEST * darkest)
    return mask & ~long_runs(mask, round(RULE * ROWS))


def grain_of(darkness: NDArray[np.float32]) -> float:
    """Standard deviation of the paper (height, width), in gray levels: the smaller of two estimates.

    One is the spread of pixels lighter than the median, too large with a border of lighter paper; the other is the
    difference between nearby pixels, too large with dense writing.
    """
    lighter = -darkness[darkness <= 0]
    # 1.48 medians of absolute values are a standard deviation of normal noise; a difference has √2 times the noise.
    differences = np.abs(darkness[:, STEP:] - darkness[:, :-STEP])
    return min(
        (quantile(found, 0.5) * scale for found, scale in ((lighter, 1.48), (differences, 1.05)) if found.size),
        default=0.0,
    )


def local_paper(line: Line) -> NDArray[np.float32]:
    """Gray of the paper at every column, (width,): interpolated medians of blocks as wide as the line is high."""
    height, width = line.shape
    blocks = max(1, round(width / height))
    edges = np.linspace(0, width, blocks + 1).round().astype(int)
    medians = [quantile(line[:, left:right], 0.5) for left, right in pairwise(edges)]
    return np.interp(np.arange(width), (edges[:-1] + edges[1:]) / 2, medians).astype(np.float32)


def quantile(values: NDArray[Any], share: float) -> float:
    """The value below which this share of some values lies, interpolated.

    It is that of `np.quantile`, which takes three times as long for a line.
    """
    place = share * (values.size - 1)
    below = int(place)
    above = min(below + 1, values.size - 1)
    low, high = np.partition(values, (below, above), axis=None)[[below, above]].tolist()
    return float(low + (place - below) * (high - low))


def long_runs(mask: Booleans, length: int) -> Booleans:
    """The pixels in horizontal runs of at least `length` columns."""
    found, width = np.zeros_like(mask), mask.shape[1]
    # Writing seldom has a row with enough ink for a run; looking only at such rows saves most of the work.
    rows = np.flatnonzero(mask.sum(1) >= length)
    if not rows.size:
        return found
    ink = before(mask[rows])
    begins = ink[:, length:] - ink[:, :-length] == length
    runs, columns = before(begins), np.arange(width)
    last, first = np.minimum(columns + 1, width - length + 1), np.maximum(columns - length + 1, 0)
    found[rows] = runs[:, last] > runs[:, first]
    return found


def before(mask: Booleans) -> NDArray[np.int32]:
    """Number of true pixels to the left of each column, with one more column for the whole row."""
    return np.pad(mask.cumsum(1, dtype=np.int32), ((0, 0), (1, 0)))
