"""The invisible text of a PDF page: each word is scaled to its place, on the line's baseline.

Words of a line have the same height, so that PDF readers see one line. Other rules follow from how readers, above all
poppler (Evince, Okular, `pdftotext`), extract text:

- Words are level or turned by quarter turns, each at its own height on a slanted line: poppler splits a word whose
  baseline rises by half a point.
- Text is half as high as the outlines of lines, which overlap: poppler merges lines of overlapping text.
- A gap follows each word: poppler recognizes spaces by gaps.

The font has no visible glyphs and covers all of Unicode. All characters share the one glyph of a TrueType font of a few
hundred bytes: two separate points, which leave no mark but span a box, since PDF readers ignore text without a box. It
is glyph 1, since PDF/A forbids text in glyph 0, the sign for missing characters. Source: OpenType 1.9.
"""

import math
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from statistics import median
from typing import NamedTuple, TypeAlias

import numpy as np

from drethtr.documents.markup import clean
from drethtr.documents.page import Page, TextLine
from drethtr.documents.points import Box, Point, Points, twice_area
from drethtr.documents.writers.pdf_font import UNITS, NumberedFont

FONT = "/drethtr"
BEGINNING = f"{FONT} BMC"
"""The marked content by which later runs recognize the layer."""

INVISIBLE = 3  # text rendering mode: neither fill nor stroke (ISO 32000, 9.3.6)
MIN_SIDE = 8.0
"""Minimum width and height of a word in pixels, so that a dot can be marked with a mouse, too."""

# Share of the words of 11 files that poppler finds: with these two and level words 99.8 %, with none of them 96.4 %;
# when reading in the order of the file, 100 instead of 84.9 % (LOG.md, 2026-11-24, night).

TEXT_HEIGHT = 0.5
"""Text height relative to the thickness of the outline: full height would join lines that are close together."""

GAP = 0.2
"""Minimum gap between words relative to the text height; poppler needs 0.15."""

QUARTERS = ((1, 0), (0, 1), (-1, 0), (0, -1))
"""The writing directions: right, down, left, up."""

Matrix: TypeAlias = tuple[float, float, float, float, float, float]
"""An affine matrix in PDF's order: (x, y) becomes (a x + c y + e, b x + d y + f)."""

Rise: TypeAlias = Callable[[float], float]
"""The height of a baseline at a position along the line."""


class Extent(NamedTuple):
    """The range of a polygon along a line, the height of its middle, and its average thickness."""

    begin: float
    end: float
    middle: float
    thickness: float


class Axis(NamedTuple):
    """The writing direction of a line to the nearest quarter turn; x runs to the right and y down."""

    x: int
    y: int

    def extent(self, polygon: Points) -> Extent:
        """The extent of a polygon."""
        along, up = zip(*(self.place(point) for point in polygon), strict=True)
        begin, end = min(along), max(along)
        return Extent(begin, end, (min(up) + max(up)) / 2, twice_area(polygon) / 2 / max(end - begin, 1.0))

    def place(self, point: Point) -> tuple[float, float]:
        """The position of a point along the line, and its height above it."""
        x, y = point
        return x * self.x + y * self.y, x * self.y - y * self.x

    def point(self, along: float, up: float) -> tuple[float, float]:
        """The point at a position: the inverse of `place`."""
        return along * self.x + up * self.y, along * self.y - up * self.x


ASCENT, DESCENT = 800, -200

ADVANCE = 500
"""Width of every character: half the font height; words are scaled to fit."""

BOX_HEIGHT = 500
"""Height of the glyph above the baseline: low, so that adjacent lines do not appear to overlap."""

# The constants of TrueType's table `head` (OpenType specification, head): version 1.0 of the table and of the font, the
# magic number, and what the sum of the whole file must be.
VERSION = 0x00010000
MAGIC = 0x5F0F3CF5
CHECKSUM_OF_FONT = 0xB1B0AFBA


class GlyphlessFont(NumberedFont):
    """All characters share one glyph that cannot be seen."""

    name = "Glyphless"
    box = (0, DESCENT, ADVANCE, ASCENT)

    def program(self) -> bytes:
        return truetype()

    def glyph(self, character: str) -> int:
        return 1

    def advance(self, character: str) -> int:
        return ADVANCE


