"""A line image, as every other part of the package sees it: grey, upright, dark ink on light paper.

`load_line` takes whatever a person or a library has and makes it so. It decodes pixels and nothing else: formats
that Pillow hands to other programs (EPS to Ghostscript) are not opened.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from drethtr.base.errors import DataError, first_line
from drethtr.images.file import COPIES, DECODING_ERRORS, frames

Line: TypeAlias = NDArray[np.uint8]
"""(height, width), 255 paper, 0 ink."""

ImageSource: TypeAlias = str | Path | bytes | Image.Image | NDArray[Any]

MAX_PIXELS = 89_000_000
"""More is refused before decoding; just below the size at which Pillow itself suspects a decompression bomb."""

SHARES = np.array([0.005, 0.5, 0.995])
"""Of the pixels, at the end of the dark tail, in the middle, where the paper is, and at the end of the light tail."""

PAPER_GRAIN = 24
"""Blank paper may vary by so many grey levels."""

LINE_HEIGHT, LINE_SHAPE = 300, 5
"""An image is taken as one line if it is lower than so many pixels, or so many times as wide as high."""

FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF", "PPM", "JPEG2000")


def load_line(source: ImageSource) -> Line:
    """A line image from a file, its bytes, a Pillow image or an array.

    Turned as its EXIF says, composed on white where transparent, made grey, and turned over when the writing is
    lighter than the paper. Of an animation, the first frame. Arrays are (height, width) or (height, width, 1 to 4
    channels as in Pillow), with integers of 8 to 16 bits, floats from 0 to 1 or 0 to 255, or booleans (true is paper).

    Raises:
        DataError: naming the source, if it is missing, no image, damaged, empty, larger than `MAX_PIXELS`, or a TIFF of
            several pages.
    """
    name = name_of(source)
    with decoding(name):
        if isinstance(source, np.ndarray):
            line = grey_from_array(source, name)
        elif isinstance(source, Image.Image):
            line = grey_from_image(source, name)
        elif isinstance(source, bytes):
            with Image.open(BytesIO(source), formats=FORMATS) as image:
                refuse_pages(image, name)
                line = grey_from_image(image, name)
        else:
            with opened_image(Path(source)) as image:
                refuse_pages(image, name)
                line = grey_from_image(image, name)
    return dark_on_light(line)


def is_line_shaped(width: int, height: int) -> bool:
    """Whether an image of this size, upright, is shaped as one line of writing is: low, or far wider than high."""
    return height < LINE_HEIGHT or width >= LINE_SHAPE * height


def page_for_line(name: str, remedy: str) -> DataError:
    """What is said of a page where a line is wanted."""
    return DataError(
        f"{name} is a page, not a line: {remedy} "
        f"(an image of a line is lower than {LINE_HEIGHT} pixels, or {LINE_SHAPE} times as wide as high)"
    )


@contextmanager
def decoding(name: str) -> Iterator[None]:
    """Whatever goes wrong while an image is decoded is said in a `DataError` with its name."""
    try:
        yield
    except FileNotFoundError as error:
        raise DataError("no such file", name) from error
    except UnidentifiedImageError as error:
        raise DataError(
            f"not an image of a known format ({', '.join(FORMATS)}); convert it to JPEG or PNG "
            "(HEIC, the format of many phones, is not supported)",
            name,
        ) from error
    except DECODING_ERRORS as error:
        raise DataError(f"cannot be read as an image: {first_line(error)}", name) from error


@contextmanager
def opened_image(path: Path) -> Iterator[Image.Image]:
    """The image in a file, its pixels not yet decoded."""
    # Given a path, Pillow maps uncompressed TIFFs into memory, and those to be turned by a quarter wrongly.
    with path.open("rb") as file, Image.open(file, formats=FORMATS) as image:
        yield image


def name_of(source: ImageSource) -> str:
    """What an error message calls the source."""
    if isinstance(source, str | Path):
        return str(source)
    if isinstance(source, bytes):
        return f"image of {len(source)} bytes"
    if isinstance(source, Image.Image):
        return str(getattr(source, "filename", "") or f"{source.mode} image")
    if isinstance(source, np.ndarray):
        return f"array of shape {source.shape} and type {source.dtype}"
    raise DataError(f"cannot load a line from {type(source).__name__}; give a path, bytes, a Pillow image or an array")


def refuse_size(width: int, height: int, name: str) -> None:
    """Refuse what has no pixels, or so many that decoding could exhaust memory."""
    if width < 1 or height < 1:
        raise DataError(f"an image of {width} x {height} pixels is empty", name)
    if width * height > MAX_PIXELS:
        raise DataError(f"{width} x {height} pixels are more than the {MAX_PIXELS:,} allowed; scale it down", name)


def refuse_pages(image: Image.Image, name: str) -> None:
    """Refuse a TIFF with a second page, which would be lost; a smaller copy of the first is none."""
    if image.format != "TIFF":
        return
    if any(not is_copy for _, is_copy in islice(frames(image), 1, COPIES)):
        raise DataError("a TIFF of several pages; drethtr transcribe reads them", name)
    image.seek(0)


def grey_from_image(image: Image.Image, name: str) -> Line:
    """Grey pixels of a Pillow image of any mode, upright and without transparency."""
    refuse_size(*image.size, name)
    image = ImageOps.exif_transpose(image)
    if image.mode == "F" or image.mode.startswith("I"):
        return to_8_bits(np.asarray(image), name)
    image = on_white(image)
    if image.mode not in ("L", "1"):
        image = image.convert("RGB")
    return np.array(image.convert("L"))


def on_white(image: Image.Image) -> Image.Image:
    """The same without transparency."""
    if not image.has_transparency_data:
        return image
    image = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)


def grey_from_array(array: NDArray[Any], name: str) -> Line:
    """Grey pixels of an array, with or without channels."""
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.ndim != 2 and not (array.ndim == 3 and array.shape[2] in (2, 3, 4)):
        raise DataError("expected (height, width) or (height, width, 1 to 4 channels)", name)
    refuse_size(array.shape[1], array.shape[0], name)
    pixels = to_8_bits(array, name)
    return pixels if pixels.ndim == 2 else grey_from_image(Image.fromarray(pixels), name)


def to_8_bits(array: NDArray[Any], name: str) -> Line:
    """Scale values to 0..255 by the range their type and largest value imply; always a new array."""
    if array.dtype == np.uint8:
        return array.copy()
    if array.dtype == np.bool_:
        return np.where(array, np.uint8(255), np.uint8(0))
    if array.dtype.kind not in "iuf":
        raise DataError("pixels must be integers, floats or booleans", name)
    low, high = float(array.min()), float(array.max())
    if not (low >= 0 and np.isfinite(high)):
        raise DataError(f"pixels run from {low:g} to {high:g}; expected finite values from 0", name)
    if array.dtype.kind == "f":
        if high > 255:
            raise DataError(f"pixels run up to {high:g}; expected floats from 0 to 1 or from 0 to 255", name)
        white = 1.0 if high <= 1 else 255.0
    else:
        # Scanners store 10, 12 or 14 bits in 16: the largest value tells how many are in use.
        white = float(2 ** max(8, int(high).bit_length()) - 1)
    return np.rint(array * (255 / white)).astype(np.uint8)


def dark_on_light(line: Line) -> Line:
    """The line, turned over if its writing is lighter than its paper.

    Paper is the commoner of the two, so its grey is the median, and writing is the longer tail beside it. The tails
    are compared, not the brightness, so that dark photographs of dark ink stay as they are. In doubt, ink is dark:
    the light tail must be half as long again, and longer than the grain of blank paper. Of 5071 lines from 15
    archives this turns none over, and their negatives all but two.
    """
    dark, paper, light = np.searchsorted(np.cumsum(Image.fromarray(line).histogram()), line.size * SHARES)
    return 255 - line if light - paper > max(1.5 * (paper - dark), PAPER_GRAIN) else line
