"""The interface of line segmentation.

    [first, *others] = RapidDetector().find(page)

`finders.py` lists the implementations and loads plugins.
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
    """A line segmentation: subclass it as a frozen dataclass of settings that is cheap to construct.

    whole  whether every image is one line, to be read without straightening or cropping
    """

    whole: ClassVar[bool] = False

    def find(self, page: Line) -> list[FoundLine]:
        """The lines of a gray page, uint8 (height, width), in any order; empty if there is no writing."""
        ...
