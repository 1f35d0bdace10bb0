"""Points and boxes on a page: parse the coordinates of page files, and clip them to the page."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from drethtr.base.errors import DataError

Point: TypeAlias = tuple[int, int]
Points: TypeAlias = tuple[Point, ...]
"""A polygon, closed without repeating its first point, or a baseline in writing direction."""


class Box(NamedTuple):
    """An upright rectangle; `right` and `bottom` are exclusive."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        """Width in pixels."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """Height in pixels."""
        return self.bottom - self.top

    def polygon(self) -> Points:
        """The corners, clockwise from the top left one."""
        left, top, right, bottom = self
        return (left, top), (right, top), (right, bottom), (left, bottom)


def upright(point: Point, orientation: int, width: int, height: int) -> Point:
    """Convert a point of the stored pixels to the upright image.

    Args:
        orientation: The EXIF orientation, 1 to 8.
        width: Width of the stored pixels; likewise `height`.
    """
    x, y = point
    right, below = width - x, height - y
    places = ((x, y), (right, y), (right, below), (x, below), (y, x), (below, x), (below, right), (y, right))
    return places[orientation - 1]


def box_around(points: Iterable[Point]) -> Box | None:
    """The smallest box that contains all points; None if there are none."""
    xs, ys = [], []
    for x, y in points:
        xs.append(x)
        ys.append(y)
    return Box(min(xs), min(ys), max(xs), max(ys)) if xs else None


SEPARATORS = re.compile(r"[\s,;]+")
MAX_COORDINATE = 1_000_000  # beyond any image; areas and distances of such points stay exact in floats

MAX_CHARACTERS = 16 << 20
"""Maximum characters of points on a page: 10,000 lines with outlines of 180 points."""


@dataclass(frozen=True)
class PageScale:
    """The size of a page in pixels (0 if unknown), and the number of pixels per unit of the file.

    A coordinate or confidence that cannot be understood is left out, but never its line or page; it is noted in
    `oddities` with its place (for a list of points, only the first). The same holds for points after the first
    `MAX_CHARACTERS`, which `lengths` counts.
    """

    width: int
    height: int
    scale: float = 1.0
    oddities: list[str] = field(default_factory=list, compare=False)
    lengths: list[int] = field(default_factory=lambda: [0], compare=False)

    def points(self, text: str, place: str) -> Points:
        """Parse points, "x,y x,y" or "x y x y", scale them to pixels, and clip them to the page; none if one is odd."""
        self.lengths[0] += len(text)
        if self.lengths[0] > MAX_CHARACTERS:
            self.oddities.append(f"{place}: left out, as the points of the page are too many")
            return ()
        known = list[float]()
        for part in filter(None, SEPARATORS.split(text.strip())):
            if (number := self.number(part, place)) is None:
                return ()  # one note for all: there may be millions of them
            known.append(number)
        if len(known) % 2:
            self.oddities.append(f"{place}: {text[:60]!r} is not a list of coordinate pairs x,y x,y …")
            return ()
        return tuple(self.inside(x, y) for x, y in zip(known[::2], known[1::2], strict=True))

    def number(self, text: str, place: str) -> float | None:
        """Parse a coordinate or a length; None if it is odd."""
        return number_or_none(text, place, self.oddities)

    def confidence(self, text: str | None, place: str) -> float | None:
        """Parse a confidence, from 0 to 1; None if there is none, or it is odd."""
        value = self.number(text, place) if text else None
        return None if value is None else min(max(value, 0.0), 1.0)

    def inside(self, x: float, y: float) -> tuple[int, int]:
        """A point in pixels, clipped to the page."""
        right, bottom = self.width or MAX_COORDINATE, self.height or MAX_COORDINATE
        return min(max(round(x * self.scale), 0), right), min(max(round(y * self.scale), 0), bottom)


def number(text: str, name: str) -> float:
    """Parse a coordinate, a length or a confidence.

    Raises:
        DataError: if it is not a number.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not abs(value) <= MAX_COORDINATE:
        raise DataError(f"{text[:60]!r} is not a number from -{MAX_COORDINATE:,} to {MAX_COORDINATE:,}", name)
    return value


def number_or_none(text: str, place: str, oddities: list[str]) -> float | None:
    """Parse a number; None, with a note in `oddities`, if it is none."""
    try:
        return number(text, place)
    except DataError as error:
        oddities.append(str(error))
        return None


def polygon_or_none(points: Points) -> Points | None:
    """The polygon, or None if it is degenerate: empty, flat or entirely outside the page."""
    return points if twice_area(points) else None


def baseline_or_none(points: Points) -> Points | None:
    """The baseline, or None if it has no length."""
    return points if len(set(points)) > 1 else None


def twice_area(points: Points) -> int:
    """Twice the absolute signed area of a polygon."""
    return abs(sum(x * v - u * y for (x, y), (u, v) in zip(points, (*points[1:], *points[:1]), strict=True)))


def written(points: Points) -> str:
    """Format points as in PAGE, ALTO 4 and SVG."""
    return " ".join(f"{x},{y}" for x, y in points)


def flat_polygon(baseline: Points | None) -> Points:
    """A degenerate polygon along the baseline, for formats that require a polygon."""
    points = baseline or ((0, 0), (0, 0))
    return (*points, *points[-2::-1]) if len(points) > 1 else points * 2


def is_box(polygon: Points) -> bool:
    """Whether a polygon equals its bounding box, as made by `Box.polygon`."""
    box = box_around(polygon)
    return box is not None and polygon == box.polygon()
