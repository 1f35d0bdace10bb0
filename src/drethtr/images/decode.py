"""Open image files: their formats, what decoders raise on damaged ones, orientation, and limits.

Formats that Pillow passes to other programs (EPS to Ghostscript) are not opened.
"""

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from itertools import count
from operator import attrgetter
from os import SEEK_CUR
from pathlib import Path
from typing import IO, NamedTuple, cast

import numpy as np
from PIL import Image, UnidentifiedImageError, features
from PIL.PngImagePlugin import PngImageFile
from PIL.TiffImagePlugin import TiffImageFile

from drethtr.base.arrays import Floats
from drethtr.base.errors import DataError, first_line
from drethtr.base.links import open_ordinary

FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF", "PPM", "JPEG2000")

HEIC_BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"})
AVIF_BRANDS = frozenset({b"avif", b"avis"})
"""Brands in the file header that mean AVIF; they decide, since other brands occur in both AVIF and HEIC files."""

HEAD = 64
"""Bytes at the beginning of a file that name its kind."""

MAX_PIXELS = 89_000_000
"""Larger images are refused before decoding; just below Pillow's limit for decompression bombs."""

# All exceptions that decoders may raise on a damaged file. Pillow's bomb warning counts where warnings are errors.
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

PHOTOMETRIC = 262
"""The TIFF tag for the meaning of pixels; 0 means that 0 is white."""

ORIENTATION = 0x0112
"""The EXIF tag for the orientation."""

ORIENTATIONS = range(1, 9)
"""The EXIF orientations."""

QUARTER_TURNS = range(5, 9)
"""EXIF orientations that exchange width and height."""

MIRRORED = frozenset({2, 4, 5, 7})
"""EXIF orientations that mirror the pixels."""

OPPOSITE = {6: 8, 8: 6}
"""The orientations that undo others; the rest undo themselves."""

TURNING = frozenset({"exif", "Raw profile type exif", "xmp", "XML:com.adobe.xmp"})
"""Metadata in which Pillow may keep the orientation."""

PNG_START, CHUNK, KEYWORD = 8, struct.Struct(">I4s"), 22
"""Offset of the first chunk of a PNG, the header of a chunk (length and kind), and the bytes that hold its keyword."""


@contextmanager
def decoding(name: str) -> Iterator[None]:
    """Convert errors while decoding an image to `DataError`s with its name."""
    try:
        yield
    except FileNotFoundError as error:
        raise DataError("no such file", name) from error
    except UnidentifiedImageError as error:
        raise DataError(
            f"not an image in a supported format ({', '.join(FORMATS)}); convert it to JPEG or PNG first", name
        ) from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise DataError(f"has more than {MAX_PIXELS:,} pixels; scale the image down", name) from error
    except MemoryError as error:
        raise DataError("needs more memory to decode than is available; scale the image down", name) from error
    except DECODING_ERRORS as error:
        cure = "" if isinstance(error, OSError) and error.errno else "; the file may be damaged: copy it again"
        raise DataError(f"cannot be read as an image: {first_line(error)}{cure}", name) from error


@contextmanager
def opened_image(path: Path) -> Iterator[Image.Image]:
    """The image in a file, with its pixels not yet decoded.

    Raises:
        DataError: if the file is empty.
        OSError: if it is no ordinary file, or cannot be opened.
    """
    # Given a path, Pillow maps uncompressed TIFFs into memory, but not correctly if they are rotated by 90 degrees.
    with open_ordinary(path) as file:
        refuse_empty(path)
        with Image.open(file, formats=formats_of(file, str(path))) as image:
            yield image


def refuse_empty(path: Path) -> None:
    """Refuse a file without content.

    Raises:
        DataError: if it is empty.
    """
    if not path.stat().st_size:
        raise DataError("the file is empty; copy it again", path)


def formats_of(file: IO[bytes], name: str) -> tuple[str, ...]:
    """The formats that Pillow may try for an open file: `FORMATS`, or AVIF or HEIF for such a photograph.

    Raises:
        DataError: if it is a photograph whose decoder is not installed, with the cure.
    """
    head = file.read(HEAD)
    file.seek(0)
    if head[4:8] != b"ftyp":
        return FORMATS
    end = min(int.from_bytes(head[:4], "big"), len(head))
    brands = {head[8:12], *(head[start : start + 4] for start in range(16, end, 4))}
    if brands & AVIF_BRANDS:
        if not features.check("avif"):
            raise DataError("an AVIF image; update Pillow to 11.3 or later, or convert it to JPEG", name)
        return ("AVIF",)
    if brands & HEIC_BRANDS:
        if not knows_heic():
            raise DataError("a HEIC photo; run: pip install 'drethtr[heic]', or convert it to JPEG", name)
        return ("HEIF",)
    return FORMATS


@cache
def knows_heic() -> bool:
    """Whether HEIC can be decoded, for which Pillow needs another package."""
    if find_spec("pillow_heif") is None:
        return False
    from pillow_heif import register_heif_opener

    register_heif_opener()
    return True


def refuse_size(width: int, height: int, name: str) -> None:
    """Refuse an image without pixels, or with so many that decoding could exhaust memory."""
    if width < 1 or height < 1:
        raise DataError(f"the image of {width} x {height} pixels is empty", name)
    if width * height > MAX_PIXELS:
        raise DataError(f"{width} x {height} pixels exceed the limit of {MAX_PIXELS:,}; scale the image down", name)


