"""Images of pages and lines for browsers, cached in memory."""

import os
from collections.abc import Sequence
from contextlib import suppress
from io import BytesIO

import numpy as np
from PIL import Image, UnidentifiedImageError

from drethtr.base.errors import DataError
from drethtr.base.files import mark_of
from drethtr.base.recent import RecentResults
from drethtr.documents.page import TextLine
from drethtr.documents.page_file import revision_of
from drethtr.documents.points import Box, Points
from drethtr.editing.folder_pages import FolderPage
from drethtr.images.decode import ORIENTATION, decoding
from drethtr.images.line import Line
from drethtr.images.page import PageSource
from drethtr.images.straighten import Strip, straighten
from drethtr.layout.finder import FoundLine
from drethtr.layout.given import GivenLine, Outlines, complete, with_usable_outlines

THUMBNAIL = 240
"""Width in pixels."""

MAX_STRIP_HEIGHT = 160
"""Largest height of the picture of a line, in pixels."""

QUALITY, MAX_SIDE, MAX_UNCHANGED = 85, 65_500, 64 << 20
"""JPEG quality of new images, and the longest side that JPEG can have; a scan that is a JPEG of at most this many bytes
is sent unchanged."""

PAGES_KEPT = 3  # of up to 89 MB each, see `images/decode.py`
LARGE_KEPT = 8  # of some MB each: the pages around the one that is open
SMALL_KEPT = 1000  # of some kB each
SIZES_KEPT = 100_000  # a tuple each; saves opening the file again
"""Sizes of the caches: pages in gray, images of pages, thumbnails and lines, and sizes of pages."""


class Scans:
    """The scans of a folder, as pages, thumbnails and straightened lines.

    Args:
        outlines: Which outlines of lines are used to cut them out.
    """

    def __init__(self, outlines: Outlines = Outlines.AUTO) -> None:
        self.outlines = outlines
        self.places = RecentResults[list[FoundLine]](PAGES_KEPT)
        self.grays = RecentResults[Line](PAGES_KEPT)
        self.large = RecentResults[bytes](LARGE_KEPT)
        self.small = RecentResults[bytes](SMALL_KEPT)
        self.sizes = RecentResults[tuple[int, int]](SIZES_KEPT)

    def size(self, source: PageSource) -> tuple[int, int]:
        """Width and height of an upright page.

        Raises:
            DataError: if the scan is damaged.
        """
        return self.sizes.get((source, scan_mark(source)), source.size)

    def gray(self, source: PageSource) -> Line:
        """A page in gray.

        Raises:
            DataError: if the scan is damaged.
        """
        return self.grays.get((source, scan_mark(source)), source.gray)

    def mark(self, page: FolderPage) -> str:
        """A hash of the scan of a page that changes with its file, for ETags.

        Raises:
            DataError: if it is missing.
        """
        source = source_of(page)
        return revision_of(repr((source, scan_mark(source))).encode())

    def page(self, page: FolderPage, width: int | None) -> bytes:
        """A page as JPEG, at most `width` pixels wide.

        Raises:
            DataError: if the scan is missing or damaged.
        """
        source = source_of(page)
        kept = self.small if width is not None and width <= THUMBNAIL else self.large
        return kept.get((source, scan_mark(source), width), lambda: picture(source, width))

    def part(self, page: FolderPage, box: Box) -> bytes:
        """A part of a page as JPEG, at most as high as the picture of a line, with some room around it.

        Raises:
            DataError: if the scan is missing or damaged, or the box is not on it.
        """
        gray, room = self.gray(source_of(page)), box.height // 4
        part = gray[max(0, box.top - room) : box.bottom + room, max(0, box.left - room) : box.right + room]
        if not part.size:
            raise DataError(f"{page.name} has nothing at {tuple(box)}")
        return strip_picture(part)

    def strip(self, page: FolderPage, line: TextLine, lines: Sequence[TextLine]) -> bytes:
        """A straightened line as JPEG; `lines` are all lines of its page.

        Raises:
            DataError: if the scan is missing or damaged, or the line has no place on it.
        """
        key = (page.id, scan_mark(source_of(page)), "strip", place_mark(line))
        return self.small.get(key, lambda: strip_picture(self.straighten_line(page, line, lines).line))

    def straighten_line(self, page: FolderPage, line: TextLine, lines: Sequence[TextLine]) -> Strip:
        """A line cut out of its page and straightened.

        Raises:
            DataError: if the scan is missing or damaged, or the line has no place on it.
        """
        gray = self.gray(source_of(page))
        place = self.complete_line(page, gray, line, lines)
        return straighten(gray, place.baseline, place.polygon)

    def complete_line(self, page: FolderPage, gray: Line, line: TextLine, lines: Sequence[TextLine]) -> FoundLine:
        """A line with the baseline or polygon that it lacks, estimated from the image and the other lines of its page.

        A polygon that is not to be used counts as missing, as everywhere when lines are read.

        Raises:
            DataError: if it has neither.
        """
        if not line.is_placed:
            raise DataError(f"line {line.id!r} has no place on the page")
        others = [other for other in lines if other.id != line.id and other.is_placed]
        # Always in one order, so that the results for all lines of a page are computed once.
        every = sorted((line, *others), key=lambda one: one.id)
        number, given = every.index(line), with_usable_outlines(list(map(GivenLine.of, every)), self.outlines)
        if given[number].polygon is not None:
            return complete(gray, [given[number]], Outlines.GIVEN)[0]
        # For all lines at once: they bound each other, and the next line to be shown is from the same page.
        key = page.id, scan_mark(source_of(page)), tuple((one.id, one.baseline, one.polygon) for one in every)
        return self.places.get(key, lambda: complete(gray, given, Outlines.GIVEN))[number]

    def outline(self, page: FolderPage, line: TextLine, lines: Sequence[TextLine]) -> Points | None:
        """The polygon around the ink of a line of which the baseline is known; None without a scan."""
        if page.source is None:
            return None
        gray = self.gray(page.source)
        height, width = gray.shape
        found = self.complete_line(page, gray, TextLine(line.id, baseline=line.baseline), lines)
        whole = np.rint(found.polygon).astype(int).clip(0, (width, height))
        return tuple((int(x), int(y)) for x, y in whole)


