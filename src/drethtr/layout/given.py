"""Complete lines from PAGE or ALTO that have only a baseline or only a polygon, or one that does not follow the ink."""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from drethtr.base.arrays import Floats
from drethtr.base.config import member_named
from drethtr.documents.page import TextLine
from drethtr.images.geometry import area_of, distances_along, points_at
from drethtr.images.line import Line
from drethtr.layout.bands import are_bands
from drethtr.layout.finder import FoundLine
from drethtr.layout.outline import ink_of, outline
from drethtr.layout.ridge import Ridge
from drethtr.layout.turn import quarters_of, turn_line, turn_points

FOOT = 0.7
"""Position of a missing baseline between the top and the bottom of the polygon: where descenders begin, if ascender,
x-height and descender take a third each. A slightly wrong baseline moves the strip, but loses no ink."""

CORE_OF_PITCH = 0.33
"""The x-height, relative to the distance between baselines."""

MAX_CORE = 1 / 40
"""The x-height of a single line, relative to the height of the page."""

SAMPLES = 300
"""Places along a baseline at which ink is measured."""

SLIVER = 0.3
"""The height of an outline, relative to the median of its page, below which it is a sliver, which programs write where
they failed to draw one. Nine slivers of eight pages were read with 155 edits in 172 characters, and with 18 in outlines
of ours; from 0.45 on, ours are worse (LOG.md, 2026-11-29, late)."""

BACKWARD = 2
"""The `quarters_of` a baseline from right to left."""


class Outlines(Enum):
    """Which outlines of given lines to use.

    AUTO redraws outlines that are slivers, or bands of a fixed height around their baselines. On 10 German pages with
    bands the CER fell from 45.5 to 37.6 %; on 19 pages with drawn outlines it is the same with ours (8.5 and 8.4 %).
    """

    AUTO = "auto"
    GIVEN = "given"
    OWN = "own"


def outlines_named(name: str) -> Outlines:
    """The choice of outlines with a name.

    Raises:
        ConfigError: listing the known names.
    """
    return member_named("outlines", name, Outlines)


class GivenLine(NamedTuple):
    """A line with at least one of baseline and polygon, as (n, 2) points (x, y)."""

    baseline: Floats | None
    polygon: Floats | None

    @classmethod
    def of(cls, line: TextLine) -> "GivenLine":
        """The baseline and polygon of a line from a file."""
        return cls(floats(line.baseline), floats(line.polygon))

    @classmethod
    def at(cls, baseline: Sequence[Sequence[float]] | None, polygon: Sequence[Sequence[float]] | None) -> "GivenLine":
        """The line at these points, of which either may be empty or None."""
        return cls(floats(baseline or None), floats(polygon or None))


def floats(points: Sequence[Sequence[float]] | None) -> Floats | None:
    """Points as an array."""
    return None if points is None else np.array(points, dtype=np.float64)


def with_usable_outlines(lines: Sequence[GivenLine], outlines: Outlines) -> list[GivenLine]:
    """The lines of a page without the outlines that are not to be used; lines without a baseline keep theirs."""
    dropped = range(len(lines)) if outlines is Outlines.OWN else misdrawn(lines) if outlines is Outlines.AUTO else ()
    return [
        line._replace(polygon=None) if n in dropped and line.baseline is not None else line
        for n, line in enumerate(lines)
    ]


def misdrawn(lines: Sequence[GivenLine]) -> set[int]:
    """The numbers of the lines of a page whose outlines do not follow the ink: slivers, and bands that nobody drew."""
    whole = {n: (b, p) for n, (b, p) in enumerate(lines) if b is not None and p is not None}
    bands = are_bands(list(whole.values()))
    heights = {n: area_of(polygon) / max(distances_along(line)[-1], 1.0) for n, (line, polygon) in whole.items()}
    least = SLIVER * float(np.median(list(heights.values()) or [0.0]))
    return {n for n, is_band in zip(whole, bands, strict=True) if is_band or heights[n] < least}


def complete(page: Line, lines: Sequence[GivenLine], outlines: Outlines = Outlines.AUTO) -> list[FoundLine]:
    """Add what lines lack: a baseline along the foot of the polygon, or a polygon around the ink.

    Baselines that somebody drew from right to left below upright letters are turned around.
    """
    lines = with_usable_outlines(forward(page, lines), outlines)
    found = [FoundLine(known_baseline(line), np.empty((0, 2))) for line in lines]
    quarters = [quarters_of(line.baseline) for line in found]
    for turn in {quarters[number] for number, line in enumerate(lines) if line.polygon is None}:
        among = [number for number, quarter in enumerate(quarters) if quarter == turn]
        for number, line in zip(among, outlined(page, [found[number] for number in among], turn), strict=True):
            found[number] = FoundLine(found[number].baseline, line.polygon)
    return [
        line if given.polygon is None else FoundLine(line.baseline, given.polygon)
        for line, given in zip(found, lines, strict=True)
    ]


def forward(page: Line, lines: Sequence[GivenLine]) -> list[GivenLine]:
    """The lines of a page, with baselines from right to left turned around if the ink stands on their other side.

    One decision for all of them: a single short line does not show reliably on which side its letters are.
    """
    known = {number: line.baseline for number, line in enumerate(lines) if line.baseline is not None}
    backward = {number: baseline for number, baseline in known.items() if quarters_of(baseline) == BACKWARD}
    if not backward or sum(ink_above(ink_of(page), list(backward.values()))) >= 0:
        return list(lines)
    return [
        line._replace(baseline=backward[number][::-1]) if number in backward else line
        for number, line in enumerate(lines)
    ]


