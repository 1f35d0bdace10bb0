"""Open image files: their formats, what decoders raise on damaged ones, orientation, and limits.

Formats that Pillow passes to other programs (EPS to Ghostscript) are not opened.
"""

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from PIL import Image, UnidentifiedImageError, features
from PIL.TiffImagePlugin import TiffImageFile

from drethtr.base.errors import DataError, first_line

FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF", "PPM", "JPEG2000")

HEIC_BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"})
AVIF_BRANDS = frozenset({b"avif", b"avis"})
"""What a file says of itself at its beginning; the first are in both kinds, so that these decide."""

HEAD = 64
"""Bytes at the beginning of a file that name its kind."""

MAX_PIXELS = 89_000_000
"""Larger images are refused before decoding; just below Pillow's limit for decompression bombs."""

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

PHOTOMETRIC = 262
"""The TIFF tag for the meaning of pixels; 0 means that 0 is white."""

ORIENTATION = 0x0112
"""The EXIF tag for the orientation."""

ORIENTATIONS = range(1, 9)
"""Its values."""

QUARTER_TURNS = range(5, 9)
"""Those that exchange width and height."""

MIRRORED = frozenset({2, 4, 5, 7})
"""Those that mirror the pixels."""

OPPOSITE = {6: 8, 8: 6}
"""The orientations that undo others; the rest undo themselves."""

TURNING = frozenset({"exif", "xmp", "XML:com.adobe.xmp"})
"""Metadata in which Pillow may keep the tag."""


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
    except MemoryError as error:
        raise DataError("needs more memory to decode than is available; scale the image down", name) from error
    except DECODING_ERRORS as error:
        raise DataError(f"cannot be read as an image: {first_line(error)}", name) from error


@contextmanager
def opened_image(path: Path) -> Iterator[Image.Image]:
    """The image in a file, with its pixels not yet decoded.

    Raises:
        DataError: if the file is empty.
    """
    if not path.stat().st_size:
        raise DataError("the file is empty; copy it again", path)
    # Given a path, Pillow maps uncompressed TIFFs into memory, but not correctly if they are rotated by 90 degrees.
    with path.open("rb") as file, Image.open(file, formats=formats_of(file, str(path))) as image:
        yield image


def formats_of(file: IO[bytes], name: str) -> tuple[str, ...]:
    """The formats as which an open file may be read: `FORMATS`, or that of its photograph.

    Raises:
        DataError: if it is a photograph whose decoder is not installed, naming the way out.
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
    """Whether HEIC can be decoded, which Pillow is taught by another package."""
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
    """The EXIF orientation of an opened image, from its header; 1, upright, if it has none."""
    # Without the first check, Pillow decodes a PNG to look for EXIF data after its pixels.
    if image.format != "TIFF" and TURNING.isdisjoint(image.info):
        return 1
    orientation = image.getexif().get(ORIENTATION)
    return orientation if isinstance(orientation, int) and orientation in ORIENTATIONS else 1


def is_negative(image: Image.Image) -> bool:
    """Whether 0 is white in an opened TIFF; Pillow inverts such pixels itself unless they have 16 bits."""
    return isinstance(image, TiffImageFile) and image.mode.startswith("I;16") and image.tag_v2.get(PHOTOMETRIC) == 0


def upright_size(image: Image.Image) -> tuple[int, int]:
    """Width and height of an opened image after EXIF rotation, from its header; Pillow rotates TIFFs by itself."""
    turned = image.format != "TIFF" and orientation_of(image) in QUARTER_TURNS
    return (image.height, image.width) if turned else image.size