def orientation_of(image: Image.Image) -> int:
    """The EXIF orientation of an opened image, from its metadata; 1, upright, if it has none."""
    # `getexif` would decode any PNG that has no EXIF before its pixels; few have it after them.
    if image.width * image.height <= MAX_PIXELS and is_turned_late(image):
        image.load()
    if image.format != "TIFF" and TURNING.isdisjoint(image.info):
        return 1
    orientation = image.getexif().get(ORIENTATION)
    return orientation if isinstance(orientation, int) and orientation in ORIENTATIONS else 1


def is_turned_late(image: Image.Image) -> bool:
    """Whether an opened PNG has metadata after its pixels, as written by ExifTool, that may rotate it."""
    if not isinstance(image, PngImageFile) or image.fp is None:
        return False
    file, place, late = image.fp, image.fp.tell(), False
    file.seek(PNG_START)
    try:
        while len(head := file.read(CHUNK.size)) == CHUNK.size:
            length, kind = CHUNK.unpack(head)
            begin = file.read(min(length, KEYWORD))
            if late and (kind == b"eXIf" or begin.partition(b"\0")[0].decode("latin-1") in TURNING):
                return True
            late |= kind == b"IDAT"
            file.seek(length - len(begin) + 4, SEEK_CUR)  # and the checksum
        return False
    finally:
        file.seek(place)


def is_negative(image: Image.Image) -> bool:
    """Whether 0 is white in an opened TIFF; Pillow inverts such pixels itself unless they have 16 bits."""
    return isinstance(image, TiffImageFile) and image.mode.startswith("I;16") and image.tag_v2.get(PHOTOMETRIC) == 0


def upright_size(image: Image.Image) -> tuple[int, int]:
    """Width and height of an opened image after EXIF rotation, from its header; Pillow rotates TIFFs by itself."""
    turned = image.format != "TIFF" and orientation_of(image) in QUARTER_TURNS
    return (image.height, image.width) if turned else image.size


NEW_TYPE, REDUCED, MASK = 254, 1, 4
"""The tag for the type of a frame, and its bits for a reduced copy of another frame and for a transparency mask."""

OLD_TYPE, OLD_REDUCED = 255, 2
"""The tag for the type of a frame in older files, and its value for a reduced copy."""

MASK_PHOTOMETRIC = 4
"""The value of `PHOTOMETRIC` for a transparency mask."""

WIDTH, HEIGHT = 256, 257
"""The TIFF tags for the size."""

SIDE, ALIKE = 64, 0.8
"""Two frames show the same page if their pixels, reduced to squares of this side, correlate at least this much.

Averaged copies of six pages, down to a sixteenth, correlate with them at 0.89 or more; the pages with each other at
less than 0.2. The limit is high because a page that is taken for a copy would be lost.
"""


class Frame(NamedTuple):
    """A frame of a TIFF by its number, with its width and height as its tags tell them."""

    number: int
    size: tuple[int, int]


def page_frames(image: Image.Image, limit: int) -> Iterator[int]:
    """The frames of a TIFF that are pages; the first if none is. A frame that cannot be decoded is a page that fails.

    Some programs write copies at lower resolutions without saying so. A frame that is smaller or larger than its
    neighbor by a whole factor is a copy if it shows the same; the larger one is the page.

    Raises:
        DataError: if there are more than `limit` frames.
    """
    tiff, page = cast("TiffImageFile", image), None
    for number in frames(tiff):
        if number >= limit:
            raise DataError(f"has more than {limit:,} frames; split it", tiff.filename)
        if is_aside(tiff):
            continue
        frame = Frame(number, (number_in(tiff, WIDTH), number_in(tiff, HEIGHT)))
        if page is not None and is_copy(tiff, page, frame):
            page = max(page, frame, key=attrgetter("size"))
            continue
        if page is not None:
            yield page.number
        page = frame
    yield 0 if page is None else page.number


def frames(tiff: TiffImageFile) -> Iterator[int]:
    """All frames, with the tags of each read in turn; pixels may be of a kind that cannot be decoded."""
    for frame in count():
        try:
            tiff.seek(frame)
        except EOFError:
            return
        except DECODING_ERRORS:
            if tiff.tell() != frame:  # its tags are damaged, so that the next frame cannot be found
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


def is_copy(tiff: TiffImageFile, one: Frame, other: Frame) -> bool:
    """Whether two frames are the same image at two resolutions."""
    (width, height), (wide, high) = sorted((one.size, other.size))
    factor = round(wide / width) if width else 0
    is_whole = factor > 1 and abs(wide / factor - width) <= 1 and abs(high / factor - height) <= 1
    if not is_whole or wide * high > MAX_PIXELS:
        return False
    try:
        shown = [reduced(tiff, frame.number) for frame in (one, other)]
    except DECODING_ERRORS:
        return False
    return float(np.mean(shown[0] * shown[1])) > ALIKE


def reduced(tiff: TiffImageFile, frame: int) -> Floats:
    """The pixels of a frame, reduced to a square, with mean 0 and variance 1; all 0 if the frame is blank."""
    tiff.seek(frame)
    pixels = np.asarray(tiff.convert("L").resize((SIDE, SIDE), Image.Resampling.BOX), float)
    centered: Floats = pixels - pixels.mean()
    return centered / (float(pixels.std()) or 1.0)
