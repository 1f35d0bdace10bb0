"""Compute the outline of a line: between its ink and that of its neighbors.

The border between two lines follows the white space between them, around strokes that reach across (a seam: the path of
least ink from one end of the line to the other). This is done on a reduced image in which the x-height is `CORE`
pixels: strokes are whole there and paths short.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from drethtr.base.arrays import Booleans, Floats, Ints
from drethtr.base.native import native
from drethtr.images.fields import sample
from drethtr.images.line import Line
from drethtr.layout.finder import FoundLine
from drethtr.layout.ridge import Ridge

# All but `CORE` and `BLOCK` are in thicknesses of a line's core, about its x-height, since strokes grow with it. None
# was varied alone: how many characters of their lines the outlines contain is measured with all of them (`characters`
# of `drethtr evaluate --layout`, 99.1 % on 62 pages on which nothing was chosen; LOG.md, 2026-11-27).

CORE = 8.0
"""The x-height on the reduced image, in pixels."""

ABOVE, BELOW = 2.3, 1.9
"""Maximum extent of a line above and below its middle, in thicknesses."""

USUAL_ABOVE, USUAL_BELOW = 1.7, 1.4
"""Extent of a line where nothing limits it, in thicknesses."""

REACH = 2.5
"""Maximum extension of a line beyond the ends of its ridge, in thicknesses."""

PULL = 4.0
"""Cost of moving a border one thickness from its usual position, in gray levels of ink.