def ink_above(ink: Line, baselines: Sequence[Floats]) -> list[float]:
    """For each baseline, the mean ink where x-heights are above it, less that below it; above is to its left.

    Args:
        ink: The result of `ink_of` for the page.
    """
    height, width = ink.shape
    reach = 1 + np.arange(max(4, round(height * MAX_CORE)))
    found = []
    for baseline in baselines:
        distances = distances_along(baseline)
        places = points_at(np.linspace(0.0, distances[-1], SAMPLES), distances, baseline)
        x, y = baseline[-1] - baseline[0]
        up = np.array((y, -x)) / max(float(np.hypot(x, y)), 1.0)
        sides = []
        for side in (up, -up):
            columns, rows = np.rint(places[:, None] + reach[:, None] * side).astype(int).transpose(2, 0, 1)
            inside = (columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)
            sides.append(float(ink[rows[inside], columns[inside]].mean()) if inside.any() else 0.0)
        found.append(sides[0] - sides[1])
    return found


def known_baseline(line: GivenLine) -> Floats:
    """The given baseline, or one along the longer direction of the polygon."""
    if line.baseline is not None:
        return line.baseline
    assert line.polygon is not None
    width, height = np.ptp(line.polygon, axis=0)
    if height <= 2 * width:
        return foot(line.polygon)
    # Upward, like most marginal notes.
    corner = (int(np.ceil(line.polygon[:, 0].max())), int(np.ceil(line.polygon[:, 1].max())))
    return turn_points(foot(turn_points(line.polygon, -1, *corner)), 1, *reversed(corner))


def foot(polygon: Floats) -> Floats:
    """A smooth line from left to right at `FOOT` between the upper and the lower edge of a polygon."""
    corner = np.floor(polygon.min(0))
    width, height = (int(length) + 2 for length in np.ptp(polygon, axis=0))
    drawn = Image.new("1", (width, height))
    ImageDraw.Draw(drawn).polygon([(x, y) for x, y in (polygon - corner).tolist()], fill=1, outline=1)
    mask = np.asarray(drawn)
    columns = np.flatnonzero(mask.any(0))
    tops = mask.argmax(0)[columns]
    bottoms = height - mask[::-1].argmax(0)[columns]
    degree = 2 if len(columns) > 3 * height else 1 if len(columns) > 3 else 0
    course = np.polynomial.Polynomial.fit(columns, tops + FOOT * (bottoms - tops), degree)
    some = np.linspace(columns[0], max(columns[-1], columns[0] + 1), 2 if degree < 2 else 9)
    points: Floats = np.stack((some, course(some)), axis=1) + corner
    return points


def outlined(page: Line, lines: Sequence[FoundLine], quarters: int) -> list[FoundLine]:
    """Add polygons to lines of one direction; the page is rotated by `quarters` to make them horizontal."""
    height, width = page.shape
    turned = np.rot90(page, quarters)
    # Clipped to the page, since each column of a baseline takes memory and time, and a file may claim millions.
    size = turned.shape[::-1]
    baselines = [turn_points(line.baseline, quarters, width, height).clip(0, size) for line in lines]
    core = core_height(turned, baselines)
    ridges = [ridge_above(baseline, core) for baseline in baselines]
    return [turn_line(line, -quarters, *size) for line in outline(turned, ridges, 1.0)]


def ridge_above(baseline: Floats, core: float) -> Ridge:
    """The middle of the letters on a baseline that runs from left to right."""
    order = np.argsort(baseline[:, 0], kind="stable")
    left, right = round(baseline[:, 0].min()), round(baseline[:, 0].max())
    columns = np.arange(left, max(right, left + 2))
    return Ridge(left, np.interp(columns, *baseline[order].T) - core / 2, core)


def core_height(page: Line, baselines: Sequence[Floats]) -> float:
    """The x-height, from the distance between lines, or for a single line from the ink above it."""
    places = sorted((float(line[:, 1].mean()), float(line[:, 0].min()), float(line[:, 0].max())) for line in baselines)
    distances = []
    for number, (row, left, right) in enumerate(places):
        below = [other - row for other, start, end in places[number + 1 :] if start < right and end > left]
        # A baseline within 4 pixels is another piece of the same line.
        distances += [distance for distance in below if distance > 4][:1]
    largest = max(4.0, page.shape[0] * MAX_CORE)
    if distances:
        return float(np.clip(CORE_OF_PITCH * np.median(distances), 2.0, 2 * largest))
    return ink_height(page, baselines[0], largest)


def ink_height(page: Line, baseline: Floats, largest: float) -> float:
    """Twice the mean height of the ink above a baseline."""
    order = np.argsort(baseline[:, 0], kind="stable")
    columns = np.arange(max(0, int(baseline[:, 0].min())), min(page.shape[1], int(baseline[:, 0].max()) + 1))
    if not len(columns):
        return largest
    up = round(2 * largest)
    rows = np.interp(columns, *baseline[order].T)[None] - np.arange(up)[:, None]
    top, bottom = max(0, int(rows.min()) - up), min(page.shape[0], int(rows.max()) + up)
    if bottom <= top:
        return largest
    ink = ink_of(page[top:bottom, columns[0] : columns[-1] + 1]).astype(np.float64)
    inside = np.rint(rows).astype(np.intp).clip(top, bottom - 1) - top
    profile = np.take_along_axis(ink, inside, axis=0).mean(1)
    profile = (profile - np.median(profile)).clip(0)
    if profile.sum() <= 0:
        return largest
    return float(np.clip(2 * (profile @ np.arange(up)) / profile.sum(), 4.0, largest))
