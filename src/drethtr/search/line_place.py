"""The place of a line on its page, for an index: a few points of its upper and lower edges, as bytes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from drethtr.base.errors import DataError
from drethtr.documents.points import Box

if TYPE_CHECKING:
    from drethtr.images.straighten import Strip

COLUMNS = (2, 3, 5, 9, 17, 33)
"""Numbers of columns to keep; more for curved lines."""

CLOSE = 2.0
"""Maximum error of the edges in pixels."""


@dataclass(frozen=True, eq=False)
class LinePlace:
    """A straightened line on its page.

    width  of the straightened line in pixels
    edges  int32 (K, 4), x and y of the upper and of the lower edge at K columns from the first to the last
    """

    width: int
    edges: NDArray[np.int32]

    @classmethod
    def of(cls, strip: "Strip") -> Self:
        """The place of a straightened line."""
        height, width = strip.line.shape
        upper = strip.places - strip.downs * strip.above
        lower = strip.places + strip.downs * (height - strip.above)
        edges = np.concatenate([upper, lower], axis=1)
        for columns in COLUMNS:
            at = np.linspace(0, width - 1, columns)
            kept = interpolated(np.arange(width), at, edges[at.round().astype(int)])
            if columns == COLUMNS[-1] or np.abs(kept - edges).max() <= CLOSE:
                break
        return cls(width, edges[at.round().astype(int)].round().astype(np.int32))

    def box(self, left: float, right: float) -> Box:
        """The bounding box on the page of some columns of the line."""
        last = self.width - 1
        inner = np.linspace(0, last, len(self.edges))
        at = np.clip([left, *inner[(left < inner) & (inner < right)], right], 0, last)
        corners = interpolated(at, inner, self.edges).reshape(-1, 2)
        least, most = np.floor(corners.min(0)).astype(int), np.ceil(corners.max(0)).astype(int)
        (x, y), (z, w) = np.maximum(least, 0).tolist(), np.maximum(most, 0).tolist()
        return Box(x, y, max(z, x + 1), max(w, y + 1))

    def to_bytes(self) -> bytes:
        """The place as bytes."""
        return np.concatenate([[self.width], self.edges.ravel()]).astype("<i4").tobytes()

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """The inverse of `to_bytes`.

        Raises:
            DataError: if it is damaged.
        """
        if len(content) < 36 or len(content) % 16 != 4:
            raise DataError("the place of a line is damaged")
        numbers = np.frombuffer(content, "<i4")
        return cls(max(int(numbers[0]), 2), numbers[1:].reshape(-1, 4))


def interpolated(at: NDArray[Any], known: NDArray[np.float64], values: NDArray[Any]) -> NDArray[np.float64]:
    """(N, 4) the values at some columns, from those (K, 4) at known ones."""
    return np.stack([np.interp(at, known, values[:, axis]) for axis in range(4)], axis=1)
