"""Deslanting: shear a line so that its strokes are vertical (paper, Sec. 5.3).

The result agrees with the published preprocessing within one gray level. Slants are horizontal pixels per pixel of
height; positive values shear the bottom of the line to the right.
Source: Vinciarelli and Luettin, Pattern Recognition Letters 22 (2001).
"""

from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drethtr.base.arrays import Booleans, Floats
from drethtr.base.errors import DataError
from drethtr.images.line import Line

# Those of the published preprocessing.
SLANTS = (-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0)

EPSILON = 2.0**-23
"""Of float32; `numpy.finfo` would warn in NumPy 1, because denormal numbers are flushed to zero here."""


def deslant(line: Line) -> Line:
    """The line with vertical strokes, scaled back to its original size.

    Raises:
        DataError: if the line has no pixels.
    """
    upright = rounded(shear(line, estimate_slant(line), paper=255))
    # Only the width has changed. Bilinear in steps of 1/2048, without antialiasing, like the paper's library.
    width, last = line.shape[1], upright.shape[1] - 1
    places = np.clip((np.arange(width) + 0.5) * (upright.shape[1] / width) - 0.5, 0, last)
    left = np.floor(places).astype(int)
    share = np.rint((places - left) * 2048) / 2048
    return rounded(upright[:, left] * (1 - share) + upright[:, np.minimum(left + 1, last)] * share)


def estimate_slant(line: Line) -> float:
    """The shear that makes the strokes of a line vertical, one of `SLANTS`; ties go to the smallest.

    Raises:
        DataError: if the line has no pixels.
    """
    if line.size == 0:
        raise DataError(f"cannot measure the slant of an empty line image of shape {line.shape}")
    paper = binarize(line)
    return max(SLANTS, key=lambda slant: uprightness(shear(paper, slant, paper=0) > 0))


def uprightness(paper: Booleans) -> int:
    """Sum of squared lengths of the columns whose paper is one unbroken run."""
    starts = paper[0].astype(int) + (paper[1:] & ~paper[:-1]).sum(axis=0)
    lengths = paper.sum(axis=0)
    return int(np.square(lengths[starts == 1]).sum())


def shear(image: NDArray[Any], slant: float, *, paper: float) -> NDArray[np.float32]:
    """Move row y right by slant * y, on a canvas wide enough for all rows; bilinear, with `paper` in empty places."""
    height, width = image.shape
    canvas = width + ceil(abs(slant) * height)
    shifts = slant * np.arange(height) + max(-slant * height, 0.0)
    whole = np.floor(shifts).astype(int)
    share = (shifts - whole).astype(np.float32)
    # Interpolate between two sheared copies of the line, one pixel apart, by the fraction of the shift.
    sheared = np.full((2, height, canvas + 2), paper, dtype=np.float32)
    columns = whole[:, None] + np.arange(width)
    rows = np.arange(height)[:, None]
    sheared[0, rows, columns] = image
    sheared[1, rows, columns + 1] = image
    mixed: NDArray[np.float32] = sheared[0] * (1 - share[:, None]) + sheared[1] * share[:, None]
    return mixed[:, :canvas]


def rounded(grays: NDArray[np.floating[Any]]) -> Line:
    """Round to whole gray levels, halves upwards."""
    line: Line = np.floor(grays + 0.5).astype(np.uint8)
    return line


def binarize(line: Line) -> Line:
    """Binarize to ink 0 and paper 255, with Otsu's threshold if that is dark, else with a local one."""
    threshold = otsu_threshold(line)
    is_paper = line > threshold if threshold < 127 else line >= local_threshold(line)
    return np.where(is_paper, np.uint8(255), np.uint8(0))


def otsu_threshold(line: Line) -> int:
    """The gray level that best separates the line into two classes: up to it, and above it."""
    counts = np.bincount(line.ravel(), minlength=256) / line.size
    below = counts.cumsum()
    mass = (counts * np.arange(256)).cumsum()
    with np.errstate(divide="ignore", invalid="ignore"):
        between = np.square(mass[-1] * below - mass) / (below * (1 - below))
    between[(below < EPSILON) | (below > 1 - EPSILON)] = 0
    return int(between.argmax())


def local_threshold(line: Line) -> Floats:
    """A variant of Sauvola's threshold in windows half as high as the line.

    Unlike Sauvola, it divides the deviation once more by the number of pixels, as the published code does.
    """
    size = max(1, line.shape[0] // 2)
    pixels = size**2
    mean = window_sums(line, size) / pixels
    deviation = np.sqrt((window_sums(np.square(line, dtype=np.float64), size) / pixels - mean**2 / pixels) / pixels)
    threshold: Floats = mean * (1 + 0.01 * (deviation / 127 - 1))
    threshold[mean < 100] = 0
    return threshold


def window_sums(values: NDArray[Any], size: int) -> Floats:
    """Sums over square windows around each pixel, zeros outside."""
    padded = np.pad(values.astype(np.float64), ((size // 2 + 1, size // 2), (size // 2 + 1, size // 2)))
    total = padded.cumsum(axis=0).cumsum(axis=1)
    sums: Floats = total[size:, size:] - total[:-size, size:] - total[size:, :-size] + total[:-size, :-size]
    return sums[: values.shape[0], : values.shape[1]]
