"""Draw a line with its reading below: every character under its position, colored by confidence."""

from PIL import Image

from drethtr.images.line import Line
from drethtr.pictures.canvas import Canvas, Color, Label, Photo, Rectangle
from drethtr.recognition.reading import Character, Reading

SURE: Color = (30, 60, 50)
DOUBTFUL: Color = (225, 120, 0)
LOST: Color = (205, 0, 40)
NO_DOUBT = 0.9
"""Characters with at least this confidence are not marked on the line."""

HEIGHT = 96
"""Height of the drawn line."""

MARGIN = 10

Shape = Rectangle | Label | Photo


def explained_line(line: Line, reading: Reading) -> Canvas:
    """Draw the line, with doubtful characters tinted, above its reading."""
    scale = HEIGHT / line.shape[0]
    shapes = [*show_line(line, reading.characters, MARGIN, MARGIN), *show_text(reading.characters, scale, MARGIN, 155)]
    return Canvas(round(line.shape[1] * scale) + 2 * MARGIN, 180, tuple(shapes))


def show_line(line: Line, characters: tuple[Character, ...], left: float, top: float) -> list[Shape]:
    """Draw the line `HEIGHT` pixels high, tinted where characters are doubtful."""
    scale = HEIGHT / line.shape[0]
    size = (max(1, round(line.shape[1] * scale)), HEIGHT)
    written = Image.fromarray(line).resize(size, Image.Resampling.LANCZOS).convert("RGB")
    doubtful = (character for character in characters if character.confidence < NO_DOUBT)
    return [
        Photo(left, top, written),
        *(
            Rectangle(left + c.left * scale, top, left + c.right * scale, top + HEIGHT, color_of(c.confidence), 0.3)
            for c in doubtful
        ),
    ]


def show_text(characters: tuple[Character, ...], scale: float, left: float, baseline: float) -> list[Shape]:
    """Draw every character under its position, in the color of its confidence."""
    return [
        Label(
            left + (character.left + character.right) / 2 * scale,
            baseline,
            character.text,
            pixels=round(0.4 * HEIGHT),
            color=color_of(character.confidence),
            anchor="middle",
        )
        for character in characters
    ]


def color_of(confidence: float) -> Color:
    """The color of a confidence: `SURE` at 1, `DOUBTFUL` at 0.5, `LOST` at 0, interpolated in between."""
    if confidence >= 0.5:
        return between(DOUBTFUL, SURE, 2 * confidence - 1)
    return between(LOST, DOUBTFUL, 2 * confidence)


def between(first: Color, second: Color, share: float) -> Color:
    """Interpolate between two colors."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, second, strict=True))
    return red, green, blue
