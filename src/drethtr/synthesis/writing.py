"""Write a text in a font with the irregularity of a hand: ink without paper.

Words are drawn one by one, then the whole line is warped, which varies slant, size, baseline and spacing smoothly. The
warp always maps all ink into the picture, so nothing is ever cut off.

The layout is the sheet of words before the warp; the picture is the result, `height` rows high. Columns and rows are
counted from the top left.
"""

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter
from PIL.ImageFont import FreeTypeFont

from drethtr.base.arrays import Floats, Ints
from drethtr.synthesis.fonts import Face, mask_of, open_font

Edges = list[tuple[float, float]]

MAX_X_HEIGHT = 0.42  # of the picture's height; only faces without ascenders would exceed it
MAX_SLANT = 25.0  # degrees of slant added to the face's own
BLUR = 1.1  # radius in pixels of the blur that thickens strokes
BLUR_SPREAD = ((2 * BLUR + 1) ** 2 / 12) ** 0.5  # its standard deviation


@dataclass(frozen=True, kw_only=True)
class Pen:
    """The irregularity of the hand.

    Standard deviations: `slant` in degrees, between lines; `wobble` in degrees, within a line; `stretch` of the width
    between lines and `spacing` within one, as logarithms. `drift` is the maximum variation of baseline and size,
    relative to the height. `gap` is the range of spaces between words (at least the face's own) and `stroke` that of
    stroke widths, relative to the x-height.
    """

    slant: float = 7.0
    wobble: float = 2.0
    stretch: float = 0.13
    spacing: float = 0.09
    drift: float = 0.1
    gap: tuple[float, float] = (0.6, 1.6)
    stroke: tuple[float, float] = (0.08, 0.22)


class PlacedWord(NamedTuple):
    """A word and the column of the layout where it starts."""

    text: str
    start: float


class SetLine(NamedTuple):
    """Words on a sheet: 255 is ink, `box` is around it (left, top, right, bottom), `baseline` is a row."""

    sheet: Image.Image
    words: tuple[PlacedWord, ...]
    box: tuple[int, int, int, int]
    baseline: int


class Warp(NamedTuple):
    """Columns of the picture (the knots), with the columns and rows of the layout that they show.

    They are given at the top and the bottom of the picture; columns also at the middle of low letters, the center of
    slant.
    """

    knots: Ints
    columns: Floats
    columns_top: Floats
    columns_bottom: Floats
    rows_top: Floats
    rows_bottom: Floats


class Writing(NamedTuple):
    """Ink (height, width), 255 where the pen was, and the data for locating its characters and its baseline."""

    ink: NDArray[np.uint8]
    words: tuple[PlacedWord, ...]
    font: FreeTypeFont
    warp: Warp
    shift: int
    foot: int

    @property
    def scale(self) -> float:
        """Pixels of the picture for one of the layout, in height."""
        return float(self.ink.shape[0] / np.mean(self.warp.rows_bottom - self.warp.rows_top))

    def baseline(self) -> Floats:
        """The line under the letters: (n, 2) points (x, y) in pixels of the picture, from end to end of the ink."""
        warp, (height, _) = self.warp, self.ink.shape
        rows = (self.foot - warp.rows_top) / (warp.rows_bottom - warp.rows_top) * height
        inked = np.flatnonzero(self.ink.any(0))
        first, last = (inked[0], inked[-1]) if inked.size else (0, self.ink.shape[1] - 1)
        knots = warp.knots + self.shift
        columns = np.array((first, *knots[(knots > first) & (knots < last)], last), dtype=np.float64)
        return np.stack((columns, np.interp(columns, knots, rows)), 1)

    def edges(self) -> Edges:
        """Left and right of every character, including spaces, in columns at the middle of low letters."""
        marks: list[float] = []
        for word in self.words:
            lengths = [self.font.getlength(word.text[:end]) for end in range(len(word.text) + 1)]
            marks += [word.start + length for length in np.maximum.accumulate(lengths)]
        columns = np.interp(marks, self.warp.columns, self.warp.knots) + self.shift
        columns = np.maximum.accumulate(columns.clip(0, self.ink.shape[1]))
        return list(zip(columns[:-1].tolist(), columns[1:].tolist(), strict=True))


def write(text: str, face: Face, pen: Pen, height: int, rng: np.random.Generator) -> Writing:
    """Write one or more words, separated by single spaces, `height` pixels high."""
    size = height * rng.uniform(0.7, 0.92) / (face.ascent + face.descent)
    # Below 8 pixels, FreeType draws nothing legible.
    size = max(8, round(min(size, MAX_X_HEIGHT * height / face.x_height)))
    font = open_font(face.path, size)
    layout = set_words(text, font, face, pen, rng)
    warp = draw_warp(layout, face, size, pen, height, rng)
    wanted, sharpness = rng.uniform(*pen.stroke) * face.x_height * size, rng.uniform(1.2, 2.8)
    picture = apply_warp(layout.sheet, warp, height)
    picture = thicken(picture, face.stroke * size, face.hairline * size, wanted, sharpness)
    ink, shift = cut_sides(picture, rng)
    return Writing(ink, layout.words, font, warp, shift, layout.baseline)


def set_words(text: str, font: FreeTypeFont, face: Face, pen: Pen, rng: np.random.Generator) -> SetLine:
    """Draw the words of a text side by side on a sheet that just contains them."""
    x_height = face.x_height * font.size
    low = max(x_height, 0.45 * face.ascent * font.size)  # faces with tiny letters have long strokes between them
    gap = max(rng.uniform(*pen.gap) * low, 0.9 * font.getlength(" "))
    words, stamps, start = list[PlacedWord](), list[tuple[int, int, Any]](), 0.0
    for word in text.split(" "):
        mask, (left, top) = mask_of(font, word)
        words.append(PlacedWord(word, round(start)))
        stamps.append((round(start) + int(left), int(top) + round(rng.normal(0, 0.04) * x_height), mask))
        start = round(start) + font.getlength(word) + gap * float(np.exp(rng.normal(0, 0.2)))

    # A word's ink may extend far beyond its advance, so the size of the sheet depends on the ink.
    first, above = min(left for left, _, _ in stamps) - 2, min(top for _, top, _ in stamps) - 2
    last, below = (max(stamp[i] + stamp[2].size[i] for stamp in stamps) + 2 for i in (0, 1))
    sheet = Image.new("L", (last - first, below - above))
    drawing = ImageDraw.Draw(sheet).draw
    for left, top, mask in stamps:
        drawing.draw_bitmap((left - first, top - above), mask, 255)
    shifted = tuple(PlacedWord(word, left - first) for word, left in words)
    return SetLine(sheet, shifted, sheet.getbbox() or (0, 0, *sheet.size), -above)


def draw_warp(layout: SetLine, face: Face, size: int, pen: Pen, height: int, rng: np.random.Generator) -> Warp:
    """Choose the mapping of the layout into the picture: all its ink, with room for missing tall and deep letters."""
    left, top, right, bottom = layout.box
    above = min(top, layout.baseline - rng.uniform(0.8, 1) * face.ascent * size)
    below = max(bottom, layout.baseline + rng.uniform(0.6, 1) * face.descent * size)
    margins = rng.uniform(0.03, 0.1, 2) * height
    drift = pen.drift * (below - above)
    scale = (height - margins.sum()) / (below - above + drift)

    across = scale * float(np.exp(rng.normal(0, pen.stretch)))
    reach = 0.4 * height / across  # of the steepest stroke, to either side
    # Knots are half a height apart, so that the hand varies between letters, not within one.
    step = max(4, height // 2)
    count = int((right - left + 2 * reach) * across / step) + 2
    knots = np.arange(count) * step
    covered = np.concatenate(([0.0], np.cumsum(np.exp(random_curve(count - 1, rng) * pen.spacing))))
    columns = left - reach + covered * (max(right - left + 2 * reach, (count - 1) * step / across) / covered[-1])

    rows_top = above - margins[0] / scale - drift * share(random_curve(count, rng))
    rows_bottom = below + margins[1] / scale + drift * share(random_curve(count, rng))
    middle = layout.baseline - face.x_height * size / 2
    slant = (rng.normal(0, pen.slant) + random_curve(count, rng) * pen.wobble).clip(-MAX_SLANT, MAX_SLANT)
    lean = np.tan(np.radians(slant))
    top_columns, bottom_columns = columns - lean * (middle - rows_top), columns + lean * (rows_bottom - middle)
    return Warp(knots, columns, top_columns, bottom_columns, rows_top, rows_bottom)


def random_curve(count: int, rng: np.random.Generator) -> Floats:
    """A smooth random curve of about unit variance."""
    noise = rng.standard_normal(count + 4)
    return np.convolve(noise, (0.2, 0.5, 0.65, 0.5, 0.2), mode="valid")


def share(curve: Floats) -> Floats:
    """A curve of unit variance mapped to 0 to 1."""
    return np.clip(0.5 + curve / 4, 0, 1)


def apply_warp(sheet: Image.Image, warp: Warp, height: int) -> Image.Image:
    """The picture of a sheet through a warp."""
    knots = warp.knots.tolist()
    tops = list(zip(warp.columns_top.tolist(), warp.rows_top.tolist(), strict=True))
    bottoms = list(zip(warp.columns_bottom.tolist(), warp.rows_bottom.tolist(), strict=True))
    mesh = [
        ((knots[k], 0, knots[k + 1], height), (*tops[k], *bottoms[k], *bottoms[k + 1], *tops[k + 1]))
        for k in range(len(knots) - 1)
    ]
    return sheet.transform((knots[-1], height), Image.Transform.MESH, mesh, Image.Resampling.BILINEAR)


def thicken(picture: Image.Image, stroke: float, hairline: float, wanted: float, sharpness: float) -> Image.Image:
    """Change strokes toward a wanted width, by blur and a threshold other than one half. Hairlines survive.

    The blur reaches about a pixel, so a stroke changes by about two pixels at most.
    """
    normal = NormalDist()
    level = 1 - normal.cdf(float(np.clip((wanted - stroke) / 2 / BLUR_SPREAD, -0.8, 1.2)))
    crest, faint = (2 * normal.cdf(width / 2 / BLUR_SPREAD) - 1 for width in (stroke, hairline))  # left by the blur
    level = min(level, 0.4 * crest, 0.65 * faint)
    values = (np.arange(256) / 255 - level) * sharpness / max(crest, 0.3) + 0.5
    table = (values.clip(0, 1) * 255).round().astype(int)
    table[: 1 + int(level * 64)] = 0  # no haze where there is no ink
    return picture.filter(ImageFilter.BoxBlur(BLUR)).point(table.tolist())


def cut_sides(picture: Image.Image, rng: np.random.Generator) -> tuple[NDArray[np.uint8], int]:
    """The ink with random margins left and right, and the number of columns by which it moved."""
    first, _, last, _ = picture.getbbox() or (0, 0, *picture.size)
    before, after = (int(rng.uniform(0.03, 0.35) * picture.height) for _ in range(2))
    cut = picture.crop((first - before, 0, last + after, picture.height))
    return np.asarray(cut), before - first
