"""A line image in the form used throughout the package: gray, upright, dark ink on light paper.

`load_line` converts any supported source to this form; `open_line` does so in a process of limited memory and time,
for files that may come from anybody.
"""

from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from drethtr.base.errors import DataError
from drethtr.base.sandbox import Answer, sandboxed
from drethtr.images.decode import decoding, formats_of, is_negative, opened_image, page_frames, refuse_size

Line: TypeAlias = NDArray[np.uint8]
"""(height, width), 255 paper, 0 ink."""

ImageSource: TypeAlias = str | Path | bytes | Image.Image | NDArray[Any]

SHARES = np.array([0.005, 0.5, 0.995])
"""Quantiles of the pixels: end of the dark tail, median (the paper), and end of the light tail."""

PAPER_GRAIN = 24
"""Maximum variation of blank paper in gray levels."""

MAX_FRAMES = 1000
"""Maximum number of frames in the TIFF of a line: all but one are copies or masks."""

LINE_HEIGHT, LINE_SHAPE = 300, 5
"""An image counts as one line if it is less tall than this many pixels, or this many times wider than tall."""


def load_line(source: ImageSource) -> Line:
    """Load a line image from a file, its bytes, a Pillow image or an array.

    The image is rotated by its EXIF orientation, composed on white where transparent, converted to gray, and inverted
    if the writing is lighter than the paper. Of an animation, the first frame is used. Arrays are (height, width) or
    (height, width, 1 to 4 channels as in Pillow), with integers of 8 to 16 bits, floats from 0 to 1 or 0 to 255, or
    booleans (true is paper).

    Raises:
        DataError: naming the source, if it is missing, not an image, damaged, empty, larger than `MAX_PIXELS`, or a
            TIFF of several pages.
    """
    name = name_of(source)
    with decoding(name):
        if isinstance(source, np.ndarray):
            line = gray_from_array(source, name)
        elif isinstance(source, Image.Image):
            line = gray_from_image(source, name)
        elif isinstance(source, bytes):
            stream = BytesIO(source)
            with Image.open(stream, formats=formats_of(stream, name)) as image:
                open_only_page(image, name)
                line = gray_from_image(image, name)
        else:
            with opened_image(Path(source)) as image:
                open_only_page(image, name)
                line = gray_from_image(image, name)
    return dark_on_light(line)


def open_line(source: ImageSource) -> Line:
    """Like `load_line`, but files and bytes are decoded in another process, with limits; pixels are used directly.

    Raises:
        DataError: as `load_line` does, or if decoding takes too much memory or time.
    """
    if not isinstance(source, str | Path | bytes):
        return load_line(source)
    plain = bytes(source) if isinstance(source, bytes) else source  # a subclass might not be picklable
    shape, pixels = sandboxed(name_of(source), shape_and_pixels, plain)
    return np.frombuffer(pixels, np.uint8).reshape(shape)


def shape_and_pixels(source: str | Path | bytes) -> Answer:
    """Those of a line; `open_line` calls this in another process."""
    line = load_line(source)
    return line.shape, np.ascontiguousarray(line).data


def is_line_shaped(width: int, height: int) -> bool:
    """Whether an upright image of this size has the shape of a line: low, or far wider than tall."""
    return height < LINE_HEIGHT or width >= LINE_SHAPE * height


def page_for_line(name: str, remedy: str) -> DataError:
    """The error for a page where a line is expected."""
    return DataError(
        f"{name} is a page, not a line: {remedy} "
        f"(a line image is less than {LINE_HEIGHT} pixels tall, or at least {LINE_SHAPE} times wider than tall)"
    )


def name_of(source: ImageSource) -> str:
    """The name of the source in error messages."""
    if isinstance(source, str | Path):
        return str(source)
    if isinstance(source, bytes):
        return f"image of {len(source)} bytes"
    if isinstance(source, Image.Image):
        return str(getattr(source, "filename", "") or f"{source.mode} image")
    if isinstance(source, np.ndarray):
        return f"array of shape {source.shape} and type {source.dtype}"
    raise DataError(f"cannot load a line from {type(source).__name__}; give a path, bytes, a Pillow image or an array")


