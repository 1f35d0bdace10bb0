"""What the HTML of pages, notebooks and reports has in common: images inside the file, confidences as tooltips."""

from base64 import b64encode
from io import BytesIO

from PIL import Image

JPEG_QUALITY = 75


def jpeg_uri(image: Image.Image, largest: tuple[int, int]) -> str:
    """An image as a `data:` URI, reduced to at most this width and height."""
    small = image.convert("RGB")
    small.thumbnail(largest, Image.Resampling.LANCZOS)
    file = BytesIO()
    small.save(file, "JPEG", quality=JPEG_QUALITY)
    return f"data:image/jpeg;base64,{b64encode(file.getvalue()).decode()}"


def png_uri(image: Image.Image) -> str:
    """A drawing as a `data:` URI, without loss."""
    file = BytesIO()
    image.save(file, "PNG", optimize=True)
    return f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"


def tooltip(confidence: float | None) -> str:
    """The attribute that shows the confidence of a word under the mouse; "" if it is unknown."""
    return "" if confidence is None else f' title="confidence {confidence:.0%}"'
