"""A contact sheet: many lines in one picture, each above its caption."""

import re
from collections.abc import Sequence
from functools import cache

from PIL import Image, ImageDraw, ImageFont
from PIL.ImageFont import FreeTypeFont

from drethtr.base.errors import DataError
from drethtr.images.line import Line

CAPTION_PIXELS = 15
MARGIN = 8
MAX_WIDTH, MAX_HEIGHT = 1100, 300  # larger lines are scaled down
MAX_LETTERS = 140  # per row of a caption
# System fonts, since Pillow's own font has no accents.
SYSTEM_FONTS = ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "LiberationSans-Regular.ttf", "Arial.ttf", "Helvetica.ttc")

SEPARATORS = re.compile("[\r\x1c-\x1e\x85\u2029]")
"""Ends of paragraphs, which Pillow refuses to draw within a row; it takes only line feeds for ends of rows."""


def contact_sheet(lines: Sequence[tuple[Line, str]], columns: int = 2) -> Image.Image:
    """Draw lines and their captions, row by row, in gray; a caption may have several rows of text.

    Raises:
        DataError: if there are no lines.
    """
    if not lines:
        raise DataError("no lines to show on a contact sheet")
    font = caption_font()
    cells = [draw_cell(line, caption, font) for line, caption in lines]
    rows = [cells[start : start + columns] for start in range(0, len(cells), columns)]
    width = max(cell.width for cell in cells) + MARGIN
    heights = [max(cell.height for cell in row) + MARGIN for row in rows]
    sheet = Image.new("L", (width * min(columns, len(cells)) + MARGIN, sum(heights) + MARGIN), 255)
    top = MARGIN
    for row, height in zip(rows, heights, strict=True):
        for column, cell in enumerate(row):
            sheet.paste(cell, (MARGIN + column * width, top))
        top += height
    return sheet


def draw_cell(line: Line, caption: str, font: FreeTypeFont | ImageFont.ImageFont) -> Image.Image:
    """Draw one line above its caption, as wide as both need."""
    picture = Image.fromarray(line)
    picture.thumbnail((MAX_WIDTH, MAX_HEIGHT), Image.Resampling.LANCZOS)
    caption = "\n".join(shortened(row) for row in in_rows(caption).split("\n"))
    _, _, right, bottom = ImageDraw.Draw(picture).multiline_textbbox((0, 0), caption, font=font)
    cell = Image.new("L", (max(picture.width, int(right) + 1), picture.height + int(bottom) + 3), 255)
    cell.paste(picture, (0, 0))
    ImageDraw.Draw(cell).multiline_text((0, picture.height + 2), caption, fill=0, font=font)
    return cell


def in_rows(text: str) -> str:
    """A text that Pillow can draw: only line feeds end rows."""
    return SEPARATORS.sub(" ", text)


def shortened(row: str) -> str:
    """A row of a caption, truncated if it is too long."""
    return row if len(row) <= MAX_LETTERS else row[: MAX_LETTERS - 1] + "…"


@cache
def caption_font(pixels: int = CAPTION_PIXELS) -> FreeTypeFont | ImageFont.ImageFont:
    """A plain system font, or else Pillow's own."""
    for name in SYSTEM_FONTS:
        try:
            return ImageFont.truetype(name, pixels)
        except OSError:
            continue
    return ImageFont.load_default(pixels)
