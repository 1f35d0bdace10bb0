"""HTML of lines for notebooks, and parts for pages and reports: embedded images, confidences as tooltips.

In notebooks all styles are inline, since notebook viewers drop style sheets and scripts. The size is bounded, since the
output is stored in the notebook.
"""

from base64 import b64encode
from collections.abc import Callable, Sequence
from html import escape
from io import BytesIO
from typing import NamedTuple

from PIL import Image

from drethtr.base.errors import DataError
from drethtr.documents.transcription import SHADES, UNDERLINE, Grade, PageWord, Transcription

JPEG_QUALITY = 75  # good enough on a screen; one file may hold hundreds of strips


def jpeg_uri(image: Image.Image, largest: tuple[int, int]) -> str:
    """An image as a `data:` URI, reduced to at most this width and height."""
    small = image.convert("RGB")
    small.thumbnail(largest, Image.Resampling.LANCZOS)
    file = BytesIO()
    small.save(file, "JPEG", quality=JPEG_QUALITY)
    return f"data:image/jpeg;base64,{b64encode(file.getvalue()).decode()}"


def png_uri(image: Image.Image) -> str:
    """A drawing as a `data:` URI, without loss."""
    file = BytesIO()
    image.save(file, "PNG", optimize=True)
    return f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"


def tooltip(confidence: float | None) -> str:
    """The attribute that shows the confidence of a word under the mouse; "" if it is unknown."""
    return "" if confidence is None else f' title="confidence {confidence:.0%}"'


MAX_LINES, MAX_PARTS = 50, 400
"""Maximum number of lines, and of words of a line with the spaces between them: notebooks store their output."""

MAX_SIZE = (900, 60)
"""Largest width and height of a strip in pixels."""


class ShownLine(NamedTuple):
    """A line, and a function that returns its image, if there is one."""

    text: Transcription
    strip: Callable[[], Image.Image] | None


def lines_html(lines: Sequence[ShownLine], title: str = "") -> str:
    """The first lines, and the number of further ones."""
    rows = [f"<div><small>{escape(title)}</small></div>"] * bool(title)
    rows += map(line_html, lines[:MAX_LINES])
    if (more := len(lines) - MAX_LINES) > 0:
        rows.append(f"<div>… and {more:,} more lines</div>")
    return "".join(rows)


def line_html(line: ShownLine) -> str:
    """A line below its strip, with its flags."""
    parts = line.text.parts
    words = "".join(escape(part) if word is None else word_html(word) for part, word in parts[:MAX_PARTS])
    rest = " …" * (len(parts) > MAX_PARTS)
    color = f"color:#{UNDERLINE}"
    flags = "".join(f' <small style="{color}"><i>{escape(str(flag))}</i></small>' for flag in line.text.flags)
    return f'<div style="margin-bottom:0.6em">{strip_html(line)}<div>{words}{rest}{flags}</div></div>'


def word_html(word: PageWord) -> str:
    """A word in its shade, underlined if doubtful, with its confidence as a tooltip."""
    shade = SHADES.get(Grade.of(word.confidence))
    style = f"background:#{shade};color:#222;" * bool(shade) + f"border-bottom:2px solid #{UNDERLINE}" * word.doubtful
    looks = f' style="{style}"' if style else ""
    return f"<span{looks}{tooltip(word.confidence)}>{escape(word.text)}</span>"


def strip_html(line: ShownLine) -> str:
    """The strip of a line; "" if its image is missing."""
    try:
        image = line.strip() if line.strip is not None else None
    except DataError:
        image = None
    if image is None:
        return ""
    return f'<img alt="" style="max-width:100%;display:block" src="{jpeg_uri(image, MAX_SIZE)}">'