Low compared with ink, so that a seam goes around a descender rather than through it; above 0, since white paper alone
would not determine the border."""

BLOCK = 16
"""Window for the background tone, in pixels of the reduced image."""


class Around(NamedTuple):
    """The straightened surroundings of a line: rows from `ABOVE` to `BELOW`, columns `REACH` beyond both ends.

    ink      (rows, columns), darkness
    blocked  (rows, columns), pixels of other lines
    x, y     (columns,), the middle of the line on the reduced image
    middle   the row of the middle
    ends     first column of the ridge, and the one after its last
    """

    ink: Floats
    blocked: Booleans
    x: Floats
    y: Floats
    middle: int
    ends: tuple[int, int]


def outline(page: Line, ridges: Sequence[Ridge], scale: float) -> list[FoundLine]:
    """Lines from ridges.

    Args:
        page: uint8 (height, width).
        ridges: In pixels of an image that is `scale` times as large as the page.
    """
    if not ridges:
        return []
    thickness = float(np.median([ridge.thickness for ridge in ridges]))
    factor = min(1.0, CORE * scale / thickness)
    ink = ink_of(reduced(page, factor, Image.Resampling.BOX))
    ridges = [rescale(ridge, factor / scale) for ridge in ridges]
    owners = territories(ridges, ink.shape)
    return [line_of(surround(ridge, number, ink, owners), ridge, factor) for number, ridge in enumerate(ridges)]


def reduced(page: Line, scale: float, by: Image.Resampling) -> Line:
    """The page at `scale` times its size."""
    height, width = (max(1, round(length * scale)) for length in page.shape)
    return np.asarray(Image.fromarray(page).resize((width, height), by))


def ink_of(picture: Line) -> Line:
    """The absolute difference of every pixel from the background around it."""
    height, width = picture.shape
    rows, columns = -(-height // BLOCK), -(-width // BLOCK)
    padded = np.pad(picture, ((0, rows * BLOCK - height), (0, columns * BLOCK - width)), mode="edge")
    blocks = padded.reshape(rows, BLOCK, columns, BLOCK).swapaxes(1, 2).reshape(rows, columns, -1)
    tones = Image.fromarray(np.median(blocks, axis=2).astype(np.float32))
    paper = np.asarray(tones.resize((columns * BLOCK, rows * BLOCK), Image.Resampling.BILINEAR))[:height, :width]
    ink: Line = np.abs(picture - paper).clip(0, 255).astype(np.uint8)
    return ink


def rescale(ridge: Ridge, factor: float) -> Ridge:
    """A ridge scaled to an image that is `factor` times as large."""
    left = round(ridge.left * factor)
    columns = np.arange(max(2, round(len(ridge.middle) * factor)))
    rows = np.interp(columns, np.arange(len(ridge.middle)) * factor, ridge.middle * factor)
    return Ridge(left, rows, max(1.0, ridge.thickness * factor))


def territories(ridges: Sequence[Ridge], shape: Sequence[int]) -> NDArray[np.int32]:
    """The number of the line whose core contains each pixel, from 1; 0 for none."""
    owners = np.zeros(shape, dtype=np.int32)
    for number, ridge in enumerate(ridges, start=1):
        columns = np.arange(ridge.left, ridge.right)
        for offset in np.arange(-round(0.3 * ridge.thickness), round(0.3 * ridge.thickness) + 1):
            rows = np.rint(ridge.middle + offset).astype(np.intp)
            here = (rows >= 0) & (rows < shape[0]) & (columns >= 0) & (columns < shape[1])
            owners[rows[here], columns[here]] = number
    return owners


def surround(ridge: Ridge, number: int, ink: Line, owners: NDArray[np.int32]) -> Around:
    """The surroundings of a ridge."""
    more = round(REACH * ridge.thickness)
    slope = ridge.slope()
    first, last = np.arange(-more, 0), np.arange(1, more + 1)
    y = np.concatenate((ridge.middle[0] + slope * first, ridge.middle, ridge.middle[-1] + slope * last))
    x = np.arange(ridge.left - more, ridge.right + more, dtype=np.float64)
    up, down = round(ABOVE * ridge.thickness), round(BELOW * ridge.thickness)
    rows = np.arange(-up, down + 1)[:, None]
    # Perpendicular to the line, not vertical: at ten degrees the two differ by a sixth.
    across = rows * np.ones_like(x)
    columns, places = x - slope * across, y + across
    height, width = ink.shape
    column, row = np.rint(columns).astype(np.intp), np.rint(places).astype(np.intp)
    outside = (column < 0) | (row < 0) | (column >= width) | (row >= height)
    grays = sample(ink, columns.astype(np.float32), places.astype(np.float32)).astype(np.float64)
    owner = owners[row.clip(0, height - 1), column.clip(0, width - 1)]
    blocked = outside | ((owner != 0) & (owner != number + 1))
    grays[outside] = 0
    return Around(grays, blocked, x, y, up, (more, more + len(ridge.middle)))


def line_of(around: Around, ridge: Ridge, factor: float) -> FoundLine:
    """The line in the middle of its surroundings, in pixels of the page."""
    left, right = sides(around, ridge.thickness)
    middle, thickness = around.middle, ridge.thickness
    above = border(around.ink[middle::-1, left:right], around.blocked[middle::-1, left:right], thickness, USUAL_ABOVE)
    below = border(around.ink[middle:, left:right], around.blocked[middle:, left:right], thickness, USUAL_BELOW)
    strong = strength(around.ink[:, left:right])
    above = tightened(above, around.ink[middle::-1, left:right], strong, thickness)
    below = tightened(below, around.ink[middle:, left:right], strong, thickness)
    x, y = around.x[left:right], around.y[left:right]
    foot = baseline_row(around.ink[:, left:right], middle, thickness) - middle
    step = max(1, round(thickness / 2))
    some = np.unique(np.append(np.arange(0, right - left, step), right - left - 1))
    slope = ridge.slope()
    top = np.stack((x + slope * above, y - above), axis=1)[some]
    bottom = np.stack((x - slope * below, y + below), axis=1)[some]
    base = np.stack((x - slope * foot, y + foot), axis=1)[np.unique(np.append(some[::4], some[-1]))]
    half = 0.5  # a pixel of the reduced image covers a square of the page
    return FoundLine((base + half) / factor, (np.concatenate((top, bottom[::-1])) + half) / factor)


def sides(around: Around, thickness: float) -> tuple[int, int]:
    """The columns of the line: its ridge, and ink that continues from it."""
    core = slice(max(0, around.middle - round(thickness)), around.middle + round(0.6 * thickness) + 1)
    ink = around.ink[core].max(0)
    first, last = around.ends
    # A lower threshold takes stains for the end of the line, a higher one loses letters of a pen that runs dry.
    strong = max(12.0, 0.4 * float(np.quantile(ink[first:last], 0.75)))
    beside = slice(around.middle - round(0.5 * thickness), around.middle + round(0.5 * thickness) + 1)
    free = np.logical_not(around.blocked[beside].any(0, keepdims=True))[0]
    patience = round(0.7 * thickness)
    left = reach(((ink >= strong) & free)[:first][::-1], free[:first][::-1], patience)
    right = reach(((ink >= strong) & free)[last:], free[last:], patience)
    spare = round(0.3 * thickness)
    return max(0, first - left - spare), min(len(ink), last + right + spare)


def reach(inked: Booleans, free: Booleans, patience: int) -> int:
    """Number of columns over which the ink continues, until a gap longer than `patience` or another line."""
    end = int(np.argmin(free)) if not free.all() else len(free)
    found = 0
    for column in np.flatnonzero(inked[:end]):
        if column - found > patience:
            break
        found = int(column) + 1
    return found


def border(ink: Floats, blocked: Booleans, thickness: float, usual: float) -> Floats:
    """For each column, the row, relative to the middle, at which the line ends: a seam through the least ink.

    `ink` and `blocked` start at the middle of the line and lead outward. The border stays in front of other lines;
    without any, it is at about `usual` thicknesses.
    """
    rows = np.arange(ink.shape[0])[:, None]
    # Everything beyond the first pixel of another line belongs to that line, including its gaps.
    beyond = np.maximum.accumulate(blocked, axis=0)
    end = np.where(beyond.any(0), beyond.argmax(0), ink.shape[0])
    # A little more than halfway to the core of the next line, as letters extend beyond their cores; the seam goes
    # around strokes that reach across.
    target = np.minimum(usual * thickness, 0.62 * end)
    cost = ink + PULL * ((rows - target) / thickness) ** 2
    # A seam through the x-height of the line costs as much as black ink; through another line, more than any way around
    # it. So it never takes that way, but there is always a path.
    cost[rows[:, 0] < 0.45 * thickness] += 255
    cost[beyond] += 1e4
    return seam(cost).astype(np.float64)


def strength(ink: Floats) -> float:
    """The minimum darkness of ink."""
    return max(16.0, 0.4 * float(np.quantile(ink.max(0), 0.75)))


def tightened(border: Floats, ink: Floats, strong: float, thickness: float) -> Floats:
    """The border moved inward as far as nearly all ink within it allows."""
    rows = np.arange(ink.shape[0])[:, None]
    inked = (ink >= strong) & (rows < border)
    reached = np.where(inked.any(0), ink.shape[0] - inked[::-1].argmax(0), 0)
    step = max(1, round(2 * thickness))
    # In windows of two x-heights, and without the highest twentieth: one flourish must not widen the whole line.
    tops = [reached[start : start + step].max() for start in range(0, len(reached), step)]
    furthest = float(np.quantile(tops, 0.95)) + 0.35 * thickness
    return np.minimum(border, max(furthest, 0.7 * thickness))


def seam(cost: Floats) -> Ints:
    """The cheapest path from the first to the last column, as a row per column; steps are at most one row."""
    if native is None:
        return seam_in_python(cost)
    path = np.empty(cost.shape[1], dtype=np.int64)
    native.seam(np.ascontiguousarray(cost), path)
    return path


def seam_in_python(cost: Floats) -> Ints:
    """The definition of `seam`."""
    height, width = cost.shape
    # The cost of the cheapest path to each place, with an impossible row above and below. The way back recomputes the
    # predecessors, one per column.
    totals = np.full((width, height + 2), np.inf)
    totals[0, 1:-1] = cost[:, 0]
    for before, total, own in zip(totals[:-1], totals[1:, 1:-1], cost.T[1:], strict=True):
        np.minimum(before[:-2], before[1:-1], out=total)
        np.minimum(total, before[2:], out=total)
        total += own
    path = np.zeros(width, dtype=np.int64)
    path[-1] = totals[-1, 1:-1].argmin()
    for column in range(width - 1, 0, -1):
        row = path[column]
        path[column - 1] = row - 1 + totals[column - 1, row : row + 3].argmin()
    return path


def baseline_row(ink: Floats, middle: int, thickness: float) -> float:
    """The row of the baseline: where the ink decreases most sharply below the middle."""
    profile = ink.mean(1)
    low = middle + round(0.1 * thickness)
    high = min(len(profile) - 1, middle + round(0.9 * thickness))
    if high <= low:
        return middle + 0.4 * thickness
    falls = profile[low:high] - profile[low + 1 : high + 1]
    return float(low + falls.argmax()) + 0.5
