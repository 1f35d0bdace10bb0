"""Finding the lines of a page: what a finder takes, and what it returns.

    [first, *others] = RapidDetector().find(page)

Which there are, and how others plug in, is in `finders.py`.
"""

from typing import ClassVar, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from drethtr.images.line import Line

Floats: TypeAlias = NDArray[np.float64]


class FoundLine(NamedTuple):
    """A line on a page: (n, 2) points (x, y) in pixels of the page, the baseline in reading direction."""

    baseline: Floats
    polygon: Floats


@runtime_checkable
class Finder(Protocol):
    """Finds lines; a frozen dataclass of its settings, cheap to build, that inherits from this.

    whole  whether every image is one line, and read as it is: neither straightened nor cut
    """

    whole: ClassVar[bool] = False

    def find(self, page: Line) -> list[FoundLine]:
        """The lines of a grey page, uint8 (height, width), in any order; none if there is no writing."""
        ...