def open_only_page(image: Image.Image, name: str) -> None:
    """Seek to the only page of a TIFF; refuse a second page, which would be lost."""
    if image.format != "TIFF":
        return
    page, *others = islice(page_frames(image, MAX_FRAMES), 2)
    if others:
        raise DataError("a TIFF with several pages; use drethtr transcribe to read them", name)
    image.seek(page)


def gray_from_image(image: Image.Image, name: str, *, upright: bool = True) -> Line:
    """Gray pixels of a Pillow image in any mode, without transparency.

    Unless `upright`, they stay as stored, for other programs that give places there.
    """
    refuse_size(*image.size, name)
    negative = is_negative(image)
    if upright:
        image = ImageOps.exif_transpose(image)
    if image.mode == "F" or image.mode.startswith("I"):
        pixels = to_8_bits(np.asarray(image), name)
        return 255 - pixels if negative else pixels
    image = on_white(image)
    if image.mode not in ("L", "1"):
        image = image.convert("RGB")
    return np.array(image.convert("L"))


def on_white(image: Image.Image) -> Image.Image:
    """The image composed on white, without transparency.

    One that is equally transparent everywhere is taken for opaque: some programs leave the alpha channel at 0.
    """
    if not image.has_transparency_data:
        return image
    image = image.convert("RGBA")
    least, most = image.getchannel("A").getextrema()
    if least == most:
        return image.convert("RGB")
    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)


def gray_from_array(array: NDArray[Any], name: str) -> Line:
    """Gray pixels of an array, with or without channels."""
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.ndim != 2 and not (array.ndim == 3 and array.shape[2] in (2, 3, 4)):
        raise DataError("expected (height, width) or (height, width, 1 to 4 channels)", name)
    refuse_size(array.shape[1], array.shape[0], name)
    pixels = to_8_bits(array, name)
    return pixels if pixels.ndim == 2 else gray_from_image(Image.fromarray(pixels), name)


def to_8_bits(array: NDArray[Any], name: str) -> Line:
    """Scale values to 0..255 by the range implied by their type and largest value; always a new array."""
    if array.dtype == np.uint8:
        return array.copy()
    if array.dtype == np.bool_:
        return np.where(array, np.uint8(255), np.uint8(0))
    if array.dtype.kind not in "iuf":
        raise DataError("pixels must be integers, floats or booleans", name)
    low, high = float(array.min()), float(array.max())
    if not (low >= 0 and np.isfinite(high)):
        raise DataError(f"pixels range from {low:g} to {high:g}; expected finite values from 0", name)
    if array.dtype.kind == "f":
        if high > 255:
            raise DataError(f"pixels range up to {high:g}; expected floats from 0 to 1 or from 0 to 255", name)
        white = 1.0 if high <= 1 else 255.0
    else:
        # Scanners store 10, 12 or 14 bits in 16: the largest value shows how many are used.
        white = float(2 ** max(8, int(high).bit_length()) - 1)
    return np.rint(array * (255 / white)).astype(np.uint8)


def dark_on_light(line: Line) -> Line:
    """The line, inverted if its writing is lighter than its paper.

    Paper covers more of the image, so its gray is the median, and writing is the longer tail of the distribution. The
    tails are compared rather than the brightness, so that dark photographs of dark ink stay unchanged. When in doubt,
    ink is dark: the light tail must be 1.5 times as long, and longer than the grain of blank paper. Of 5071 lines from
    15 archives this inverts none, and of their negatives all but two.
    """
    dark, paper, light = np.searchsorted(np.cumsum(Image.fromarray(line).histogram()), line.size * SHARES)
    return 255 - line if light - paper > max(1.5 * (paper - dark), PAPER_GRAIN) else line
