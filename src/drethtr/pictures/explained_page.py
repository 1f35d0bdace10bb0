"""A page beside its text: the detected lines, their readings, and doubtful words in color."""

from PIL import Image, ImageDraw

from drethtr.documents.page import Page, PageWord, TextLine
from drethtr.pictures.canvas import Canvas, Photo, Rectangle, Words
from drethtr.pictures.contact_sheet import caption_font
from drethtr.pictures.explained_line import color_of

HEIGHT = 760
"""Height of the displayed page."""

GAP = 16
TEXT_WIDTH = 0.85
"""Width of the text relative to the page."""

OUTLINE = (40, 130, 190)


def explained_page(scan: Image.Image, page: Page) -> Canvas:
    """The scan with outlines of lines and doubtful words, and the text on its right."""
    scale = HEIGHT / page.height
    width = round(page.width * scale)
    shown = outlined(scan, page, scale).resize((width, HEIGHT), Image.Resampling.LANCZOS)
    shapes: list[Photo | Rectangle | Words] = [Photo(0, 0, shown)]
    pixels = text_size(page, scale)
    for line in page.lines:
        for word in line.words:
            if word.doubtful and (box := word.box) is not None:
                left, top, right, bottom = (edge * scale for edge in box)
                shapes.append(Rectangle(left, top, right, bottom, color_of(word.confidence or 0.0), 0.25))
        shapes += written(line, scale, width, pixels)
    return Canvas(round((1 + TEXT_WIDTH) * width) + 2 * GAP, HEIGHT, tuple(shapes))


def outlined(scan: Image.Image, page: Page, scale: float) -> Image.Image:
    """The scan with a thin outline around each line."""
    picture = scan.convert("RGB")
    pen = ImageDraw.Draw(picture)
    for line in page.lines:
        if line.polygon:
            pen.line([*line.polygon, line.polygon[0]], fill=OUTLINE, width=max(1, round(1.2 / scale)))
    return picture


def text_size(page: Page, scale: float) -> int:
    """The font size in pixels at which the longest line fits."""
    longest = max((len(line.text) for line in page.lines), default=1)
    return max(9, min(20, round(TEXT_WIDTH * page.width * scale / (0.55 * max(longest, 1)))))


def written(line: TextLine, scale: float, left: float, pixels: int) -> list[Photo | Rectangle | Words]:
    """The words of a line in the text column, at the height of the line on the page."""
    box = line.box
    if box is None:
        return []
    font = caption_font(pixels)
    x = left + GAP + TEXT_WIDTH * box.left * scale * 0.6
    y = (box.top + box.bottom) / 2 * scale + 0.35 * pixels
    shapes: list[Photo | Rectangle | Words] = []
    for word in line.words or (PageWord(line.text),):
        shapes.append(Words(x, y, word.text, pixels, color_of(1.0 if word.confidence is None else word.confidence)))
        x += font.getlength(word.text + " ")
    return shapes
