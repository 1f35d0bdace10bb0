"""Which frames of a TIFF are pages: not thumbnails, transparency masks, or copies at lower resolutions.

Sources: TIFF 6.0, tags NewSubfileType and SubfileType.
"""

from collections.abc import Iterator
from itertools import count
from typing import cast

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from PIL.TiffImagePlugin import TiffImageFile

from drethtr.base.errors import DataError
from drethtr.images.decode import DECODING_ERRORS, MAX_PIXELS

NEW_TYPE, REDUCED, MASK = 254, 1, 4
"""The tag for the type of a frame, and its bits for a reduced copy of another frame and for a transparency mask."""

OLD_TYPE, OLD_REDUCED = 255, 2
"""The same in older files, and its value for a reduced copy."""

PHOTOMETRIC, MASK_PHOTOMETRIC = 262, 4

WIDTH, HEIGHT = 256, 257

SIDE, ALIKE = 64, 0.8
"""Two frames show the same if their pixels, reduced to squares with this side, correlate as much as this.

Averaged copies of six pages, down to a sixteenth, correlate with them by 0.89 and more; the pages with each other by
less than 0.2. The limit is high because a page that is taken for a copy would be lost.
"""


def page_frames(image: Image.Image, limit: int) -> Iterator[int]:
    """The frames of a TIFF that are pages; the first if none is. A frame that cannot be decoded is a page that fails.

    Some programs write copies at lower resolutions without saying so. A frame that is smaller or larger than its
    neighbor by a whole factor is a copy if it shows the same; the larger one is the page.

    Raises:
        DataError: if there are more than `limit` frames.
    """
    tiff, page, found = cast("TiffImageFile", image), None, False
    for frame in frames(tiff):
        if frame >= limit:
            raise DataError(f"has more than {limit:,} frames; split it", tiff.filename)
        if is_aside(tiff):
            continue
        size = size_of(tiff)
        if page is None or not is_copy(tiff, page, (frame, size)):
            if page is not None:
                yield page[0]
            page, found = (frame, size), True
        else:
            page = max(page, (frame, size), key=lambda one: one[1])
    if page is not None:
        yield page[0]
    elif not found:
        yield 0


def frames(tiff: TiffImageFile) -> Iterator[int]:
    """All frames; of each in turn the tags are read, though its pixels may be of a kind that cannot be decoded."""
    for frame in count():
        try:
            tiff.seek(frame)
        except EOFError:
            return
        except DECODING_ERRORS:
            if tiff.tell() != frame:  # its tags are damaged, and with them the way to the next one
                yield frame
                return
        yield frame


def number_in(tiff: TiffImageFile, tag: int) -> int:
    """The number in a tag; 0 if there is none, or something else."""
    value = tiff.tag_v2.get(tag, 0)
    return value if isinstance(value, int) else 0


def is_aside(tiff: TiffImageFile) -> bool:
    """Whether the tags say that a frame is a mask or a reduced copy."""
    aside = number_in(tiff, NEW_TYPE) & (REDUCED | MASK) or number_in(tiff, OLD_TYPE) == OLD_REDUCED
    return bool(aside) or number_in(tiff, PHOTOMETRIC) == MASK_PHOTOMETRIC


def size_of(tiff: TiffImageFile) -> tuple[int, int]:
    """Width and height of a frame as its tags tell them."""
    return number_in(tiff, WIDTH), number_in(tiff, HEIGHT)


def is_copy(tiff: TiffImageFile, one: tuple[int, tuple[int, int]], other: tuple[int, tuple[int, int]]) -> bool:
    """Whether two frames, with their sizes, are the same image at two resolutions."""
    (_, (width, height)), (_, (wide, high)) = sorted((one, other), key=lambda frame: frame[1])
    factor = round(wide / width) if width else 0
    is_whole = factor > 1 and abs(wide / factor - width) <= 1 and abs(high / factor - height) <= 1
    if not is_whole or wide * high > MAX_PIXELS:
        return False
    try:
        shown = [reduced(tiff, frame) for frame, _ in (one, other)]
    except DECODING_ERRORS:
        return False
    return float(np.mean(shown[0] * shown[1])) > ALIKE


def reduced(tiff: TiffImageFile, frame: int) -> NDArray[np.float64]:
    """The pixels of a frame, reduced to a square, with mean 0 and variance 1; all 0 if the frame is blank."""
    tiff.seek(frame)
    pixels = np.asarray(tiff.convert("L").resize((SIDE, SIDE), Image.Resampling.BOX), float)
    centered: NDArray[np.float64] = pixels - pixels.mean()
    return centered / (float(pixels.std()) or 1.0)
