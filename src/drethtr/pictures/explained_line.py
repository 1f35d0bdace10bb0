"""A line with its reading below, every character under the writing it stands for, and doubts in color."""

from PIL import Image, ImageDraw

from drethtr.images.line import Line
from drethtr.pictures.contact_sheet import caption_font
from drethtr.reading import Character, Reading

Color = tuple[int, int, int]

SURE: Color = (30, 60, 50)
DOUBTFUL: Color = (225, 120, 0)
LOST: Color = (205, 0, 40)
NO_DOUBT = 0.9
"""Characters surer than this are not marked on the line."""

SCALE = 1.5
MARGIN = 10


def explained_line(line: Line, reading: Reading) -> Image.Image:
    """The line one and a half times as large, doubtful places tinted, above its reading.

    Characters are `SURE` at confidence 1, `DOUBTFUL` at 0.5 and `LOST` at 0, with all shades between.
    """
    height, width = (round(size * SCALE) for size in line.shape)
    written = Image.fromarray(line).resize((width, height), Image.Resampling.LANCZOS).convert("RGB")
    for character in reading.characters:
        if character.confidence < NO_DOUBT:
            tint(written, character)
    font = caption_font(round(0.4 * height))
    picture = Image.new("RGB", (width + 2 * MARGIN, height + round(0.65 * height) + 2 * MARGIN), "white")
    picture.paste(written, (MARGIN, MARGIN))
    pen = ImageDraw.Draw(picture)
    for character in reading.characters:
        middle = MARGIN + (character.left + character.right) / 2 * SCALE
        place = (middle, MARGIN + 1.5 * height)
        pen.text(place, character.text, fill=color_of(character.confidence), font=font, anchor="ms")
    return picture


def tint(picture: Image.Image, character: Character) -> None:
    """Lay the color of a character over its place, through which the ink is still seen."""
    left, right = max(0, round(character.left * SCALE)), min(picture.width, round(character.right * SCALE))
    if left >= right:
        return
    box = (left, 0, right, picture.height)
    place = picture.crop(box)
    picture.paste(Image.blend(place, Image.new("RGB", place.size, color_of(character.confidence)), 0.3), box)


def color_of(confidence: float) -> Color:
    """The color that stands for a confidence from 0 to 1."""
    if confidence >= 0.5:
        return between(DOUBTFUL, SURE, 2 * confidence - 1)
    return between(LOST, DOUBTFUL, 2 * confidence)


def between(first: Color, second: Color, share: float) -> Color:
    """The color at `share` of the way from one to another."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue
