"""Preprocess a line image for the network: fixed height, ink +1 and paper -1; cut lines that are too long for it.

Prepared lines are float32 (height, columns) in [-1, 1].
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from drethtr.base.errors import ConfigError, DataError
from drethtr.images.deslant import deslant
from drethtr.images.line import Line

Prepared: TypeAlias = NDArray[np.float32]

MAX_COLUMNS = 65536
"""Maximum width: no line of writing is a thousand times wider than tall, but an image given by mistake could be."""

MAX_HEIGHT = 1024
"""Maximum height of a prepared line."""

MAX_ROWS = 4096
"""Maximum height of a line to deslant, which takes time and memory quadratic in the height."""

BLANK_CONTRAST = 16
"""A line with a smaller range of grays is blank: stretching its contrast would turn paper grain into writing."""

OVERLAP = 4.0
"""Overlap of neighboring pieces in line heights: room for a long word."""


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """The preprocessing of lines before the network; the defaults are the paper's, except for deslanting.

    height              rows of the prepared line
    stretch             horizontal scale relative to the true aspect ratio; above 1 gives narrow writing more room
    deslant             first shear the strokes to be vertical
    normalize_contrast  first spread the grays so that ink is black and paper white
    """

    # The paper's (Sec. 5.3). COMPACT sees 48 rows, 1.5 times as wide: 29.7 instead of 34.9 % CER after 2,500 lines
    # (LOG.md, 2026-11-23, evening). Lines of 64 rows gain 1.4 points there, but none in a long run, for a third more
    # time (LOG.md, 2026-11-24, later).
    height: int = 64
    stretch: float = 1.0
    deslant: bool = False
    normalize_contrast: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.height <= MAX_HEIGHT:
            raise ConfigError(f"height must be 1 to {MAX_HEIGHT:,}, not {self.height}")
        if not 0.1 <= self.stretch <= 10:
            raise ConfigError(f"stretch must be between 0.1 and 10, not {self.stretch}")

    def __call__(self, line: Line) -> Prepared:
        """What the network sees of a line.

        Raises:
            DataError: if the line is empty, not a (height, width) array of uint8, too tall, or too long for its height.
        """
        return self.scaled(self.upright(line))

    def upright(self, line: Line) -> Line:
        """The line with vertical strokes, if it is to be deslanted; training augments lines between this and `scaled`.

        Raises:
            DataError: as a call.
        """
        self.check(line)
        return deslant(line) if self.deslant else line

    def scaled(self, line: Line) -> Prepared:
        """Scale bilinearly with antialiasing, keeping the aspect ratio times `stretch`.

        Raises:
            DataError: as a call.
        """
        columns = self.check(line)
        if self.normalize_contrast:
            line = spread_grays(line)
        scaled = Image.fromarray(line).resize((columns, self.height), Image.Resampling.BILINEAR)
        return 1 - np.asarray(scaled, dtype=np.float32) / np.float32(127.5)

    def check(self, line: Line) -> int:
        """The number of columns of a line when it is prepared.

        Raises:
            DataError: as a call.
        """
        if line.ndim != 2 or line.dtype != np.uint8:
            raise DataError(f"expected a line image of uint8 (height, width), got {line.dtype} {line.shape}")
        return self.columns(line.shape[1], line.shape[0])

    def at_width(self, width: float) -> "Preparation":
        """The preprocessing for lines scaled to `width` times their usual width.

        Raises:
            ConfigError: if they would be stretched too far.
        """
        return self if width == 1 else replace(self, stretch=self.stretch * width)

    def columns(self, width: int, height: int) -> int:
        """The number of columns of a prepared line of width x height pixels, at least 1.

        Raises:
            DataError: if the line is empty, too tall, or too long for its height.
        """
        if width < 1 or height < 1:
            raise DataError(f"cannot prepare an empty line image of {width} x {height} pixels")
        if self.deslant and height > MAX_ROWS:
            raise DataError(f"a line image of {width} x {height} pixels is taller than {MAX_ROWS:,}; scale it down")
        columns = max(1, int(width * self.height * self.stretch / height))
        if columns > MAX_COLUMNS:
            raise DataError(f"a line image of {width} x {height} pixels is too long for its height; is it one line?")
        return columns


def spread_grays(line: Line) -> Line:
    """Make ink black and paper white: linear between the line's 1st and 90th percentile; blank lines stay."""
    # Ink covers more than a hundredth of a line and less than nine tenths of it; specks and spots of light do not.
    ink, paper = np.percentile(line, (1, 90))
    if paper - ink < BLANK_CONTRAST:
        return line
    spread: Line = np.rint(np.clip((np.arange(256) - ink) * (255 / (paper - ink)), 0, 255)).astype(np.uint8)
    return spread[line]


class Piece(NamedTuple):
    """Pixel columns `left` to `right` of a line; of its reading, the characters from `begin` to `end` are kept."""

    left: int
    right: int
    begin: float
    end: float

    def shares(self, left: float, right: float) -> bool:
        """Whether the middle of two columns is in its share."""
        return self.begin <= (left + right) / 2 < self.end


def cut(line: Line, longest: int) -> list[Piece]:
    """The fewest pieces of at most `longest` columns; their shares meet where the overlap of two has least ink."""
    height, width = line.shape
    if width <= longest:
        return [Piece(0, width, -np.inf, np.inf)]
    overlap = min(round(OVERLAP * height), longest // 2)
    # The fewest pieces, all of one size: a short last piece would be read with little context.
    number = -(-(width - overlap) // (longest - overlap))
    size = -(-(width + (number - 1) * overlap) // number)
    lefts = [min(i * (size - overlap), width - size) for i in range(number)]
    # A letter at the edge of a piece may be cut through and misread, so seams keep away from both ends.
    margin = min(height // 5, (overlap - 1) // 2)
    seams = [quietest(line, left + margin, before + size - margin) for before, left in pairwise(lefts)]
    edges = [-np.inf, *seams, np.inf]
    return [Piece(left, left + size, begin, end) for left, (begin, end) in zip(lefts, pairwise(edges), strict=True)]


def quietest(line: Line, left: int, right: int) -> float:
    """The column from `left` to `right` with the least ink around it; the middle one of ties."""
    # The ink of about one letter: a gap between words is quieter than the gap inside an m.
    window = max(1, line.shape[0] // 5)
    begin = max(left - window, 0)
    ink = (255 - line[:, begin : right + window].astype(np.float64)).sum(0)
    smooth = np.convolve(ink, np.ones(window), mode="same")[left - begin : right - begin]
    least = np.flatnonzero(smooth <= smooth.min() + 1e-9)
    return left + float(least[len(least) // 2])
