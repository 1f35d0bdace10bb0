"""Random fields over a line, and displacement of pixels along them.

OpenCV computes them if it is installed, otherwise numpy. With OpenCV 5 the two agree to the gray level; OpenCV 4 rounds
positions to 1/32 pixel, which changes up to eight gray levels at sharp edges. Fields are float32 of the shape of the
line.
"""

from functools import cache
from math import ceil
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from drethtr.images.line import Line

Field: TypeAlias = NDArray[np.float32]

OPENCV_LIMIT = 32767
"""Maximum pixels per side for OpenCV's displacement."""


@cache
def opencv() -> Any:
    """OpenCV, imported when first used; None if it is not installed."""
    try:
        import cv2
    except ImportError:
        return None
    return cv2


def smooth_noise(shape: tuple[int, int], sigma: float, rng: np.random.Generator) -> Field:
    """Uniform noise in [0, 1), blurred by a Gaussian of `sigma` pixels."""
    return blur(rng.random(shape, dtype=np.float32), sigma)


def cloud(shape: tuple[int, int], cells: tuple[int, int], rng: np.random.Generator) -> Field:
    """Smooth noise in [0, 1]: uniform on a grid of `cells` (down, across), interpolated in between."""
    grid = Image.fromarray(rng.random(cells, dtype=np.float32))
    return np.asarray(grid.resize((shape[1], shape[0]), Image.Resampling.BILINEAR))


def multiscale_noise(shape: tuple[int, int], rng: np.random.Generator) -> Field:
    """The sum of four clouds with grains of 1 to 100 pixels, scaled to [0, 1] (the paper texture of the paper)."""
    total: Field = np.zeros(shape, dtype=np.float32)
    for grain in rng.integers(1, 101, 4):
        total = total + cloud(shape, (ceil(shape[0] / grain), ceil(shape[1] / grain)), rng)
    return spread(total, 0, 1)


def spread(field: Field, low: float, high: float) -> Field:
    """Scale so that the smallest value becomes `low` and the largest `high`; a constant becomes `low`."""
    least, most = field.min(), field.max()
    scaled: Field = (field - least) * np.float32((high - low) / max(most - least, 1e-9)) + np.float32(low)
    return scaled


def blur(field: Field, sigma: float) -> Field:
    """Gaussian blur with the field mirrored at its edges."""
    radius = ceil(3 * sigma)
    kernel = np.exp(-0.5 * np.square(np.arange(-radius, radius + 1) / sigma)).astype(np.float32)
    kernel /= kernel.sum()
    return blur_numpy(field, kernel) if opencv() is None else blur_opencv(field, kernel)


def blur_opencv(field: Field, kernel: Field) -> Field:
    """Convolve rows and columns with a kernel of odd length."""
    cv2 = opencv()
    return np.asarray(cv2.sepFilter2D(field, -1, kernel, kernel, borderType=cv2.BORDER_REFLECT), dtype=np.float32)


def blur_numpy(field: Field, kernel: Field) -> Field:
    """Convolve rows and columns with a kernel of odd length, without OpenCV."""
    radius = len(kernel) // 2
    for axis in (0, 1):
        padding = [(0, 0), (0, 0)]
        padding[axis] = (radius, radius)
        padded, length = np.pad(field, padding, mode="symmetric"), field.shape[axis]
        field = np.zeros_like(field)
        for offset, weight in enumerate(kernel):
            field += weight * (padded[offset : offset + length] if axis == 0 else padded[:, offset : offset + length])
    return field


def displace(line: Line, across: Field, down: Field) -> Line:
    """Give every pixel the gray `across` and `down` pixels away; bilinear, with the line mirrored at its edges."""
    rows, columns = (np.arange(length, dtype=np.float32) for length in line.shape)
    return sample(line, columns + across, rows[:, None] + down)


def sample(line: Line, x: Field, y: Field) -> Line:
    """The grays at positions (x, y), (rows, columns) each; bilinear, with the line mirrored at its edges."""
    if opencv() is None or max(*line.shape, *x.shape) >= OPENCV_LIMIT:
        return sample_numpy(line, x, y)
    return sample_opencv(line, x, y)


def sample_opencv(line: Line, x: Field, y: Field) -> Line:
    """The interpolated grays at positions (x, y)."""
    cv2 = opencv()
    return np.asarray(cv2.remap(line, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT), dtype=np.uint8)


def sample_numpy(line: Line, x: Field, y: Field) -> Line:
    """The interpolated grays at positions (x, y), without OpenCV."""
    left, top = np.floor(x).astype(np.intp), np.floor(y).astype(np.intp)
    x_share, y_share = x - left, y - top
    height, width = line.shape
    first, second = mirrored(left, width), mirrored(left + 1, width)
    upper, lower = mirrored(top, height), mirrored(top + 1, height)
    above = line[upper, first] * (1 - x_share) + line[upper, second] * x_share
    below = line[lower, first] * (1 - x_share) + line[lower, second] * x_share
    grays: Line = np.rint(above * (1 - y_share) + below * y_share).astype(np.uint8)
    return grays


def mirrored(places: NDArray[np.intp], length: int) -> NDArray[np.intp]:
    """Mirror positions outside 0..length-1 back inside."""
    folded = places % (2 * length)
    return np.minimum(folded, 2 * length - 1 - folded)
