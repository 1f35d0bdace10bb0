"""Random steps for other content of the page that reaches into the strip of a line."""

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from drethtr.images.line import Line
from drethtr.synthesis.random_step import RandomStep, ink_of, lay_ink


@dataclass(frozen=True, kw_only=True)
class RuleLines(RandomStep):
    """Draw one or two lines of ruled paper: sloping, lighter or darker, near the foot of the writing.

    `ink` is how much the rules darken the paper, in gray levels.
    """

    ink: tuple[int, int] = (20, 110)

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        height, width = line.shape
        sheet = Image.new("L", (width, height))
        pen = ImageDraw.Draw(sheet)
        ink = int(rng.integers(*self.ink, endpoint=True))
        thickness = max(1, round(height * rng.uniform(0.01, 0.035)))
        foot = height * rng.uniform(0.55, 0.95)
        slope = min(height * 0.08, width * 0.01) * rng.uniform(-1, 1)
        for y in (foot, foot - height * rng.uniform(0.5, 0.9)):
            pen.line((0, y - slope, width, y + slope), fill=ink, width=thickness)
        return lay_ink(line, np.asarray(sheet))


@dataclass(frozen=True, kw_only=True)
class TableBorders(RandomStep):
    """Draw vertical rules near the left end, the right end or both, as around a table cell."""

    ink: tuple[int, int] = (40, 180)

    def __call__(self, line: Line, rng: np.random.Generator) -> Line:
        height, width = line.shape
        sheet = Image.new("L", (width, height))
        pen = ImageDraw.Draw(sheet)
        ink = int(rng.integers(*self.ink, endpoint=True))
        thickness = max(1, round(height * rng.uniform(0.01, 0.04)))
        inset, lean = height * rng.uniform(0, 0.08), height * rng.uniform(-0.04, 0.04)
        ends = ((inset,), (width - 1 - inset,), (inset, width - 1 - inset))[rng.integers(3)]
        for x in ends:
            pen.line((x, 0, min(max(x + lean, 0), width - 1), height), fill=ink, width=thickness)
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
