"""The formats of image files: those that are always decoded, and photographs that need a decoder beside them.

Formats that Pillow passes to other programs (EPS to Ghostscript) are not among them.
"""

from functools import cache
from importlib.util import find_spec
from typing import IO

from PIL import features

from drethtr.base.errors import DataError

FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF", "PPM", "JPEG2000")

HEIC_BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"})
AVIF_BRANDS = frozenset({b"avif", b"avis"})
"""What a file says of itself at its beginning; the first are in both kinds, so that these decide."""

HEAD = 64
"""Bytes at the beginning of a file that name its kind."""


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
