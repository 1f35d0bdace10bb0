"""Place readings on the page, in whole pixels of the page."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import groupby

import numpy as np

from drethtr.base.arrays import Floats
from drethtr.documents.page import CellPlace, Region, TextLine
from drethtr.documents.page_xml.custom import tags_in
from drethtr.documents.points import Points, box_around
from drethtr.documents.transcription import Transcription
from drethtr.images.straighten import Strip
from drethtr.layout.finder import FoundLine, Layout, Role
from drethtr.recognition.reading import Reading


def transcription_of(reading: Reading, strip: Strip, width: int, height: int) -> Transcription:
    """The text of a straightened line, its words and flags with their places on a page of this size."""
    return reading.transcription(lambda left, right: outline_on_page(strip, left, right, width, height))


def outline_on_page(strip: Strip, left: float, right: float, width: int, height: int) -> Points | None:
    """The polygon of some columns of a line on a page of this size; None if it has no area there."""
    polygon = on_page(strip.outline(left, right), width, height)
    return polygon if (box := box_around(polygon)) is not None and box.width and box.height else None


def on_page(points: Floats | Iterable[tuple[float, float]], width: int, height: int) -> Points:
    """Points in whole pixels, clipped to the page, without consecutive repetitions."""
    whole = np.rint(np.asarray(list(points), dtype=np.float64).reshape(-1, 2)).clip(0, (width, height))
    places = ((int(x), int(y)) for x, y in whole)
    return tuple(place for place, _ in groupby(places))


def placed_line(id: str, line: FoundLine, text: Transcription | None, width: int, height: int) -> TextLine:
    """A line of a page of this size."""
    polygon, baseline = (on_page(points, width, height) for points in (line.polygon, line.baseline))
    kind = "" if line.role in (None, Role.BODY) else str(line.role)
    return TextLine(id, polygon, baseline if len(baseline) > 1 else None, text, kind)


def merged(line: TextLine, read: TextLine) -> TextLine:
    """A given line with its reading, the baseline or polygon that it lacked, and its baseline in writing direction.

    Tags of its text are moved to their places in the new text.
    """
    known = line.baseline if line.baseline and read.baseline and runs_as(line.baseline, read.baseline) else None
    text = read.transcription
    if text is not None and line.tags:
        text = replace(text, tags=tags_in(text.text, line.tags, line.text))
    return replace(
        read, baseline=known or read.baseline, polygon=line.polygon or read.polygon, transcription=text, kind=line.kind
    )


def runs_as(baseline: Points, other: Points) -> bool:
    """Whether two baselines have the same direction, not the opposite one."""
    (x, y), (other_x, other_y) = (np.subtract(points[-1], points[0]) for points in (baseline, other))
    return bool(x * other_x + y * other_y >= 0)


def ids_in(layout: Layout) -> dict[int, str]:
    """The ids of the lines of an arranged layout, in reading order, by their numbers."""
    return {
        line: f"r{place}l{number}"
        for place, region in enumerate(layout.regions or (), start=1)
        for number, line in enumerate(region.lines, start=1)
    }


def regions_of(layout: Layout, lines: Mapping[int, TextLine], width: int, height: int) -> tuple[Region, ...]:
    """The regions of an arranged layout on a page of this size, with a region for each cell of a table."""
    regions = []
    for place, region in enumerate(layout.regions or (), start=1):
        id, kind = f"r{place}", str(region.kind)
        if not region.cells:
            outline = None if region.polygon is None else on_page(region.polygon, width, height)
            regions.append(Region(id, tuple(lines[number] for number in region.lines), outline, kind))
        rank = {number: rank for rank, number in enumerate(region.lines)}
        for cell in sorted(region.cells, key=lambda cell: min(rank[number] for number in cell.lines)):
            of_cell = tuple(lines[number] for number in sorted(cell.lines, key=rank.__getitem__))
            of_table = CellPlace(id, cell.row, cell.column)
            regions.append(Region(f"{id}c{cell.row + 1}_{cell.column + 1}", of_cell, kind=kind, cell=of_table))
    return tuple(regions)
