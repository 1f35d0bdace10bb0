"""Where on a line there is ink, without reading it: darker than the paper around by more than the paper's grain."""

from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from drethtr.images.line import Line

Mask: TypeAlias = NDArray[np.bool_]

ROWS = 40
"""Lines are looked at this high: fine enough for strokes, and quick."""

FAINTEST = 20
"""Grey levels below the paper that the faintest ink has."""

GRAINS = 5.0
"""Ink is darker than the paper by so many times the paper's grain."""

SHARE_OF_DARKEST = 0.35
"""Ink is at least so dark, the darkest of the line being 1."""

RULE = 1.5
"""A straight run of ink as long as so many line heights is a ruled line, no writing."""

TAILS = (0.5, 99.5)
"""Percentiles of the darkness of blank paper, whose grain lies between them."""

UNEVEN, SMOOTH = 1.3, 6.0
"""Paper is darker in places by no more than so many times what it is lighter in others, or by so many gray levels."""

STEP = 4
"""Columns from one place to another for its grain: not one, as lines lower than `ROWS` repeat their pixels."""

LEAST = 2
"""Rows of ink that a column needs; less is a speck."""


def inked_columns(line: Line) -> Mask:
    """Which columns of a line have ink, ruled lines left out, (width,)."""
    width = line.shape[1]
    inked: Mask = find_ink(reduced(line)).sum(0) >= LEAST
    spread: Mask = inked[np.arange(width) * len(inked) // width]
    return spread


def is_blank(line: Line) -> bool:
    """Whether a line is surely paper alone, ruled or not: without ink, and as uneven to the light as to the dark side.

    Faint writing is not blank: it is darker than the paper by more than the paper is lighter than its median.
    """
    seen = reduced(line)
    if (find_ink(seen).sum(0) >= LEAST).any():
        return False
    darkness = local_paper(seen)[None, :] - seen.astype(np.float32)
    writing = darkness[~long_runs(darkness > FAINTEST, round(RULE * ROWS))]
    light, dark = np.percentile(writing, TAILS) if writing.size else (0.0, 0.0)
    return bool(dark <= max(SMOOTH, UNEVEN * -light))


def reduced(line: Line) -> Line:
    """The line, `ROWS` high."""
    height, width = line.shape
    size = max(1, round(width * ROWS / height)), ROWS
    return np.asarray(Image.fromarray(line).resize(size, Image.Resampling.BOX))


def find_ink(line: Line) -> Mask:
    """Ink of a line (height, width), ruled lines left out."""
    darkness = local_paper(line)[None, :] - line.astype(np.float32)
    darkest = float(np.percentile(darkness, 99.5))
    mask: Mask = darkness > max(FAINTEST, GRAINS * grain_of(darkness), SHARE_OF_DARKEST * darkest)
    return mask & ~long_runs(mask, round(RULE * line.shape[0]))


def grain_of(darkness: NDArray[np.float32]) -> float:
    """Standard deviation of the paper (height, width), in gray levels: the smaller of two estimates.

    How much is lighter than the median, which a border of lighter paper makes too large; and how much places near each
    other differ, which dense writing makes too large.
    """
    lighter = -darkness[darkness <= 0]
    differences = np.abs(darkness[:, STEP:] - darkness[:, :-STEP])
    return min(
        (float(np.median(found)) * scale for found, scale in ((lighter, 1.48), (differences, 1.05)) if found.size),
        default=0.0,
    )


def local_paper(line: Line) -> NDArray[np.float32]:
    """Grey of the paper at every column, (width,): the median of blocks as wide as the line is high, joined."""
    height, width = line.shape
    blocks = max(1, round(width / height))
    edges = np.linspace(0, width, blocks + 1).round().astype(int)
    medians = [np.median(line[:, left:right]) for left, right in pairwise(edges)]
    return np.interp(np.arange(width), (edges[:-1] + edges[1:]) / 2, medians).astype(np.float32)


def long_runs(mask: Mask, length: int) -> Mask:
    """What lies in a horizontal run of at least `length` columns."""
    width = mask.shape[1]
    if width < length:
        return np.zeros_like(mask)
    ink = before(mask)
    begins = ink[:, length:] - ink[:, :-length] == length
    runs, columns = before(begins), np.arange(width)
    last, first = np.minimum(columns + 1, width - length + 1), np.maximum(columns - length + 1, 0)
    found: Mask = runs[:, last] > runs[:, first]
    return found


def before(mask: Mask) -> NDArray[np.int32]:
    """How many are true to the left of each column, and in the whole row: one column more than the mask."""
    return np.pad(mask.cumsum(1, dtype=np.int32), ((0, 0), (1, 0)))
