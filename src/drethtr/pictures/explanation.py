"""Draw a picture that explains the reading of a line: confidences, flags, the decoder's attention."""

from collections.abc import Callable
from math import log2
from typing import NamedTuple

import numpy as np
from PIL import Image

from drethtr.base.errors import DataError
from drethtr.base.version import __version__
from drethtr.images.line import Line
from drethtr.pictures.canvas import GRAY, Canvas, Color, Label, Photo, Rectangle
from drethtr.recognition.confidence.evidence import in_both
from drethtr.recognition.confidence.ink import Ink
from drethtr.recognition.decoding.strategies import decoder_name
from drethtr.recognition.pieces import stitch
from drethtr.recognition.protocol import Attention
from drethtr.recognition.reading import Character, Reading
from drethtr.recognition.recognizer import Recognizer
from drethtr.text.tokenizer import BOS

SURE: Color = (30, 60, 50)

DOUBTFUL: Color = (225, 120, 0)

LOST: Color = (205, 0, 40)

NO_DOUBT = 0.9
"""Characters with at least this confidence are not marked on the line."""

HEIGHT = 96
"""Height of the drawn line."""

MARGIN = 10

LABELS = 190
"""Width of the left column, with the labels."""

TITLES = 140
"""Right edge of the titles, which leaves room for labels of single rows."""

GAP = 12
"""Space between the parts of the picture."""

ROW = 9
"""Height of a character's row in the attention map."""

BAR_HEIGHT = 16
"""Height of the bars of one layer."""

OCTAVE = 24
"""Length of a bar per doubling of the memory, in pixels."""

LETTER = 8
"""Maximum width of a letter, in pixels."""

BAR: Color = (70, 110, 160)

Shape = Rectangle | Label | Photo


class Explanation(NamedTuple):
    """Everything shown about a line.

    tokens   the text of each decoded token
    draft    the CTC draft, if the reading comes from the decoder
    extent   pixels of the line that the image tokens cover
    read_by  version, model and decoder, and whether confidences are uncalibrated
    """

    line: Line
    reading: Reading
    tokens: tuple[str, ...]
    draft: Reading | None
    attention: Attention
    extent: float
    read_by: str


def explain(recognizer: Recognizer, line: Line) -> Explanation:
    """Read a line as usual, then record the decoder's attention for the resulting text.

    Raises:
        DataError: if the line is so long that it is read in pieces.
    """
    pieces = recognizer.pieces.prepare(0, line)
    if len(pieces) > 1:
        raise DataError(f"the line is too long to explain: it is read in {len(pieces)} pieces; cut it first")
    network, tokenizer = recognizer.network, recognizer.model.tokenizer
    [piece] = recognizer.pieces.read(pieces)
    view = recognizer.pieces.view([pieces[0].prepared])
    before = [BOS, *piece.tokens[:-1]]
    attention = network.attend(view.memory, before[: max(len(piece.tokens), 1)])
    count = view.memory.tokens[0]
    reading = recognizer.judge(line, [piece], Ink.of(line))
    opinion = "" if reading.calibrated else "; its confidences are not calibrated"
    per_token = network.dimensions.columns_per_token * line.shape[1] / pieces[0].prepared.shape[1]
    return Explanation(
        line,
        reading,
        tuple(tokenizer.decode([token]) for token in piece.tokens),
        None if piece.draft is None else stitch([(piece.piece, piece.draft)]),
        attention,
        count * per_token,
        f"drethtr {__version__}, model {recognizer.model.identity}, {decoder_name(recognizer.strategy)}{opinion}",
    )


class Frame(NamedTuple):
    """The place of a part in the picture: the scale of the line, and the part's upper left corner."""

    scale: float
    left: float
    top: float


Drawn = tuple[list[Shape], float]
"""Shapes and their height, 0 if there is nothing to draw."""


def draw(explanation: Explanation) -> Canvas:
    """Draw the picture from top to bottom."""
    shapes: list[Shape] = []
    top = float(MARGIN)
    for title, part in PARTS.items():
        drawn, height = part(explanation, Frame(HEIGHT / explanation.line.shape[0], LABELS + MARGIN, top))
        if height:
            shapes += [Label(TITLES, top + min(height, HEIGHT) / 2 + 4, title, 12, GRAY, "end"), *drawn]
            top += height + GAP
    width = LABELS + explanation.line.shape[1] * HEIGHT / explanation.line.shape[0]
    widest = max(width, *(shape.x + LETTER * len(shape.text) for shape in shapes if isinstance(shape, Label)))
    return Canvas(round(widest) + 2 * MARGIN, round(top) + MARGIN, tuple(shapes))