def truetype() -> bytes:
    """A minimal TrueType font: an empty glyph, and one of two contours with one point each."""
    glyph = struct.pack(">hhhhhHHHBBhhhh", 2, 0, 0, ADVANCE, BOX_HEIGHT, 0, 1, 0, 1, 1, 0, ADVANCE, 0, BOX_HEIGHT)
    tables = {
        b"glyf": glyph + bytes(-len(glyph) % 4),
        b"head": struct.pack(
            ">IIIIHHqqhhhhHHhhh",
            *(VERSION, VERSION, 0, MAGIC, 0, UNITS, 0, 0),
            *(0, 0, ADVANCE, BOX_HEIGHT, 0, 8, 2, 0, 0),
        ),
        b"hhea": struct.pack(">IhhhHhhhhhhhhhhhH", VERSION, ASCENT, DESCENT, 0, ADVANCE, *[0] * 11, 2),
        b"hmtx": struct.pack(">HhHh", ADVANCE, 0, ADVANCE, 0),
        b"loca": struct.pack(">HHH", 0, 0, (len(glyph) + 3) // 4 * 2),
        b"maxp": struct.pack(">IHHHHHHHHHHHHHH", VERSION, 2, 2, 2, 0, 0, 1, *[0] * 8),
    }
    directory, body = b"", b""
    start = 12 + 16 * len(tables)
    for tag, content in tables.items():
        padded = content + bytes(-len(content) % 4)
        directory += struct.pack(">4sIII", tag, checksum(padded), start + len(body), len(content))
        body += padded
    font = struct.pack(">IHHHH", VERSION, len(tables), 64, 2, 32) + directory + body
    # The sum over the whole file must be `CHECKSUM_OF_FONT`, counted while this field is 0.
    adjustment = font.index(struct.pack(">I", MAGIC)) - 4
    correction = struct.pack(">I", (CHECKSUM_OF_FONT - checksum(font)) % 2**32)
    return font[:adjustment] + correction + font[adjustment + 4 :]


def checksum(content: bytes) -> int:
    """The sum of all 32-bit words."""
    return sum(int.from_bytes(content[start : start + 4]) for start in range(0, len(content), 4)) % 2**32


def text_layer(page: Page, font: GlyphlessFont, to_user_space: Matrix) -> bytes:
    """A content stream with the text of a page; `to_user_space` maps pixels to the PDF page."""
    rows = [f"{BEGINNING} q {operands(to_user_space)} cm BT {INVISIBLE} Tr"]
    for line in page.lines:
        if line.text.strip():
            rows += write_line(line, page, font)
    return "\n".join([*rows, "ET Q EMC"]).encode()


def operands(matrix: Matrix) -> str:
    """A matrix as PDF operands."""
    return " ".join(f"{value:.6f}" for value in matrix)


def write_line(line: TextLine, page: Page, font: GlyphlessFont) -> Iterator[str]:
    """The operators that write the words of a line."""
    axis = direction(line.baseline)
    words = list(placed_words(line, page, axis))
    height = max(TEXT_HEIGHT * median(extent.thickness for _, extent in words), MIN_SIDE)
    middle = median(extent.middle for _, extent in words)
    rise = rise_of(line.baseline, axis) if line.baseline else level(middle - height * (ASCENT + DESCENT) / 2 / UNITS)
    limits = [*(extent.begin - GAP * height for _, extent in words[1:]), math.inf]
    for (text, extent), limit in zip(words, limits, strict=True):
        length = max(min(extent.end, limit) - extent.begin, (extent.end - extent.begin) / 2, MIN_SIDE)
        x, y = axis.point(extent.begin, rise(extent.begin + length / 2))
        stretch = 100 * length / (max(len(text), 1) * height * ADVANCE / UNITS)
        # The string includes a space, since text copied from a viewer is the concatenation of these strings.
        code = font.encode(clean(text) if limit == math.inf else f"{clean(text)} ")
        place = f"{axis.x} {axis.y} {axis.y} {-axis.x} {x:.2f} {y:.2f}"
        yield f"{FONT} {height:.2f} Tf {stretch:.2f} Tz {place} Tm <{code}> Tj"


def placed_words(line: TextLine, page: Page, axis: Axis) -> Iterator[tuple[str, Extent]]:
    """The words of a line with their extents; if any is unknown, the line is divided by letter count."""
    polygons = [word.polygon for word in line.words if word.polygon]
    if line.words and len(polygons) == len(line.words):
        yield from ((word.text, axis.extent(polygon)) for word, polygon in zip(line.words, polygons, strict=True))
        return
    # Unknown places: every letter gets the same width, which is near enough to find a word on its line.
    whole = axis.extent(outline(line, page))
    letter = (whole.end - whole.begin) / len(line.text)
    for word in re.finditer(r"\S+", line.text):
        begin, end = (whole.begin + place * letter for place in word.span())
        yield word[0], whole._replace(begin=begin, end=end)


def outline(line: TextLine, page: Page) -> Points:
    """The polygon of a line; a line without position goes to the top of the page, where search still finds it."""
    box = line.box or Box(0, 0, page.width, 0)
    return line.polygon or box.polygon()


def direction(baseline: Points | None) -> Axis:
    """The quarter turn nearest to the direction of the baseline; to the right if there is none."""
    if not baseline:
        return Axis(1, 0)
    (x, y), (u, v) = baseline[0], baseline[-1]
    return Axis(*max(QUARTERS, key=lambda quarter: quarter[0] * (u - x) + quarter[1] * (v - y)))


def turn_of(page: Page) -> int:
    """The clockwise rotation in degrees that makes most of the text upright."""
    lengths: Counter[Axis] = Counter()
    for line in page.lines:
        lengths[direction(line.baseline)] += len(line.text)
    axis = max(lengths, key=lengths.__getitem__, default=Axis(1, 0))
    return -90 * QUARTERS.index(axis) % 360


def rise_of(baseline: Points, axis: Axis) -> Rise:
    """The height of the baseline at each position along a line."""
    along, up = zip(*sorted(axis.place(point) for point in baseline), strict=True)
    return lambda place: float(np.interp(place, along, up))


def level(up: float) -> Rise:
    """A constant height."""
    return lambda _: up
