"""Random steps for the effects of ink, paper, camera and file. Grays are shares of white: 0 black, 1 white."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from drethtr.images.fields import blur, cloud, multiscale_noise
from drethtr.images.line import Line
from drethtr.synthesis.random_step import RandomStep, ink_of, lay_ink, paper_gray

MAX_JPEG = 65_500
"""Maximum width and height of a JPEG that libjpeg writes."""


@dataclass(frozen=True, kw_only=True)
class BackgroundNoise(RandomStep):
    """Replace flat paper and flat ink by textures with these ranges of grays (paper, Sec. 5.3).

    The defaults are the grays of the paper's formula. Its second ink texture, fibers, is omitted, since fibers are
    invisible inside a stroke.
    """

    paper: tuple[float, float] = (0.8, 1.0)
    ink: tuple[float, float] = (0.0, 0.4)

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        lightest = max(1.0, float(line.max()))
        paper_share = blur(line.astype(np.float32), 1.0) / lightest
        paper, ink = (low + (high - low) * multiscale_noise(line.shape, rng) for low, high in (self.paper, self.ink))
        noisy: Line = (255 * (ink + paper_share * (paper - ink))).clip(0, 255).astype(np.uint8)
        return noisy


@dataclass(frozen=True, kw_only=True)
class FadeInk(RandomStep):
    """Let the pen run dry in places: keep between `least` and all of the ink, varying along the line."""

    least: float = 0.45

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        cells = (3, max(2, 3 * line.shape[1] // line.shape[0]))
        kept = np.float32(self.least) + np.float32(1 - self.least) * cloud(line.shape, cells, rng)
        faded: Line = line + (ink_of(line) * (1 - kept)).astype(np.uint8)
        return faded


@dataclass(frozen=True, kw_only=True)
class Tone(RandomStep):
    """Change gamma, then map white to `paper` and raise black by `ink` of the remaining range."""

    gamma: tuple[float, float] = (0.7, 1.6)
    paper: tuple[float, float] = (0.65, 1.0)
    ink: tuple[float, float] = (0.0, 0.35)

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        gamma, white, black = (rng.uniform(*span) for span in (self.gamma, self.paper, self.ink))
        grays = (np.arange(256) / 255) ** gamma
        table: Line = np.rint(255 * white * (black + (1 - black) * grays)).astype(np.uint8)
        return table[line]


@dataclass(frozen=True, kw_only=True)
class UnevenLight(RandomStep):
    """Shade the line smoothly, down to `darkest` of its brightness."""

    darkest: float = 0.65

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        light = 1 - np.float32(1 - self.darkest) * cloud(line.shape, (2, 5), rng)
        shaded: Line = (line * light).astype(np.uint8)
        return shaded


@dataclass(frozen=True, kw_only=True)
class Grain(RandomStep):
    """Add independent noise to every pixel, with an amplitude in gray levels drawn from `levels`."""

    levels: tuple[int, int] = (4, 20)

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        level = int(rng.integers(*self.levels, endpoint=True))
        noise = rng.integers(-level, level, line.shape, dtype=np.int16, endpoint=True)
        return (line + noise).clip(0, 255).astype(np.uint8)


@dataclass(frozen=True, kw_only=True)
class Blur(RandomStep):
    """Apply a Gaussian blur with a radius drawn from a range, relative to the height."""

    radius: tuple[float, float] = (0.005, 0.018)

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        radius = line.shape[0] * rng.uniform(*self.radius)
        return np.asarray(Image.fromarray(line).filter(ImageFilter.GaussianBlur(radius)))


@dataclass(frozen=True, kw_only=True)
class JpegCompression(RandomStep):
    """Compress as JPEG and decode again; a line that is too wide for that stays as it is."""

    quality: tuple[int, int] = (15, 70)

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        if max(line.shape) > MAX_JPEG:
            return line
        file = BytesIO()
        Image.fromarray(line).save(file, "JPEG", quality=int(rng.integers(*self.quality, endpoint=True)))
        with Image.open(file) as image:
            return np.asarray(image)


@dataclass(frozen=True, kw_only=True)
class DropInk(RandomStep):
    """Cover up to `most` small spots with paper, each with sides up to `share` of the height."""

    most: int = 4
    share: float = 0.14

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        height, width = line.shape
        line, paper = line.copy(), paper_gray(line)
        for _ in range(rng.integers(1, self.most, endpoint=True)):
            top, left = rng.integers(height), rng.integers(width)
            down, across = rng.integers(1, max(1, int(height * self.share)), 2, endpoint=True)
            line[top : top + down, left : left + across] = paper
        return line


@dataclass(frozen=True, kw_only=True)
class RuleLines(RandomStep):
    """Draw one or two lines of ruled paper: sloping, lighter or darker, near the foot of the writing.

    `ink` is how much the rules darken the paper, in gray levels.
    """

    ink: tuple[int, int] = (20, 110)

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        height, width = line.shape
        ink = int(rng.integers(*self.ink, endpoint=True))
        thickness = max(1, round(height * rng.uniform(0.01, 0.035)))
        foot = height * rng.uniform(0.55, 0.95)
        slope = min(height * 0.08, width * 0.01) * rng.uniform(-1, 1)
        feet = (foot, foot - height * rng.uniform(0.5, 0.9))
        return ruled(line, [(0, y - slope, width, y + slope) for y in feet], ink, thickness)


@dataclass(frozen=True, kw_only=True)
class TableBorders(RandomStep):
    """Draw vertical rules near the left end, the right end or both, as around a table cell."""

    ink: tuple[int, int] = (40, 180)

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        height, width = line.shape
        ink = int(rng.integers(*self.ink, endpoint=True))
        thickness = max(1, round(height * rng.uniform(0.01, 0.04)))
        inset, lean = height * rng.uniform(0, 0.08), height * rng.uniform(-0.04, 0.04)
        ends = ((inset,), (width - 1 - inset,), (inset, width - 1 - inset))[rng.integers(3)]
        return ruled(line, [(x, 0, min(max(x + lean, 0), width - 1), height) for x in ends], ink, thickness)


def ruled(line: Line, rules: Sequence[tuple[float, float, float, float]], ink: int, thickness: int) -> Line:
    """The line with straight rules from (x, y) to (x, y) that darken it by `ink`."""
    sheet = Image.new("L", line.shape[::-1])
    pen = ImageDraw.Draw(sheet)
    for rule in rules:
        pen.line(rule, fill=ink, width=thickness)
    return lay_ink(line, np.asarray(sheet))


@dataclass(frozen=True, kw_only=True)
class NeighborLines(RandomStep):
    """Let the lines above and below reach up to `share` of the height into the strip.

    The line itself, shifted sideways, serves as its neighbors, since they have the same hand and ink.
    """

    share: float = 0.18

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        height, width = line.shape
        ink = ink_of(line)
        darkest_in_row = ink.max(axis=1)
        rows = np.flatnonzero(darkest_in_row > darkest_in_row.max() / 2)
        if not rows.size:
            return line
        above, below = rng.integers(0, int(height * self.share), 2, endpoint=True)
        neighbors = np.zeros_like(ink)
        feet = ink[: rows[-1] + 1][-above:] if above else ink[:0]
        heads = ink[rows[0] :][:below]
        neighbors[: len(feet)] = np.roll(feet, rng.integers(width), axis=1)
        neighbors[height - len(heads) :] = np.roll(heads, rng.integers(width), axis=1)
        return lay_ink(line, neighbors)


@dataclass(frozen=True, kw_only=True)
class BleedThrough(RandomStep):
    """Let the other side of the sheet shine through: the line itself, mirrored, shifted, blurred and faint."""

    strength: tuple[float, float] = (0.1, 0.35)

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        height, width = line.shape
        strength = rng.uniform(*self.strength)
        back = (ink_of(line)[:, ::-1] * strength).astype(np.uint8)
        back = np.roll(back, (rng.integers(-height // 3, height // 3 + 1), rng.integers(width)), axis=(0, 1))
        return lay_ink(line, np.asarray(Image.fromarray(back).filter(ImageFilter.GaussianBlur(height / 80))))
