"""From a line image to what the network sees: a fixed height, ink +1 and paper -1.

Prepared lines are float32 (height, columns) in [-1, 1].
"""

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from drethtr.base.errors import ConfigError, DataError
from drethtr.images.deslant import deslant
from drethtr.images.line import Line

Prepared: TypeAlias = NDArray[np.float32]

MAX_COLUMNS = 65536
"""No line of writing is a thousand times as long as high; a mistaken image could be, and would fill the memory."""

MAX_HEIGHT = 1024
"""Of a prepared line."""

MAX_ROWS = 4096
"""Of a line that is deslanted: that takes time and memory with the square of its height."""

BLANK_CONTRAST = 16
"""A line whose greys differ less than this is blank: stretching it would turn paper grain into writing."""


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """What is always done to a line before the network reads it; the defaults are the paper's, deslanting apart.

    height              rows of the prepared line
    stretch             columns for one column at the true aspect ratio; above 1 gives narrow writing more room
    deslant             shear the strokes upright first
    normalize_contrast  spread the greys so that ink is black and paper white first
    """

    height: int = 64
    stretch: float = 1.0
    deslant: bool = False
    normalize_contrast: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.height <= MAX_HEIGHT:
            raise ConfigError(f"preparation.height must be 1 to {MAX_HEIGHT:,}, not {self.height}")
        if not 0.1 <= self.stretch <= 10:
            raise ConfigError(f"preparation.stretch must be from 0.1 to 10, not {self.stretch}")

    def __call__(self, line: Line) -> Prepared:
        """Scale bilinearly with antialiasing, keeping the aspect ratio times `stretch`.

        Raises:
            DataError: if the line is empty, no (height, width) of uint8, too high, or too long for its height.
        """
        if line.ndim != 2 or line.dtype != np.uint8:
            raise DataError(f"expected a line image of uint8 (height, width), got {line.dtype} {line.shape}")
        columns = self.columns(line.shape[1], line.shape[0])
        if self.deslant:
            line = deslant(line)
        if self.normalize_contrast:
            line = spread_greys(line)
        scaled = Image.fromarray(line).resize((columns, self.height), Image.Resampling.BILINEAR)
        return 1 - np.asarray(scaled, dtype=np.float32) / np.float32(127.5)

    def at_width(self, width: float) -> "Preparation":
        """The same for lines that are to become so many times as wide.

        Raises:
            ConfigError: if they would be stretched too far.
        """
        return self if width == 1 else replace(self, stretch=self.stretch * width)

    def columns(self, width: int, height: int) -> int:
        """How many columns a line of width x height pixels gets, at least 1.

        Raises:
            DataError: if the line is empty, too high, or too long for its height.
        """
        if width < 1 or height < 1:
            raise DataError(f"cannot prepare an empty line image of {width} x {height} pixels")
        if self.deslant and height > MAX_ROWS:
            raise DataError(f"a line image of {width} x {height} pixels is higher than {MAX_ROWS:,}; scale it down")
        columns = max(1, int(width * self.height * self.stretch / height))
        if columns > MAX_COLUMNS:
            raise DataError(f"a line image of {width} x {height} pixels is too long for its height; is it one line?")
        return columns


def spread_greys(line: Line) -> Line:
    """Make ink black and paper white: linear between the line's 1st and 90th percentile; blank lines stay."""
    ink, paper = np.percentile(line, (1, 90))
    if paper - ink < BLANK_CONTRAST:
        return line
    spread: Line = np.rint(np.clip((np.arange(256) - ink) * (255 / (paper - ink)), 0, 255)).astype(np.uint8)
    return spread[line]
