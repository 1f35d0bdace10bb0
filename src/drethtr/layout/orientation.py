"""Find out which pixels the coordinates of a description refer to: those of the upright image, or the stored ones.

kraken and OCR-D count the stored pixels of a photograph, whatever its EXIF orientation says; people and most other
programs count those of the upright image. The shape of the image tells them apart unless it stays the same when turned.
Then the ink decides: letters stand on their baselines.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from drethtr.base.arrays import Floats
from drethtr.documents.page import Page
from drethtr.images.decode import QUARTER_TURNS
from drethtr.images.line import Line
from drethtr.images.page import PageSource
from drethtr.layout.given import GivenLine, ink_above
from drethtr.layout.outline import ink_of


def orientation_of(page: Page, source: PageSource, gray: Callable[[], Line]) -> int:
    """The EXIF orientation of the image if the page is described on its stored pixels; 1 if on the upright image.

    Args:
        gray: The upright image; called only if the orientation is not 1.

    Raises:
        DataError: if the image is damaged.
    """
    orientation = source.orientation()
    if orientation == 1 or not (page.width and page.height):
        return 1
    picture = gray()
    height, width = picture.shape
    stored = (height, width) if orientation in QUARTER_TURNS else (width, height)
    if page.has_shape(width, height) != page.has_shape(*stored):
        return orientation if page.has_shape(*stored) else 1
    if not page.has_shape(width, height):
        return 1
    ink = ink_of(picture)
    upright, turned = (fit(ink, page.on_image(Path(), width, height, turn)) for turn in (1, orientation))
    return orientation if turned > upright else 1


def on_scan(page: Page, source: PageSource, gray: Line) -> Page:
    """The page in pixels of its upright image.

    Raises:
        DataError: if the image is damaged, or not the one that was described.
    """
    height, width = gray.shape
    return page.on_image(source.path, width, height, orientation_of(page, source, lambda: gray))


def fit(ink: Line, page: Page) -> float:
    """How much more ink stands on the baselines of a page than below them, and lies in its polygons than elsewhere."""
    lines = [GivenLine.of(line) for line in page.lines if line.is_placed]
    return sum(ink_above(ink, [line.baseline for line in lines if line.baseline is not None])) + within(
        ink, (line.polygon for line in lines if line.polygon is not None)
    )


def within(ink: Line, polygons: Iterable[Floats]) -> float:
    """The sum over polygons of the mean ink in the boxes around them."""
    boxes = [(*np.floor(polygon.min(0)).astype(int), *np.ceil(polygon.max(0)).astype(int)) for polygon in polygons]
    parts = (ink[top:bottom, left:right] for left, top, right, bottom in boxes)
    return float(sum(part.mean() for part in parts if part.size))
