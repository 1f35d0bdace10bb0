"""A sheet on which a synthetic page is written: hands that keep their size and slant, marks, and the layout of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import NamedTuple
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from drethtr.base.arrays import Booleans, Floats
from drethtr.layout.finder import Cell, FoundLine, FoundRegion, Kind, Role
from drethtr.synthesis.fonts import Face
from drethtr.synthesis.paper import supply_of_ink
from drethtr.synthesis.writing import Pen, write

WRITTEN = 56
"""Height in pixels at which lines are written before they are put on the page."""

MAX_CUT = 0.4
"""A line that loses a larger share of its length than this at the edge of its page is not a line of that page."""

Edges = tuple[float, float, float, float]
"""Left, top, right and bottom in pixels."""


def inset(box: Edges, x: float, y: float) -> Edges:
    """A box with margins, relative to its width and height."""
    left, top, right, bottom = box
    x, y = x * (right - left), y * (bottom - top)
    return left + x, top + y, right - x, bottom - y


class Mark(NamedTuple):
    """A written line: its ink, and its points in pixels from the start of the baseline."""

    ink: NDArray[np.uint8]
    corner: tuple[int, int]
    baseline: Floats
    polygon: Floats

    @property
    def width(self) -> float:
        """From end to end."""
        return float(np.ptp(self.baseline[:, 0]))


@dataclass
class Hand:
    """A hand on one page, which keeps its size and slant, with what it writes.

    x_height  in pixels
    slant     columns per row, added to that of the face
    """

    face: Face
    pen: Pen
    x_height: float
    slant: float
    words: Iterator[str]
    language: str
    rng: np.random.Generator

    def smaller(self, factor: float) -> "Hand":
        """The same hand in another size."""
        return replace(self, x_height=self.x_height * factor)

    def width(self, text: str) -> float:
        """About how wide a text will be."""
        em = self.face.reference.size
        # Words are as far apart as `writing.set_words` puts them.
        scale = self.x_height / (self.face.x_height * em)
        gaps = text.count(" ") * self.pen.gap[0] * max(self.face.x_height, 0.45 * self.face.ascent) * em
        return float(self.face.reference.getlength(text.replace(" ", "")) + gaps) * scale

    def line(self, width: float) -> str:
        """As many of the next words as fit, sometimes with a part of the last one."""
        line, most = "", max(width, 3 * self.x_height)
        for word in self.words:
            if not self.face.draws(word):
                continue
            longer = f"{line} {word}".strip()
            if self.width(longer) > most:
                if len(word) > 6 and word.isalpha() and self.rng.random() < 0.2:
                    return f"{line} {word[: int(self.rng.integers(3, len(word) - 2))]}-".strip()
                return line or word[: max(1, int(len(word) * most / self.width(word)))]
            line = longer
        return line

    def next_words(self, least: int, most: int) -> str:
        """A few of the next words."""
        count = int(self.rng.integers(least, most + 1))
        return " ".join(islice(filter(self.face.draws, self.words), count))

    def known(self, text: str, otherwise: str = "12") -> str:
        """A text, or another one if the face lacks its characters."""
        return text if text and self.face.draws(text) else otherwise

    def mark(self, text: str, *, most: float = np.inf, slope: float = 0.0) -> Mark:
        """A written text, narrower if it would be wider than `most`."""
        written = write(text, self.face, self.pen, WRITTEN, self.rng)
        size = self.x_height * self.rng.normal(1, 0.03) / (self.face.x_height * written.font.size * written.scale)
        baseline = written.baseline()
        across = size * min(1.0, most / max(size * float(np.ptp(baseline[:, 0])), 1.0))
        flow = supply_of_ink(written.ink.shape[1], WRITTEN, self.rng) * self.rng.uniform(0.8, 1.0)
        change = np.array(((across, -self.slant * size), (slope * across, size)))
        return set_down((written.ink * flow).astype(np.uint8), baseline, change)


def set_down(ink: NDArray[np.uint8], baseline: Floats, change: Floats) -> Mark:
    """A written line changed by a matrix, with the start of its baseline at 0, 0."""
    height, width = ink.shape
    start = baseline[0]
    corners = (np.array(((0, 0), (width, 0), (width, height), (0, height))) - start) @ change.T
    first = np.floor(corners.min(0)).astype(int)
    columns, rows = (np.ceil(corners.max(0)).astype(int) - first).clip(1).tolist()
    back = np.linalg.inv(change)
    offset = start + back @ first
    data = (back[0, 0], back[0, 1], offset[0], back[1, 0], back[1, 1], offset[1])
    picture = Image.fromarray(ink).transform((columns, rows), Image.Transform.AFFINE, data, Image.Resampling.BILINEAR)
    outline = around(ink > 40, max(4, WRITTEN // 3))
    return Mark(
        np.asarray(picture),
        (int(first[0]), int(first[1])),
        (baseline - start) @ change.T,
        (outline - start) @ change.T,
    )


def around(ink: Booleans, step: int) -> Floats:
    """An outline of ink: its highest and lowest rows in windows of `step` columns, filled between them."""
    inked = np.flatnonzero(ink.any(0))
    if not inked.size:
        height, width = ink.shape
        return np.array(((0, 0), (width, 0), (width, height), (0, height)), dtype=np.float64)
    edges = np.linspace(inked[0], inked[-1] + 1, max(2, int(np.ptp(inked)) // step + 1)).round().astype(int)
    tops, bottoms, places = [], [], []
    for left, right in pairwise(edges.tolist()):
        rows = np.flatnonzero(ink[:, left:right].any(1))
        if rows.size:
            places += [left, right]
            tops += [rows[0] - 1] * 2
            bottoms += [rows[-1] + 2] * 2
    upper = np.stack((np.array(places), np.array(tops)), 1)
    lower = np.stack((np.array(places), np.array(bottoms)), 1)[::-1]
    return np.concatenate((upper, lower)).astype(np.float64)


def printed(text: str, x_height: float, rng: np.random.Generator) -> Mark:
    """A printed line."""
    font = ImageFont.load_default(max(8.0, 1.9 * x_height))
    text = text.upper() if rng.random() < 0.5 else text
    text = normalize("NFD", text).encode("ascii", "ignore").decode() or "1"  # Pillow's font has few accents
    left, top, right, bottom = (round(edge) for edge in font.getbbox(text, anchor="ls"))
    picture = Image.new("L", (max(1, right - left), max(1, bottom - top)))
    ImageDraw.Draw(picture).text((-left, -top), text, fill=255, font=font, anchor="ls")
    ink = np.asarray(picture)
    baseline = np.array(((0.0, -top), (ink.shape[1] - 1.0, -top)))
    return set_down(ink, baseline, np.eye(2))


class Stroke(NamedTuple):
    """A stroke of a pen or of print: points, width in pixels, and its ink from 0 to 255."""

    points: Floats
    width: int
    ink: int


class Sheet:
    """A page in the making: ink, and the layout of it, in reading order."""

    def __init__(self, height: int, width: int) -> None:
        self.ink = np.zeros((height, width), dtype=np.uint8)
        self.lines: list[FoundLine] = []
        self.regions: list[FoundRegion] = []
        self.strokes: list[Stroke] = []

    def put(self, mark: Mark, left: float, foot: float, role: Role = Role.BODY) -> list[int]:
        """Put down a line; its number, or nothing if most of it is beyond the edge."""
        height, width = self.ink.shape
        column, row = round(left) + mark.corner[0], round(foot) + mark.corner[1]
        first_row, first_column = max(0, -row), max(0, -column)
        part = mark.ink[first_row : max(0, height - row), first_column : max(0, width - column)]
        if not part.size:
            return []
        window = self.ink[row + first_row :, column + first_column :][: part.shape[0], : part.shape[1]]
        np.maximum(window, part, out=window)
        place = np.array((round(left), round(foot)))
        baseline = mark.baseline + place
        seen = baseline[((baseline >= 0) & (baseline < (width, height))).all(1)]
        if len(seen) < max(2, (1 - MAX_CUT) * len(baseline)):
            return []
        polygon = (mark.polygon + place).clip(0, (width, height))
        self.lines.append(FoundLine(seen, polygon, role))
        return [len(self.lines) - 1]

    def region(self, kind: Kind, lines: Sequence[int], cells: Sequence[Cell] = ()) -> None:
        """Add a region after the others."""
        if lines:
            self.regions.append(FoundRegion(kind, tuple(lines), cells=tuple(cells)))

    def stroke(self, points: Sequence[Sequence[float]], width: int, ink: int) -> None:
        """Draw a stroke, such as a rule."""
        self.strokes.append(Stroke(np.array(points, dtype=np.float64), width, ink))