def draw_line(explanation: Explanation, frame: Frame) -> Drawn:
    """Draw the line."""
    return show_line(explanation.line, explanation.reading.characters, frame.left, frame.top), HEIGHT


def draw_text(explanation: Explanation, frame: Frame) -> Drawn:
    """Draw each character under its position."""
    return show_text(explanation.reading.characters, frame.scale, frame.left, frame.top + 38), 46


def draw_words(explanation: Explanation, frame: Frame) -> Drawn:
    """Draw the confidence of each word, under a bar of the word's width."""
    shapes: list[Shape] = []
    for word in explanation.reading.words():
        first, last = (frame.left + edge * frame.scale for edge in (word.left, word.right))
        color = color_of(word.confidence)
        percent = Label((first + last) / 2, frame.top + 17, f"{word.confidence:.0%}", 12, color, "middle")
        shapes += [Rectangle(first + 2, frame.top, last - 2, frame.top + 3, color), percent]
    return shapes, 18 if shapes else 0


def draw_draft(explanation: Explanation, frame: Frame) -> Drawn:
    """Draw the CTC draft, red where the reading differs."""
    if explanation.draft is None:
        return [], 0
    kept = in_both(explanation.draft.text, explanation.reading.text)
    return [
        Label(
            frame.left + (character.left + character.right) / 2 * frame.scale,
            frame.top + 20,
            character.text,
            24,
            GRAY if same else LOST,
            "middle",
        )
        for character, same in zip(explanation.draft.characters, kept, strict=True)
    ], 26


def draw_flags(explanation: Explanation, frame: Frame) -> Drawn:
    """Draw each flag, below a bar at its position."""
    shapes: list[Shape] = []
    top = frame.top
    for flag in explanation.reading.flags:
        first, last = (frame.left + edge * frame.scale for edge in (flag.left, flag.right))
        shapes += [
            Rectangle(first, top, last, top + 4, LOST),
            Label(frame.left, top + 20, str(flag), 14, LOST),
        ]
        top += 28
    return shapes, top - frame.top


def draw_attention(explanation: Explanation, frame: Frame) -> Drawn:
    """Draw a row per character, dark where the decoder attended, averaged over layers and heads."""
    if not explanation.tokens:
        return [], 0
    shares = explanation.attention.image.mean((0, 1))
    gray = (255 * (1 - shares / shares.max(1, keepdims=True))).astype(np.uint8)
    size = max(1, round(explanation.extent * frame.scale)), ROW * len(explanation.tokens)
    shapes: list[Shape] = [Photo(frame.left, frame.top, Image.fromarray(gray).resize(size, Image.Resampling.NEAREST))]
    for row, token in enumerate(explanation.tokens):
        shapes.append(Label(frame.left - 4, frame.top + ROW * (row + 1) - 1, token, ROW, GRAY, "end"))
    return shapes, size[1]


def draw_memory(explanation: Explanation, frame: Frame) -> Drawn:
    """Draw a bar per head and layer, with a length logarithmic in the number of characters it remembers."""
    if explanation.attention.reach is None:
        return [Label(frame.left, frame.top + 14, "the whole text, in every layer", 12, GRAY)], 18
    shapes: list[Shape] = []
    top = frame.top
    for number, heads in enumerate(explanation.attention.reach.tolist(), start=1):
        shapes.append(Label(frame.left - 4, top + 12, f"layer {number}", 10, GRAY, "end"))
        for head, reach in enumerate(heads):
            thick = BAR_HEIGHT / len(heads)
            bar = top + head * thick
            shapes.append(Rectangle(frame.left, bar, frame.left + 4 + OCTAVE * log2(reach), bar + thick - 0.5, BAR))
        span = f"{min(heads):.3g}" if len({f"{r:.3g}" for r in heads}) == 1 else f"{min(heads):.3g} to {max(heads):.3g}"
        end = frame.left + 12 + OCTAVE * log2(max(heads))
        shapes.append(Label(end, top + 12, f"about {span} characters back", 11, GRAY))
        top += BAR_HEIGHT + 6
    return shapes, top - frame.top


def draw_reader(explanation: Explanation, frame: Frame) -> Drawn:
    """Draw the name of the model that read the line."""
    return [Label(frame.left, frame.top + 14, explanation.read_by, 12, GRAY)], 18


PARTS: dict[str, Callable[[Explanation, Frame], Drawn]] = {
    "": draw_line,
    "text": draw_text,
    "confidence": draw_words,
    "CTC draft": draw_draft,
    "flags": draw_flags,
    "attention": draw_attention,
    "memory": draw_memory,
    "read by": draw_reader,
}
"""The drawing function of each part by its label, from top to bottom."""


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
