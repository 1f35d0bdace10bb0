"""Random steps that change the shape of writing and its position in the strip.

New margins get the gray of the line's own paper; `white` ones are 255, as in the paper. Pixels refer to the line at its
own size. Source: paper, Sec. 5.3, for the first six.
"""

from dataclasses import dataclass
from math import atan, ceil, degrees, radians, sin
from typing import ClassVar

import numpy as np
from PIL import Image

from drethtr.images.fields import displace, smooth_noise, spread
from drethtr.images.line import Line
from drethtr.synthesis.random_step import RandomStep, ink_of, paper_gray


@dataclass(frozen=True, kw_only=True)
class PadVertically(RandomStep):
    """Add up to `share` of the height above, and again below."""

    share: float = 0.25
    white: bool = False

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        above, below = rng.integers(0, max(1, int(line.shape[0] * self.share)), 2)
        return np.pad(line, ((above, below), (0, 0)), constant_values=255 if self.white else paper_gray(line))


@dataclass(frozen=True, kw_only=True)
class PadHorizontally(RandomStep):
    """Add up to `share` of the height on the left, and again on the right."""

    share: float = 2.0
    white: bool = False

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        left, right = rng.integers(0, max(1, int(line.shape[0] * self.share)), 2)
        return np.pad(line, ((0, 0), (left, right)), constant_values=255 if self.white else paper_gray(line))


@dataclass(frozen=True)
class Shrink(RandomStep):
    """Scale taller lines down to `height`, so that pixels mean the same to later steps, whatever the resolution.

    It draws no random numbers, and leaves lower lines unchanged.
    """

    height: int = 64

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        height, width = line.shape
        if height <= self.height:
            return line
        size = (max(1, round(width * self.height / height)), self.height)
        return np.asarray(Image.fromarray(line).resize(size, Image.Resampling.BILINEAR))


@dataclass(frozen=True)
class Stretch(RandomStep):
    """Scale only the width."""

    scale: tuple[float, float] = (0.8, 1.2)

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        height, width = line.shape
        size = (max(1, round(width * rng.uniform(*self.scale))), height)
        return np.asarray(Image.fromarray(line).resize(size, Image.Resampling.BILINEAR))


@dataclass(frozen=True, kw_only=True)
class Thicken(RandomStep):
    """Dilate the ink: every pixel gets the darkest gray in a rectangle with sides drawn from `sides`, in pixels.

    `strength` is the share of the change that is applied.
    """

    above_zero: ClassVar[tuple[str, ...]] = ("sides",)
    sides: tuple[int, int] = (2, 4)
    strength: tuple[float, float] = (1.0, 1.0)

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        down, across = rng.integers(*self.sides, 2, endpoint=True)
        return mix(line, darkest(line, int(down), int(across)), rng.uniform(*self.strength))


@dataclass(frozen=True, kw_only=True)
class Thin(RandomStep):
    """Erode the ink: every pixel gets the lightest gray in a square of `side` pixels; `strength` as in `Thicken`."""

    side: int = 2
    strength: tuple[float, float] = (1.0, 1.0)

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        return mix(line, 255 - darkest(255 - line, self.side, self.side), rng.uniform(*self.strength))


@dataclass(frozen=True, kw_only=True)
class Elastic(RandomStep):
    """Displace every pixel by up to `pixels`, smoothly within about `sigma` pixels."""

    sigma: float = 2.0
    pixels: float = 3.0

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        moves = np.stack([smooth_noise(line.shape, self.sigma, rng) for _ in range(2)])
        return displace(line, *spread(moves, -self.pixels, self.pixels))


@dataclass(frozen=True)
class Slant(RandomStep):
    """Slant the writing left or right, by up to `most` pixels per pixel of height."""

    most: float = 0.35

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        height, width = line.shape
        slant = rng.uniform(-self.most, self.most)
        wider = width + ceil(abs(slant) * height)
        return transform(line, (wider, height), (1, slant, -max(slant, 0) * height, 0, 1, 0))


@dataclass(frozen=True, kw_only=True)
class Rotate(RandomStep):
    """Rotate by up to `most` degrees, moving neither end by more than `drift` of the height."""

    most: float = 2.0
    drift: float = 0.12

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        height, width = line.shape
        most = min(self.most, degrees(atan(2 * self.drift * height / width)))
        tilt = sin(radians(rng.uniform(-most, most)))
        # At such small angles the cosine is 1, and a rotation is a shear in both directions around the center.
        middle = (tilt * height / 2, -tilt * width / 2)
        return transform(line, (width, height), (1, -tilt, middle[0], tilt, 1, middle[1]))


@dataclass(frozen=True)
class Zoom(RandomStep):
    """Scale the writing and put it anywhere in the strip where all its rows fit."""

    above_zero: ClassVar[tuple[str, ...]] = ("scale",)
    scale: tuple[float, float] = (0.7, 1.15)

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        height, width = line.shape
        darkest_in_row = ink_of(line).max(axis=1)
        rows = np.flatnonzero(darkest_in_row > darkest_in_row.max() / 2)
        first, last = (int(rows[0]), int(rows[-1]) + 1) if rows.size else (0, height)
        scale = min(rng.uniform(*self.scale), height / (last - first))
        top = rng.random() * (height - scale * (last - first)) - scale * first
        return transform(line, (max(1, round(width * scale)), height), (1 / scale, 0, 0, 0, 1 / scale, -top / scale))


def transform(line: Line, size: tuple[int, int], coefficients: tuple[float, ...]) -> Line:
    """Fill an image of `size` (width, height) with the grays at (a x + b y + c, d x + e y + f), and paper outside."""
    moved = Image.fromarray(line).transform(
        size, Image.Transform.AFFINE, coefficients, Image.Resampling.BILINEAR, fillcolor=paper_gray(line)
    )
    return np.asarray(moved)


def mix(line: Line, changed: Line, strength: float) -> Line:
    """Interpolate between two lines by the given share."""
    if strength == 1:
        return changed
    share = round(strength * 256)
    mixed: Line = ((line.astype(np.uint16) * (256 - share) + changed.astype(np.uint16) * share) >> 8).astype(np.uint8)
    return mixed


def darkest(line: Line, down: int, across: int) -> Line:
    """The darkest gray in a rectangle around every pixel."""
    for axis, size in enumerate((down, across)):
        padding = [(0, 0), (0, 0)]
        padding[axis] = (size // 2, size - 1 - size // 2)
        padded, length = np.pad(line, padding, mode="edge"), line.shape[axis]
        for offset in range(size):
            line = np.minimum(
                line, padded[offset : offset + length] if axis == 0 else padded[:, offset : offset + length]
            )
    return line
