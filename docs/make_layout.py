"""Draw what `rapid` finds on four made pages: a letter, an opening, a register, a page with notes (`make pictures`)."""

from itertools import pairwise
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from drethtr import RapidDetector
from drethtr.layout.finder import Kind
from drethtr.layout.order import arranged

ROOT = Path(__file__).parents[1]
HAND = ROOT / "tests" / "fonts" / "cedarville-cursive.ttf"

TEXTS = (
    *(
        "Dear Sir, I have received",
        "your letter of the fourth",
        "and thank you for the news",
        "of our friends in town.",
    ),
    *(
        "The weather has been fair",
        "and the harvest is nearly in.",
        "My brother sends greetings",
        "and hopes to see you soon.",
    ),
)
REGISTER = (
    *("101", "4 March", "John Hale, baker", "12.50"),
    *("102", "4 March", "Widow Marsh", "3.20"),
    *("103", "7 March", "Thos. Lowe, carter", "8.75"),
    *("104", "9 March", "Parish of St Mary", "40.00"),
    *("105", "11 March", "J. Atkins, mason", "6.10"),
    *("106", "12 March", "Anne Field", "2.00"),
)
COLORS = {Kind.TEXT: (30, 110, 60), Kind.MARGIN: (170, 90, 0), Kind.TABLE: (30, 70, 160)}
INK, PAPER, STROKE, FOLD, ORDER = 45, 228, (150, 60, 160), (0, 150, 170), (200, 40, 40)


def written(page: Image.Image, texts: tuple[str, ...], left: int, top: int, size: int, pitch: int) -> None:
    """Write lines below each other."""
    font = ImageFont.truetype(str(HAND), size)
    for number, text in enumerate(texts):
        ImageDraw.Draw(page).text((left, top + number * pitch), text, fill=INK, font=font)


def made_pages() -> list[Image.Image]:
    """The four pages."""
    letter, opening, register, notes = (Image.new("L", (width, 760), PAPER) for width in (640, 1120, 940, 780))
    written(letter, TEXTS, 60, 60, 36, 80)
    for left, texts in ((50, TEXTS), (610, TEXTS[::-1])):
        written(opening, texts, left, 70, 34, 78)
    ImageDraw.Draw(opening).line([(560, 0), (562, 760)], fill=120, width=5)
    for column, left in enumerate((50, 140, 330, 780)):
        written(register, REGISTER[column::4], left, 120, 36, 95)
    for column in (20, 115, 300, 750, 915):
        ImageDraw.Draw(register).line([(column, 60), (column, 720)], fill=110, width=3)
    written(notes, TEXTS, 250, 60, 36, 80)
    written(notes, ("paid in full", "by his son,", "4 March"), 30, 290, 24, 50)
    return [letter, opening, register, notes]


def drawn(page: Image.Image) -> Image.Image:
    """A page with the outlines of its lines by kind of region, rules, the fold, and the way through its lines."""
    layout = arranged(RapidDetector().find(np.asarray(page)))
    picture = page.convert("RGB")
    pen = ImageDraw.Draw(picture)
    for strokes, color in ((layout.rules, STROKE), (layout.folds, FOLD)):
        for ends in strokes:
            pen.line([(x, y) for x, y in ends.tolist()], fill=color, width=4)
    way = []
    for region in layout.regions or ():
        for number in region.lines:
            line = layout.lines[number]
            pen.polygon([(x, y) for x, y in line.polygon.tolist()], outline=COLORS[Kind(region.kind)], width=3)
            way.append(tuple(line.baseline.mean(0).tolist()))
    for start, end in pairwise(way):
        pen.line([start, end], fill=ORDER, width=2)
    return picture


def make_layout() -> Image.Image:
    """The four pages side by side, the first two above the others."""
    letter, opening, register, notes = map(drawn, made_pages())
    picture = Image.new("RGB", (1800, 1560), "white")
    for page, place in ((letter, (0, 0)), (opening, (660, 0)), (register, (0, 790)), (notes, (960, 790))):
        picture.paste(page, place)
    return picture.resize((840, 728), Image.Resampling.LANCZOS)


if __name__ == "__main__":
    make_layout().save(ROOT / "docs" / "images" / "layout.webp", quality=34, method=6)
