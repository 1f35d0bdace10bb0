"""HTML of lines for notebooks: each line with its strip of the scan, and its words shaded by confidence.

All styles are inline, since notebook viewers drop style sheets and scripts. The size is bounded, since the output is
stored in the notebook.
"""

from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

from PIL import Image

from drethtr.base.errors import DataError
from drethtr.documents.html import jpeg_uri, tooltip
from drethtr.documents.transcription import SHADES, UNDERLINE, Grade, PageWord, Transcription

MAX_LINES = 50
MAX_PARTS = 400
"""Most words of a line, counting the spaces between them."""

LARGEST = (900, 60)
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
    flags = "".join(f' <small style="color:#c25e00"><i>{escape(str(flag))}</i></small>' for flag in line.text.flags)
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
    return f'<img alt="" style="max-width:100%;display:block" src="{jpeg_uri(image, LARGEST)}">'
