"""How an image file says that its picture is held, and its size when held so."""

from PIL import Image

ORIENTATION = 0x0112
"""The EXIF tag that says it."""

QUARTER_TURNS = range(5, 9)
"""Its values that exchange width and height."""

TURNING = frozenset({"exif", "xmp", "XML:com.adobe.xmp"})
"""Where Pillow keeps metadata in which the tag may stand."""


def upright_size(image: Image.Image) -> tuple[int, int]:
    """Width and height of an opened image as its metadata turn it, from its header; Pillow turns TIFFs by itself."""
    # Without the first question, Pillow decodes a PNG in search of EXIF data behind its pixels.
    turned = not TURNING.isdisjoint(image.info) and image.getexif().get(ORIENTATION) in QUARTER_TURNS
    return (image.height, image.width) if turned else image.size
