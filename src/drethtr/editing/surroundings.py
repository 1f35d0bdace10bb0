"""The region, or the cell of a table, in which a new line lies."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median

from drethtr.documents.page import TABLE, CellPlace, Region, TextLine
from drethtr.documents.page_file import PageFile
from drethtr.documents.points import Box, box_around
from drethtr.editing.places import as_read, box_as_read, neighbor_before, quarters_of_page
from drethtr.editing.regions import in_regions, with_free_ids, without


def in_surroundings(file: PageFile, new: Sequence[str]) -> PageFile:
    """A file with its new lines in the regions around them, in a table in the cell of their row and column.

    Lines outside all regions stay where they are, and their regions grow; those beside a table get a region after it.
    """
    quarters = quarters_of_page(file.page.lines)
    known = [without(region, new) for region in file.page.regions]
    regions = list(file.page.regions)
    apart = dict[str, list[TextLine]]()
    for id in new:
        line = file.line(id)
        box = box_as_read(line, quarters)
        if box is None:
            continue
        if (target := region_around(known, box, quarters)) is None:
            own = next(region for region in regions if line in region.lines)
            if own.cell is not None and is_beside(own.cell.table, known, box, quarters):
                apart.setdefault(own.cell.table, []).append(line)
                regions = [without(region, [id]) for region in regions]
            else:  # its region grows
                regions = [replace(one, polygon=None) if one is own else one for one in regions]
            continue
        if any(line in region.lines for region in regions if region.id == target.id):
            continue
        if target not in known:
            known.append(target)
            regions.insert(place_of_cell(regions, target), target)
        regions = [without(region, [id]) for region in regions]
        here = next(place for place, region in enumerate(regions) if region.id == target.id)
        lines = regions[here].lines
        after = neighbor_before(lines, line.baseline or line.polygon or ())
        start = next((place for place, one in enumerate(lines, 1) if one.id == after), 0)
        regions[here] = replace(regions[here], lines=(*lines[:start], line, *lines[start:]))
    for table, lines_apart in apart.items():
        ends = [place for place, region in enumerate(regions, 1) if region.cell and region.cell.table == table]
        regions.insert(ends[-1], Region("region", tuple(lines_apart)))
    return file if regions == list(file.page.regions) else in_regions(file, with_free_ids(file, regions))


def region_around(regions: Sequence[Region], line: Box, quarters: int) -> Region | None:
    """The smallest region around the middle of a line, if any; in a table, it may be a new cell.

    Args:
        line: Its box on the page as it is read, so many quarters from the scan.
    """
    x, y = (line.left + line.right) / 2, (line.top + line.bottom) / 2
    found, tables = list[tuple[int, int, Region]](), dict[str, dict[CellPlace, Box]]()
    for number, region in enumerate(regions):
        if (own := region.box) is None or (box := box_around(as_read(own.polygon(), quarters))) is None:
            continue
        if region.cell is not None:
            tables.setdefault(region.cell.table, {})[region.cell] = box
        if is_around(box, x, y):
            found.append((box.width * box.height, number, region))
    for number, cells in enumerate(tables.values(), len(regions)):
        box = box_around(point for cell in cells.values() for point in cell.polygon())
        if box is not None and is_around(box, x, y):
            place = cell_around(cells, x, y)
            new = Region(f"{place.table}_{place.row + 1}_{place.column + 1}", (), kind=TABLE, cell=place)
            cell = next((region for region in regions if region.cell == place), new)
            found.append((box.width * box.height, number, cell))
    return min(found)[2] if found else None


def is_beside(table: str, regions: Sequence[Region], line: Box, quarters: int) -> bool:
    """Whether a line lies wholly outside of the cells of a table; arguments as in `region_around`."""
    cells = [region.box for region in regions if region.cell is not None and region.cell.table == table]
    box = box_around(as_read(tuple(point for cell in cells if cell for point in cell.polygon()), quarters))
    return box is None or not (
        line.left <= box.right and box.left <= line.right and line.top <= box.bottom and box.top <= line.bottom
    )


def is_around(box: Box, x: float, y: float) -> bool:
    """Whether a box is around a point."""
    return box.left <= x <= box.right and box.top <= y <= box.bottom


def cell_around(cells: Mapping[CellPlace, Box], x: float, y: float) -> CellPlace:
    """The place of the cell around a point of a table of which some cells are known."""
    rows, columns = dict[int, list[Box]](), dict[int, list[Box]]()
    for cell, box in cells.items():
        rows.setdefault(cell.row, []).append(box)
        columns.setdefault(cell.column, []).append(box)
    heights = {row: (min(box.top for box in of), max(box.bottom for box in of)) for row, of in rows.items()}
    # Most of a column, since some texts reach into the next one; a row is as high as its highest cell.
    widths = {
        column: (median(box.left for box in of), median(box.right for box in of)) for column, of in columns.items()
    }
    return CellPlace(next(iter(cells)).table, nearest(heights, y), nearest(widths, x))


def nearest(ranges: Mapping[int, tuple[float, float]], place: float) -> int:
    """The key of the range around a place or nearest to it; of several, that whose middle is nearest."""

    def distance(key: int) -> tuple[float, float]:
        low, high = ranges[key]
        return max(low - place, place - high, 0), abs(low + high - 2 * place)

    return min(ranges, key=distance)


def place_of_cell(regions: Sequence[Region], new: Region) -> int:
    """Where a new cell goes among regions: in the order of its table, by rows or by columns."""
    assert new.cell is not None
    cells = {place: one.cell for place, one in enumerate(regions) if one.cell and one.cell.table == new.cell.table}
    rows = [cell.row for cell in cells.values()]
    by_rows = rows == sorted(rows)

    def rank(cell: CellPlace) -> tuple[int, int]:
        return (cell.row, cell.column) if by_rows else (cell.column, cell.row)

    return max([place + 1 for place, cell in cells.items() if rank(cell) < rank(new.cell)], default=min(cells))
