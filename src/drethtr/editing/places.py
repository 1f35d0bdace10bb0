"""Baselines and polygons of lines that are cut, joined or added."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from drethtr.base.arrays import Floats
from drethtr.documents.page import TextLine
from drethtr.documents.points import Box, Points, box_around, twice_area
from drethtr.images.geometry import length_of
from drethtr.layout.turn import quarters_of

Side = tuple[Points | None, Points | None]
"""Baseline and polygon of a part of a line."""


def cut_at(baseline: Points, point: tuple[float, float]) -> tuple[float, Floats, Floats]:
    """The place on a baseline nearest to a point: its distance from the start, its position and the direction there."""
    path = np.asarray(baseline, dtype=np.float64)
    steps = np.diff(path, axis=0)
    lengths = np.maximum(np.hypot(*steps.T), 1e-9)
    ahead = np.clip(((np.asarray(point) - path[:-1]) * steps).sum(1) / lengths**2, 0, 1)
    places = path[:-1] + ahead[:, None] * steps
    nearest = int(np.square(places - point).sum(1).argmin())
    along = float(lengths[:nearest].sum() + ahead[nearest] * lengths[nearest])
    return along, places[nearest], steps[nearest] / lengths[nearest]


def split_place(line: TextLine, point: tuple[float, float]) -> tuple[Side, Side] | None:
    """Baseline and polygon of both parts of a line cut at a point of its baseline; None if a part would be empty."""
    assert line.baseline is not None
    _, place, direction = cut_at(line.baseline, point)
    before: list[tuple[int, int]] = []
    after: list[tuple[int, int]] = []
    for corner in line.baseline:
        (before if (np.asarray(corner) - place) @ direction < 0 else after).append(corner)
    middle = (round(float(place[0])), round(float(place[1])))
    first, second = without_repetitions([*before, middle]), without_repetitions([middle, *after])
    if len(first) < 2 or len(second) < 2:
        return None
    polygons = [line.polygon and clip(line.polygon, place, way) for way in (direction, -direction)]
    return (first, polygons[0]), (second, polygons[1])


def clip(polygon: Points, place: Floats, direction: Floats) -> Points | None:
    """The part of a polygon behind a line through `place`, across `direction`; None if it has no area.

    Source: Sutherland and Hodgman, 1974.
    """
    corners = np.asarray(polygon, dtype=np.float64)
    depth = (corners - place) @ direction
    kept: list[tuple[int, int]] = []
    for number in range(len(corners)):
        last, here = number - 1, number
        if (depth[last] < 0) != (depth[here] < 0):
            share = depth[last] / (depth[last] - depth[here])
            x, y = corners[last] + share * (corners[here] - corners[last])
            kept.append((round(float(x)), round(float(y))))
        if depth[here] < 0:
            kept.append(polygon[here])
    found = without_repetitions(kept)
    return found if len(found) > 2 else None


def without_repetitions(points: Sequence[tuple[int, int]]) -> Points:
    """Points without repetitions in a row."""
    return tuple(point for number, point in enumerate(points) if not number or point != points[number - 1])


SHARE_ABOVE = 0.35
"""How far above the baseline a stroke still crosses a line, relative to the height of the line."""

MIN_PIECE = 0.5
"""Minimum length of a piece that a stroke cuts off, relative to the height of the line."""


def crossings(line: TextLine, stroke: Points) -> list[tuple[int, int]]:
    """Where a stroke crosses a line, as points of its baseline from the end to the start; not close to its ends."""
    if line.baseline is None:
        return []
    baseline = np.asarray(line.baseline, dtype=np.float64)
    direction = (baseline[-1] - baseline[0]) / max(float(np.hypot(*(baseline[-1] - baseline[0]))), 1e-9)
    length = length_of(baseline)
    height = twice_area(line.polygon or ()) / 2 / max(length, 1.0)
    above = SHARE_ABOVE * height * np.array((direction[1], -direction[0]))
    path = np.asarray(stroke, dtype=np.float64)
    found = intersections(baseline, path) or intersections(baseline + above, path)
    cuts = sorted((cut_at(line.baseline, (float(x), float(y))) for x, y in found), key=lambda cut: -cut[0])
    points, last = list[tuple[int, int]](), length
    for along, (x, y), _ in cuts:
        if last - along > MIN_PIECE * height and along > MIN_PIECE * height:
            points.append((round(float(x)), round(float(y))))
            last = along
    return points


def intersections(path: Floats, other: Floats) -> list[Floats]:
    """Where two paths cross each other."""
    starts, steps = path[:-1], np.diff(path, axis=0)
    found = []
    for begin, end in pairwise(other):
        way = end - begin
        # Where start + share * step = begin + other * way, by Cramer's rule; `cross` is 0 for parallels.
        cross = steps[:, 0] * way[1] - steps[:, 1] * way[0]
        known = np.abs(cross) > 1e-9
        gap = begin - starts[known]
        shares = (gap[:, 0] * way[1] - gap[:, 1] * way[0]) / cross[known]
        others = (gap[:, 0] * steps[known, 1] - gap[:, 1] * steps[known, 0]) / cross[known]
        hit = (shares >= 0) & (shares <= 1) & (others >= 0) & (others <= 1)
        found += list(starts[known][hit] + shares[hit, None] * steps[known][hit])
    return found


def hull(points: Sequence[tuple[int, int]]) -> Points:
    """The convex polygon around points.

    Source: Andrew, 1979.
    """

    def half(points: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        edge: list[tuple[int, int]] = []
        for x, y in points:
            while len(edge) > 1:
                (a, b), (c, d) = edge[-2:]
                if (c - a) * (y - b) - (d - b) * (x - a) > 0:
                    break
                edge.pop()
            edge.append((x, y))
        return edge[:-1]

    known = sorted(set(points))
    return (*half(known), *half(known[::-1]))


def in_writing_direction(line: TextLine) -> TextLine:
    """A line with its baseline in the direction of its words, against which some programs draw it."""
    centers = centers_of_words(line)
    if line.baseline is None or not centers:
        return line
    first, last = (cut_at(line.baseline, center)[0] for center in (centers[0], centers[-1]))
    return line if first <= last else replace(line, baseline=line.baseline[::-1])


def centers_of_words(line: TextLine) -> list[tuple[float, float]]:
    """The centers of the boxes of all words; none if a word has no box."""
    boxes = [word.box for word in line.words]
    known = [box for box in boxes if box is not None]
    if len(known) < len(boxes):
        return []
    return [((box.left + box.right) / 2, (box.top + box.bottom) / 2) for box in known]


def split_offset(line: TextLine, point: tuple[float, float]) -> int:
    """The offset in a line's text for a cut at a point: between words, by their boxes or else their lengths."""
    assert line.baseline is not None
    along, _, _ = cut_at(line.baseline, point)
    starts, position = [], 0
    for token in line.text.split():
        position = line.text.index(token, position)
        starts.append(position)
        position += len(token)
    centers = centers_of_words(line)
    if centers and len(centers) == len(starts):
        behind = (
            start for start, center in zip(starts, centers, strict=True) if cut_at(line.baseline, center)[0] >= along
        )
        return next(behind, len(line.text))
    share = along / max(length_of(np.asarray(line.baseline, dtype=np.float64)), 1e-9)
    wanted = share * len(line.text)
    return min([*starts, len(line.text)], key=lambda start: abs(start - wanted))


