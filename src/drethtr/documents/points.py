"""Points as files write them, and what is left of them on the page."""

import math
import re
from typing import NamedTuple

from drethtr.base.errors import DataError
from drethtr.documents.page import Points, box_around

SEPARATORS = re.compile(r"[\s,;]+")
LARGEST = 1_000_000


class Canvas(NamedTuple):
    """How large a page is in pixels (0 if unknown), and how many pixels a unit of the file is."""

    width: int
    height: int
    scale: float = 1.0

    def points(self, text: str, name: str) -> Points:
        """The points of "x,y x,y" or "x y x y", scaled to pixels, those beyond the page moved onto its edge.

        Raises:
            DataError: if the numbers are no pairs of coordinates; `name` says whose they are.
        """
        numbers = [number(part, name) for part in SEPARATORS.split(text.strip()) if part]
        if len(numbers) % 2:
            raise DataError(f"{name}: {text[:60]!r} are no pairs of coordinates; expected x,y x,y …")
        return tuple(self.inside(x, y) for x, y in zip(numbers[::2], numbers[1::2], strict=True))

    def inside(self, x: float, y: float) -> tuple[int, int]:
        """A point in pixels, on the page."""
        right, bottom = self.width or LARGEST, self.height or LARGEST
        return min(max(round(x * self.scale), 0), right), min(max(round(y * self.scale), 0), bottom)


def number(text: str, name: str) -> float:
    """A coordinate, a length or a confidence.

    Raises:
        DataError: if it is none.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not abs(value) <= LARGEST:
        raise DataError(f"{name}: {text[:60]!r} is no number from -{LARGEST:,} to {LARGEST:,}")
    return value


def polygon_or_none(points: Points) -> Points | None:
    """The points if they enclose anything: an empty, flat or wholly outlying polygon says nothing about a place."""
    return points if twice_area(points) else None


def baseline_or_none(points: Points) -> Points | None:
    """The points if they lead anywhere."""
    return points if len(set(points)) > 1 else None


def twice_area(points: Points) -> int:
    """Twice the sum of what a polygon encloses clockwise, less what it encloses counterclockwise; absolute."""
    return abs(sum(x * v - u * y for (x, y), (u, v) in zip(points, (*points[1:], *points[:1]), strict=True)))


def written(points: Points) -> str:
    """Points as PAGE, ALTO 4 and SVG take them."""
    return " ".join(f"{x},{y}" for x, y in points)


def flat_polygon(baseline: Points | None) -> Points:
    """A polygon for a format that wants one where none is known: there and back, so that it encloses nothing."""
    there = baseline or ((0, 0), (0, 0))
    return (*there, *there[-2::-1]) if len(there) > 1 else there * 2


def is_box(polygon: Points) -> bool:
    """Whether a polygon is its own bounding box, written as `Box.polygon` writes it."""
    box = box_around(polygon)
    return box is not None and polygon == box.polygon()
