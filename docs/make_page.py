"""Render a synthetic scan of a letter: the page of the README. Used by `make pictures`."""

from pathlib import Path

import numpy as np
from PIL import Image

from drethtr.images.fields import blur
from drethtr.synthesis.fonts import Face
from drethtr.synthesis.paper import FINE, FLOW, SLOW, texture
from drethtr.synthesis.writing import Pen, write

ROOT = Path(__file__).parents[1]
FACE = ROOT / "tests" / "fonts" / "cedarville-cursive.ttf"

WIDTH, HEIGHT, LINE_HEIGHT, FONT_SIZE = 1240, 1500, 84, 62
PEN = Pen(slant=1.0, wobble=0.7, stretch=0.02, spacing=0.03, drift=0.04, gap=(0.7, 0.8), stroke=(0.12, 0.13))
LETTER = (
    (660, 90, "Whitby, 4 March 1905"),
    (110, 250, "My dear Eleanor,"),
    (190, 350, "your parcel arrived on Thursday,"),
    (110, 436, "and with it the seeds you promised."),
    (110, 522, "I have sown half of them under glass"),
    (110, 608, "and shall keep the rest for the wall"),
    (110, 694, "behind the kitchen. The ferry left at"),
    (110, 780, "six, an hour before the fog came down"),
    (110, 866, "over the harbour, and we counted the"),
    (110, 952, "lamps along the quay until there were"),
    (110, 1038, "none left to count."),
    (190, 1124, "Do write soon, and tell me how"),
    (110, 1210, "the garden does."),
    (600, 1330, "Your loving sister, Anne"),
)
"""The position (left, top) of each line in pixels, and its text."""


def make_page(seed: int = 7) -> Image.Image:
    """Render the letter on slightly uneven gray-yellow paper, with its lower corner in shadow."""
    rng = np.random.default_rng(seed)
    ink = np.zeros((HEIGHT, WIDTH), dtype=np.float32)
    face = Face(FACE)
    for left, top, text in LETTER:
        written = write(text, face, PEN, LINE_HEIGHT, rng)
        size = tuple(round(length * FONT_SIZE / written.font.size) for length in reversed(written.ink.shape))
        line = np.asarray(Image.fromarray(written.ink).resize(size, Image.Resampling.LANCZOS), dtype=np.float32) / 255
        height, width = line.shape
        window = ink[top : top + height, left : left + width]
        np.maximum(window, line[: window.shape[0], : window.shape[1]], out=window)
    shape = ink.shape
    ground = 226 + 3 * blur(texture(SLOW, shape, rng), 4) + 1.5 * texture(FINE, shape, rng)
    rows, columns = np.linspace(-1, 1, HEIGHT)[:, None], np.linspace(-1, 1, WIDTH)
    ground = ground - 14 * np.clip(rows + columns, 0, None) ** 2
    flow = ink * (0.8 + 0.06 * texture(FLOW, shape, rng)).clip(0.6, 0.92)
    tones = [(ground * tint * (1 - flow) + dark * flow) for tint, dark in ((1.0, 40), (0.97, 38), (0.88, 60))]
    return Image.fromarray(np.stack(tones, axis=2).clip(0, 255).astype(np.uint8))


if __name__ == "__main__":
    make_page().save(ROOT / "samples" / "page" / "letter.jpg", quality=80, progressive=True)
