"""Cut a line out of a page and straighten it, without its neighbors.

The strip follows the baseline, the polygon masks the line, and the rest is filled with the tone of the paper. Positions
on a page are (x, y) in pixels from its top left corner.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from PIL import Image, ImageDraw

from drethtr.base.arrays import Booleans, Floats, Ints
from drethtr.base.errors import DataError
from drethtr.base.native import native
from drethtr.images.fields import sample
from drethtr.images.geometry import area_of, distances_along, length_of, points_at
from drethtr.images.line import Line

REACH = 0.97
"""The share of columns whose writing must fit the height of the strip; one long stroke must not enlarge it."""

MARGIN = 0.12
"""Paper left and right of the writing, relative to the height."""

MAX_SIDE = 60_000
"""Maximum columns of a strip; no page is wider."""

MAX_PIXELS = 25_000_000
"""Maximum pixels of a strip; no line takes more of a page."""

CORNERS = 1000
"""Maximum corners of a polygon used to find its extent."""


class Strip(NamedTuple):
    """A straightened line, and its position on the page.

    line     uint8 (height, width)
    places   (width, 2), the point of the baseline below each column
    downs    (width, 2), unit vectors pointing down from the baseline
    above    rows above the baseline
    ends     the columns between which the line lies; the rest is a margin
    """

    line: Line
    places: Floats
    downs: Floats
    above: int
    ends: tuple[int, int]

    def outline(self, left: float, right: float) -> list[tuple[float, float]]:
        """The polygon on the page of the columns from `left` to `right`, clockwise, without margins."""
        columns = np.array(
            sorted(set(np.clip([left, *np.arange(np.ceil(left), right, 32), right], *self.ends).tolist()))
        )
        at = np.arange(len(self.places), dtype=np.float64)
        places, downs = points_at(columns, at, self.places), points_at(columns, at, self.downs)
        top, bottom = places - downs * self.above, places + downs * (self.line.shape[0] - self.above)
        return [(float(x), float(y)) for x, y in (*top, *bottom[::-1])]


def straighten(page: Line, baseline: ArrayLike, polygon: ArrayLike) -> Strip:
    """Straighten the line along `baseline`, from its first point to its last, inside `polygon`.

    Args:
        page: uint8 (height, width).
        baseline: At least two points (x, y) in reading direction; upright writing lies to the left of that direction
            on the paper, so a line that runs downward or backward is rotated.
        polygon: At least three points (x, y) around all ink of the line. Both may extend beyond the page.

    Raises:
        DataError: if the baseline has no length, the polygon no area, or they lie outside the page or are too large.
    """
    outline = np.asarray(polygon, dtype=np.float64).reshape(-1, 2)
    path = np.asarray(baseline, dtype=np.float64).reshape(-1, 2)
    if len(outline) < 3 or len(path) < 2 or not (np.isfinite(outline).all() and np.isfinite(path).all()):
        raise DataError("a line needs a baseline of at least two points and a polygon of at least three")
    places, downs = follow(path, outline)
    above, below = extent(outline, places, downs)
    if len(places) * (above + below) > MAX_PIXELS:
        raise DataError(f"a strip of {len(places):,} x {above + below:,} pixels is larger than any line")
    # Only ink inside the outline belongs to the line; neighbors in the same strip become paper.
    mask = inside(outline, places, downs, above, below, page.shape)
    if not mask.any():
        raise DataError("the line lies outside the page, or its polygon is empty")
    top, bottom, left, right = bounds(mask)
    window = slice(top, bottom), slice(left, right)
    x, y = positions(places[left:right], downs[left:right], above - top, bottom - above)
    # Positions are relative to the edge of the page, samples to the center of its first pixel.
    grays = sample(page, x.astype(np.float32) - 0.5, y.astype(np.float32) - 0.5)
    line = fill(grays, mask[window])
    inner = np.flatnonzero(mask[window].any(0))
    return Strip(line, places[left:right], downs[left:right], above - top, (int(inner[0]), int(inner[-1]) + 1))


def follow(path: Floats, outline: Floats) -> tuple[Floats, Floats]:
    """Sample the baseline at intervals of one pixel, within the outline, with the direction down at each point."""
    steps = np.hypot(*np.diff(path, axis=0).T)
    path = path[np.concatenate(([True], steps > 0))]
    if len(path) < 2:
        raise DataError("the baseline has no length")
    height = typical_height(path, outline)
    along = distances_along(path)
    first, last = path[1] - path[0], path[-1] - path[-2]
    # Drawn baselines often end inside the first or last letter. They are extended past the whole outline, with some
    # paper, but no more than four heights beyond their own length: an outline farther away is a mistake.
    before = max(0.0, -float(((outline - path[0]) @ first).min()) / np.hypot(*first)) + MARGIN * height
    after = max(0.0, float(((outline - path[-1]) @ last).max()) / np.hypot(*last)) + MARGIN * height
    before, after = min(before, along[-1] + 4 * height), min(after, along[-1] + 4 * height)
    path = np.vstack((path[0] - first / np.hypot(*first) * before, path, path[-1] + last / np.hypot(*last) * after))
    along = distances_along(path)
    if along[-1] > MAX_SIDE:
        raise DataError(f"a baseline of {along[-1]:,.0f} pixels is longer than any page")
    number = max(2, round(along[-1]))
    # The middle of each pixel, not its edge: half a pixel more or less would move every letter.
    at = (np.arange(number) + 0.5) * along[-1] / number
    # Baselines are polygons with corners, which would kink the letters; writing bends over about a line height.
    places = np.stack([smooth(np.interp(at, along, path[:, axis]), height) for axis in (0, 1)], axis=1)
    ahead = np.gradient(places, axis=0)
    # Directions are smoothed more than places: where they turn quickly, neighboring columns cross above or below the
    # baseline, and writing there is doubled or lost.
    ahead = np.stack([smooth(ahead[:, axis], 2 * height) for axis in (0, 1)], axis=1)
    ahead /= np.maximum(np.hypot(*ahead.T), 1e-9)[:, None]
    return places, np.stack((-ahead[:, 1], ahead[:, 0]), axis=1)


def typical_height(path: Floats, outline: Floats) -> float:
    """The approximate height of a line: area over length."""
    area = area_of(outline)
    length = max(length_of(path), float(np.ptp(outline, axis=0).max()), 1.0)
    if area < 1:
        raise DataError("the polygon of the line has no area")
    return max(area / length, 2.0)


def smooth(values: Floats, window: float) -> Floats:
    """A moving average that extrapolates the curve beyond its ends."""
    half = min(round(window / 2), (len(values) - 1) // 2)
    if half < 1:
        return values
    # Mirrored about the ends: the average of a straight line is then straight up to its ends.
    before, after = 2 * values[0] - values[half:0:-1], 2 * values[-1] - values[-2 : -half - 2 : -1]
    sums = np.cumsum(np.concatenate(([0.0], before, values, after)))
    averages: Floats = (sums[2 * half + 1 :] - sums[: -2 * half - 1]) / (2 * half + 1)
    return averages


def extent(outline: Floats, places: Floats, downs: Floats) -> tuple[int, int]:
    """Maximum rows of the outline above and below the baseline."""
    outline = outline[:: len(outline) // CORNERS + 1]
    some = np.arange(0, len(places), 4)
    near = some[nearest(outline, places[some])]
    depths = ((outline - places[near]) * downs[near]).sum(1)
    # A corner of the outline far from the baseline must not make the strip many times higher than the writing.
    limit = 4 * typical_height(places, outline)
    above = np.ceil(np.clip(-depths.min(), 1, limit))
    below = np.ceil(np.clip(depths.max(), 1, limit))
    return int(above), int(below)


def nearest(points: Floats, others: Floats) -> Ints:
    """For each point, the number of the nearest of some others."""
    if native is None:
        return nearest_in_python(points, others)
    places = np.empty(len(points), dtype=np.int64)
    native.nearest(np.ascontiguousarray(points), np.ascontiguousarray(others), places)
    return places


def nearest_in_python(points: Floats, others: Floats) -> Ints:
    """The definition of `nearest`."""
    away = points[:, None] - others
    places: Ints = np.square(away).sum(2).argmin(1)
    return places


def positions(places: Floats, downs: Floats, above: int, below: int) -> tuple[Floats, Floats]:
    """The position on the page of each place in a strip: x (above + below, width), and y."""
    rows = np.arange(-above, below)[:, None] + 0.5
    return places[:, 0] + rows * downs[:, 0], places[:, 1] + rows * downs[:, 1]


def inside(outline: Floats, places: Floats, downs: Floats, above: int, below: int, shape: Sequence[int]) -> Booleans:
    """Which `positions` are inside the outline and on the page."""
    left, top = (max(0, int(np.floor(least))) for least in outline.min(0))
    right, bottom = (min(int(np.ceil(most)), size) for most, size in zip(outline.max(0), shape[::-1], strict=True))
    if right <= left or bottom <= top:
        return np.zeros((above + below, len(places)), dtype=np.bool_)
    drawn = Image.new("1", (right - left, bottom - top))
    corners = [(float(a) - left - 0.5, float(b) - top - 0.5) for a, b in outline]
    ImageDraw.Draw(drawn).polygon(corners, fill=1, outline=1)
    # A border stands for everything outside the table.
    table = np.pad(np.asarray(drawn), 1)
    if native is None:
        return covered_in_python(table, left, top, *positions(places, downs, above, below))
    mask = np.empty((above + below, len(places)), dtype=np.bool_)
    native.covered(
        table, table.shape[1], left, top, np.ascontiguousarray(places), np.ascontiguousarray(downs), above, mask
    )
    return mask


def covered_in_python(table: Booleans, left: int, top: int, x: Floats, y: Floats) -> Booleans:
    """Which positions are set in a table whose second column and row begin at `left` and `top` of the page."""
    column, row = (
        np.clip(np.floor(places - first + 1), 0, size - 1).astype(np.intp)
        for places, first, size in ((x, left, table.shape[1]), (y, top, table.shape[0]))
    )
    found: Booleans = table[row, column]
    return found


def bounds(mask: Booleans) -> tuple[int, int, int, int]:
    """Top, bottom, left and right of the result: nearly all of the mask, with some paper at both ends."""
    columns = np.flatnonzero(mask.any(0))
    heads = mask.argmax(0)[columns]
    feet = mask.shape[0] - mask[::-1].argmax(0)[columns]
    # By quantiles, since one long stroke would shrink all other letters when the line is scaled to its height.
    top, bottom = int(np.quantile(heads, 1 - REACH)), int(np.ceil(np.quantile(feet, REACH)))
    margin = round(MARGIN * (bottom - top))
    return top, bottom, max(0, int(columns[0]) - margin), min(mask.shape[1], int(columns[-1]) + 1 + margin)


def fill(grays: Line, mask: Booleans) -> Line:
    """The grays inside the mask; outside, the tone of the paper nearby, which may vary along the line."""
    height, width = grays.shape
    parts = np.array_split(np.arange(width), max(1, width // (2 * height)))
    middles = [float(part.mean()) for part in parts]
    # Ink covers less than half of the outline of a line, so that the 0.6 quantile is paper. Pieces that show less than
    # a column's worth of it take the tone of the whole line.
    shown = [grays[:, part][mask[:, part]] for part in parts]
    enough = [some.size > height for some in shown]
    whole = 0.0 if all(enough) else float(np.quantile(grays[mask], 0.6))
    tones = [float(np.quantile(some, 0.6)) if fits else whole for some, fits in zip(shown, enough, strict=True)]
    paper = np.rint(np.interp(np.arange(width), middles, tones)).astype(np.uint8)
    filled: Line = np.where(mask, grays, paper)
    return filled