def source_of(page: FolderPage) -> PageSource:
    """The scan of a page.

    Raises:
        DataError: if it is missing.
    """
    if page.source is None:
        raise DataError(page.error or "its scan is missing", page.name)
    return page.source


def scan_mark(source: PageSource) -> str:
    """The mark of a scan's file, see `mark_of`.

    Raises:
        DataError: if it is gone.
    """
    return mark_of(scan_stat(source))


def scan_stat(source: PageSource) -> os.stat_result:
    """The `stat` of a scan's file.

    Raises:
        DataError: if it is gone.
    """
    try:
        return source.path.stat()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", source.name) from error


def place_mark(line: TextLine) -> str:
    """A hash of the baseline and polygon of a line."""
    return revision_of(repr((line.baseline, line.polygon)).encode())


def picture(source: PageSource, width: int | None) -> bytes:
    """A page as JPEG; a file that is a JPEG of the page is used unchanged."""
    if width is None and source.pages == 1 and (own := upright_jpeg(source)) is not None:
        return own
    image = source.image()
    if width is not None and width < image.width:
        image = image.convert("RGB").resize((width, max(1, round(image.height * width / image.width))), reducing_gap=2)
    return jpeg(image)


def upright_jpeg(source: PageSource) -> bytes | None:
    """The bytes of a JPEG that browsers show as it is: in gray or color, without an EXIF orientation.

    Raises:
        DataError: if it is damaged.
    """
    is_other = suppress(UnidentifiedImageError)
    if scan_stat(source).st_size > MAX_UNCHANGED:
        return None
    with decoding(source.name), is_other, Image.open(source.path, formats=["JPEG"]) as image:
        if image.mode in ("L", "RGB") and image.getexif().get(ORIENTATION, 1) == 1:
            return source.path.read_bytes()
    return None


def strip_picture(line: Line) -> bytes:
    """A straightened line as JPEG, at most `MAX_STRIP_HEIGHT` pixels high."""
    image = Image.fromarray(line)
    if image.height > MAX_STRIP_HEIGHT:
        width = max(1, round(image.width * MAX_STRIP_HEIGHT / image.height))
        image = image.resize((width, MAX_STRIP_HEIGHT), reducing_gap=2)
    return jpeg(image)


def jpeg(image: Image.Image) -> bytes:
    """An image as JPEG, reduced if it is too long for one; the page scales it to the size of its scan."""
    file = BytesIO()
    image.thumbnail((MAX_SIDE, MAX_SIDE))
    (image if image.mode in ("L", "RGB") else image.convert("RGB")).save(file, "JPEG", quality=QUALITY)
    return file.getvalue()
