"""Lines and regions of a page in another order."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from drethtr.documents.page import Page, Region, TextLine
from drethtr.documents.page_file import PageFile
from drethtr.documents.points import Box, Points
from drethtr.editing.changes import Changed
from drethtr.editing.journal import Change
from drethtr.editing.places import box_as_read, quarters_of_page


def with_free_ids(file: PageFile, regions: Sequence[Region]) -> list[Region]:
    """Regions, those that would share an id with others under free ones."""
    ids, seen, found = file.new_editor().ids, set[str](), list[Region]()
    for region in regions:
        if region.id in seen or region.id not in file.region_ids:
            region = replace(region, id=ids.claim(region.id))
        seen.add(region.id)
        found.append(region)
    return found


def placed(before: Page, regions: Sequence[Region], new: Sequence[Region]) -> list[Region]:
    """Regions with new ones where the first of their lines stood; a divided region is placed by its first part.

    Regions that lost all their lines are left out.
    """
    rank = {line.id: number for number, line in enumerate(before.lines)}
    had = {region.id for region in before.regions if region.lines}
    start = min(rank[line.id] for region in new for line in region.lines)
    kept = [region for region in regions if region.lines or region.id not in had]
    first = [region for region in kept if region.lines and rank[region.lines[0].id] < start]
    count = kept.index(first[-1]) + 1 if first else 0
    return [*kept[:count], *new, *kept[count:]]


def without(region: Region, lines: Collection[str]) -> Region:
    """A region without some lines."""
    return replace(region, lines=tuple(line for line in region.lines if line.id not in lines))


def parts_beside(region: Region, lines: Sequence[TextLine]) -> list[Region]:
    """A region without some lines; split in two if these lines, such as a heading, lie between its parts on the page.

    A note beside the text does not split it.
    """
    start = next((place for place, line in enumerate(region.lines) if line in lines), 0)
    end = start + len(lines)
    before, after = region.lines[:start], region.lines[end:]
    quarters = quarters_of_page(region.lines)
    every = [[box_as_read(line, quarters) for line in part] for part in (before, lines, after)]
    boxes = [[box for box in part if box] for part in every]
    rows = [[box.top + box.bottom for box in part] for part in boxes]
    if (
        region.lines[start:end] != tuple(lines)
        or not all(rows)
        or max(rows[0]) >= min(rows[1])
        or max(rows[1]) >= min(rows[2])
        or any(in_one_row(note, box) for note in boxes[1] for box in boxes[0] + boxes[2])
    ):
        return [without(region, [line.id for line in lines])]
    return [replace(region, lines=before, polygon=None), Region(region.id, after, kind=region.kind)]


def in_one_row(one: Box, other: Box) -> bool:
    """Whether two lines stand side by side: their middles are half a height apart at most, and they hardly overlap."""
    common = min(one.right, other.right) - max(one.left, other.left)
    rise = abs(one.top + one.bottom - other.top - other.bottom)
    return rise < min(one.height, other.height) and 2 * common < min(one.width, other.width)


def region_of(file: PageFile, line: str) -> Region:
    """The region of a line."""
    known = file.line(line)
    return next(region for region in file.page.regions if known in region.lines)


def moved(file: PageFile, lines: Sequence[str], target: Region, start: int, action: str) -> Changed:
    """A file with lines moved into a region; `start` is their place among the others there."""
    known = [file.line(line) for line in dict.fromkeys(lines)]
    regions = []
    for region in file.page.regions:
        rest = without(region, lines)
        if region.id == target.id:
            rest = replace(rest, lines=(*rest.lines[:start], *known, *rest.lines[start:]))
        regions.append(rest)
    return arranged(file, regions, lines, action)


def arranged(file: PageFile, regions: Sequence[Region], lines: Sequence[str], action: str) -> Changed:
    """The change of a file to `in_regions`."""
    return Changed(in_regions(file, regions), tuple(lines), (Change("", action),))


def in_regions(file: PageFile, regions: Sequence[Region]) -> PageFile:
    """A file with its lines in other regions or another order; regions grow with the lines that they get."""
    before = {region.id: region for region in file.page.regions}
    return file.with_regions([around(region, before.get(region.id)) for region in regions])


def without_lines(file: PageFile, lines: Collection[str]) -> PageFile:
    """A file without some lines."""
    before, left = {region.id: region for region in file.page.regions}, file.without_lines(lines)
    regions = [around(region, before.get(region.id)) for region in left.page.regions]
    return left if regions == list(left.page.regions) else left.with_regions(regions)


def around(region: Region, before: Region | None) -> Region:
    """A region with an outline around its lines, if they are others than before and its outline was not drawn now.

    If it has only lost lines, an outline that somebody drew stays; a box around its lines becomes smaller.
    """
    if before is not None and (region.polygon != before.polygon or not region.lines or region.lines == before.lines):
        return region if region.polygon is not None else replace(region, polygon=box_around_lines(region))
    if before is not None and {line.id for line in region.lines} <= {line.id for line in before.lines}:
        is_box = before.polygon == box_around_lines(before)
        return replace(region, polygon=box_around_lines(region)) if is_box else region
    return region if before is None and region.polygon else replace(region, polygon=box_around_lines(region))


def box_around_lines(region: Region) -> Points | None:
    """The outline of a box around the lines of a region."""
    box = replace(region, polygon=None).box
    return box and box.polygon()
