"""How an image file is opened: what goes wrong then, how its picture is held, and its size when held so."""

import struct
import zlib
from collections.abc import Iterator
from itertools import count

from PIL import Image

# Whatever a decoder may raise on a damaged file. Pillow's bomb warning is here for those who turn warnings into errors.
DECODING_ERRORS = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    EOFError,
    NotImplementedError,  # a kind of DDS that Pillow cannot read
    MemoryError,  # what a JPEG 2000 claims to hold
    struct.error,
    zlib.error,
    Image.DecompressionBombError,
    Image.DecompressionBombWarning,
)

SUBFILE_TYPE, THUMBNAIL = 254, 1
"""The TIFF tag that says what a frame is, and its bit for a smaller copy of another frame."""

COPIES = 8
"""Frames of a TIFF that are looked through for each page, as many are smaller copies."""

ORIENTATION = 0x0112
"""The EXIF tag that says how the picture is held."""

QUARTER_TURNS = range(5, 9)
"""Its values that exchange width and height."""

TURNING = frozenset({"exif", "xmp", "XML:com.adobe.xmp"})
"""Where Pillow keeps metadata in which the tag may stand."""


def frames(image: Image.Image) -> Iterator[tuple[int, bool]]:
    """The frames of an image file, each opened in turn, and whether it is a smaller copy of another one."""
    for frame in count():
        try:
            image.seek(frame)
        except EOFError:
            return
        yield frame, bool(frame and image.getexif().get(SUBFILE_TYPE, 0) & THUMBNAIL)


def upright_size(image: Image.Image) -> tuple[int, int]:
    """Width and height of an opened image as its metadata turn it, from its header; Pillow turns TIFFs by itself."""
    # Without the first question, Pillow decodes a PNG in search of EXIF data behind its pixels.
    turned = not TURNING.isdisjoint(image.info) and image.getexif().get(ORIENTATION) in QUARTER_TURNS
    return (image.height, image.width) if turned else image.size
