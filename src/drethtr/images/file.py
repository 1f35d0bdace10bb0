"""Open image files: decoding errors, orientation, and the size after rotation."""

import struct
import zlib
from collections.abc import Iterator
from itertools import count

from PIL import Image

# All that decoders may raise on a damaged file. Pillow's bomb warning matters if warnings are turned into errors.
DECODING_ERRORS = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    EOFError,
    NotImplementedError,  # an unsupported kind of DDS
    MemoryError,  # the size that a JPEG 2000 claims
    struct.error,
    zlib.error,
    Image.DecompressionBombError,
    Image.DecompressionBombWarning,
)

SUBFILE_TYPE, THUMBNAIL = 254, 1
"""The TIFF tag for the type of a frame, and its bit for a reduced copy of another frame."""

COPIES = 8
"""Maximum number of TIFF frames to look at per page, since many may be reduced copies."""

ORIENTATION = 0x0112
"""The EXIF tag for the orientation."""

QUARTER_TURNS = range(5, 9)
"""Its values that exchange width and height."""

TURNING = frozenset({"exif", "xmp", "XML:com.adobe.xmp"})
"""Metadata in which Pillow may keep the tag."""


def frames(image: Image.Image) -> Iterator[tuple[int, bool]]:
    """The frames of an image file, each opened in turn, and whether it is a reduced copy of another one."""
    for frame in count():
        try:
            image.seek(frame)
        except EOFError:
            return
        yield frame, bool(frame and image.getexif().get(SUBFILE_TYPE, 0) & THUMBNAIL)


def upright_size(image: Image.Image) -> tuple[int, int]:
    """Width and height of an opened image after EXIF rotation, from its header; Pillow rotates TIFFs by itself."""
    # Without the first check, Pillow decodes a PNG to look for EXIF data after its pixels.
    turned = not TURNING.isdisjoint(image.info) and image.getexif().get(ORIENTATION) in QUARTER_TURNS
    return (image.height, image.width) if turned else image.size