def neighbor_before(lines: Sequence[TextLine], baseline: Points) -> str | None:
    """The id of the line after which to insert a new one.

    That is one to its left in the same row, else the nearest above that overlaps it, else the nearest above; all as
    the page is read.
    """
    quarters = quarters_of_page(lines)
    baseline = as_read(baseline, quarters)
    left, right = (edge(x for x, _ in baseline) for edge in (min, max))
    row = row_of(baseline)
    found: list[tuple[int, float, str]] = []
    for line in lines:
        if (box := box_as_read(line, quarters)) is None:
            continue
        own = row_of(as_read(line.baseline, quarters)) if line.baseline else (box.top + box.bottom) / 2
        if box.right <= (left + right) / 2 and abs(own - row) < box.height / 2:
            found.append((2, float(box.right), line.id))
        elif own <= row:
            found.append((int(box.left < right and box.right > left), own, line.id))
    return max(found)[2] if found else None


def row_of(baseline: Points) -> float:
    """The mean row of a baseline."""
    return sum(y for _, y in baseline) / len(baseline)


def quarters_of_page(lines: Iterable[TextLine]) -> int:
    """How many times their page must be turned to the left by 90 degrees for most lines to be upright."""
    lengths = Counter[int]()
    for line in lines:
        if line.baseline:
            ends = np.array((line.baseline[0], line.baseline[-1]), dtype=np.float64)
            lengths[quarters_of(ends)] += int(np.abs(ends[1] - ends[0]).max())
    return max(lengths, key=lengths.__getitem__, default=0)


def as_read(points: Points, quarters: int) -> Points:
    """Points after their page was turned to the left so many times by 90 degrees, around its upper left corner."""
    for _ in range(quarters % 4):
        points = tuple((y, -x) for x, y in points)
    return points


def box_as_read(line: TextLine, quarters: int) -> Box | None:
    """The bounding box of a line on a page that is turned by `as_read`."""
    return None if (box := line.box) is None else box_around(as_read(box.polygon(), quarters))
