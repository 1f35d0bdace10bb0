"""Pages rendered with a font: positions and texts of their lines are known."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from drethtr.layout.finder import Layout
from drethtr.layout.order import arranged

HAND = Path(__file__).parent / "fonts" / "cedarville-cursive.ttf"
TEXTS = (
    "Dear Sir, I have received",
    "your letter of the fourth",
    "and thank you for the news",
    "of our friends in the town",
    "The weather has been fair",
    "and the harvest is nearly in",
    "My brother sends you greetings",
    "and hopes to see you soon",
)


class MadeLine(NamedTuple):
    """A text, and the box of its ink: left, top, right, bottom."""

    text: str
    box: tuple[int, int, int, int]


class MadePage(NamedTuple):
    image: Image.Image
    lines: list[MadeLine]

    @property
    def gray(self):
        return np.asarray(self.image)


def blank(width=900, height=1000, tone=225):
    return MadePage(Image.new("L", (width, height), tone), [])


def write(page, texts, left=80, top=60, size=34, pitch=70, ink=40):
    """Add lines to a page, one below the other."""
    font = ImageFont.truetype(str(HAND), size)
    pen = ImageDraw.Draw(page.image)
    for number, text in enumerate(texts):
        place = (left, top + number * pitch)
        pen.text(place, text, fill=ink, font=font)
        page.lines.append(MadeLine(text, tuple(round(edge) for edge in pen.textbbox(place, text, font=font))))
    return page


def letter():
    """A page with a line per text."""
    return write(blank(width=700, height=680), TEXTS)


def blocks_of(lines):
    """The numbers of the lines of each block, in reading order."""
    return [list(region.lines) for region in arranged(Layout.of(lines)).regions or ()]


def overlap(box, points):
    """Intersection over union of a box and the box around points."""
    (left, top), (right, bottom) = np.min(points, axis=0), np.max(points, axis=0)
    width = min(box[2], right) - max(box[0], left)
    height = min(box[3], bottom) - max(box[1], top)
    shared = max(width, 0) * max(height, 0)
    return shared / ((box[2] - box[0]) * (box[3] - box[1]) + (right - left) * (bottom - top) - shared)


def matched(page, polygons):
    """For each line of the page, the index of the best matching polygon; fails if lines are missed or merged."""
    places = []
    for line in page.lines:
        shares = [overlap(line.box, polygon) for polygon in polygons]
        assert shares and max(shares) > 0.4, f"{line.text!r} is not found: {max(shares, default=0):.2f}"
        places.append(int(np.argmax(shares)))
    assert len(set(places)) == len(places), "two lines were found as one"
    return places
