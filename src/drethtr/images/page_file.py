"""Decode the pages of image files and PDFs; `PageSource` calls these functions in a process with limits."""

import math
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageOps

from drethtr.base.errors import DataError
from drethtr.base.links import open_ordinary
from drethtr.base.sandbox import Answer
from drethtr.images.decode import (
    MAX_PIXELS,
    decoding,
    opened_image,
    orientation_of,
    page_frames,
    refuse_empty,
    refuse_size,
    upright_size,
)
from drethtr.images.line import gray_from_image, on_white

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

COPIES = 8
"""Maximum number of TIFF frames to look at per page, since many may be reduced copies."""

MAX_PAGES = 10_000
"""Files with more pages are refused, because a few bytes can claim any number of pages."""

PDF_DPI = 300
"""Resolution in which pages of a PDF are rendered, unless that gives too many pixels."""


def frames(path: Path, most: int) -> Answer:
    """The frames of a file that are its pages.

    Raises:
        DataError: if it is not an image or PDF, damaged, encrypted, or has more than `most` pages.
    """
    # The content decides, since some PDFs come without their extension.
    in_pdf = is_pdf(path)
    refuse_empty(path)
    if path.suffix.lower() == ".pdf" and not in_pdf:
        raise DataError("named .pdf, but not a PDF; if it is an image, name it .jpg, .png or .tif", path)
    return (pdf_frames if in_pdf else image_frames)(path, most), b""


def size(path: Path, frame: int, name: str) -> Answer:
    """Width and height of an upright page, without decoding it."""
    if is_pdf(path):
        with pdf_page(path, frame, name) as (page, scale):
            return (math.ceil(page.get_width() * scale), math.ceil(page.get_height() * scale)), b""
    with opened(path, frame, name) as image:
        return upright_size(image), b""


def orientation(path: Path, frame: int, name: str) -> Answer:
    """The EXIF orientation of a page, 1 to 8."""
    if is_pdf(path):
        return 1, b""
    with opened(path, frame, name) as image:
        return orientation_of(image), b""


def gray(path: Path, frame: int, name: str) -> Answer:
    """Shape and pixels of a page in gray."""
    if is_pdf(path):
        pixels = np.asarray(draw(path, frame, name, gray=True))
        return pixels.shape, np.ascontiguousarray(pixels).data
    with opened(path, frame, name) as image:
        image.draft("L", None)  # a JPEG can be decoded without color
        pixels = gray_from_image(image, name)
        return pixels.shape, np.ascontiguousarray(pixels).data


def image(path: Path, frame: int, name: str) -> Answer:
    """Mode, width, height, resolution or None, and pixels of a page for people."""
    if is_pdf(path):
        drawn = draw(path, frame, name, gray=False)
        return (drawn.mode, *drawn.size, None), drawn.tobytes()
    with opened(path, frame, name) as found:
        refuse_size(*found.size, name)
        dpi = found.info.get("dpi")
        shown = presentable(found, name)
        return (shown.mode, *shown.size, None if dpi is None else list(map(float, dpi))), shown.tobytes()


def presentable(image: Image.Image, name: str) -> Image.Image:
    """An opened image in color, gray or bilevel, upright and without transparency."""
    if image.mode in ("1", "L") and not image.has_transparency_data:
        return ImageOps.exif_transpose(image)
    if image.mode == "F" or image.mode.startswith("I"):
        return Image.fromarray(gray_from_image(image, name))
    return on_white(ImageOps.exif_transpose(image)).convert("RGB")


def producer(path: Path) -> Answer:
    """The program that made a PDF, according to its metadata."""
    with closing(open_pdf(path)) as pdf:
        return pdf.get_metadata_value("Producer"), b""


@contextmanager
def opened(path: Path, frame: int, name: str) -> Iterator[Image.Image]:
    """The image of a page, with its pixels not yet decoded."""
    with decoding(name), opened_image(path) as image:
        if frame:
            image.seek(frame)
        yield image


def image_frames(path: Path, most: int) -> list[int]:
    """The frames that are pages: those of a TIFF, the first of other files."""
    with opened(path, 0, str(path)) as image:
        if image.format != "TIFF":
            return [0]
        pages: list[int] = []
        for frame in page_frames(image, most * COPIES):
            pages.append(frame)
            refuse_more(path, len(pages), most)
        return pages


def refuse_more(path: Path, pages: int, most: int) -> None:
    """Refuse a file with more than `most` pages."""
    if pages > most:
        raise DataError(f"has more than {most:,} pages; split it", path)


def is_pdf(path: Path) -> bool:
    """Whether a file starts like a PDF; some have another line before that."""
    with decoding(str(path)), open_ordinary(path) as file:
        return b"%PDF-" in file.read(1024)


def pdf_frames(path: Path, most: int) -> list[int]:
    """The pages of a PDF."""
    with closing(open_pdf(path)) as pdf:
        if not len(pdf):
            raise DataError("a PDF without pages", path)
        refuse_more(path, len(pdf), most)
        return list(range(len(pdf)))


def open_pdf(path: Path) -> "PdfDocument":
    """Open a PDF file.

    Raises:
        DataError: if it is damaged, or requires a password.
    """
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        return PdfDocument(path)
    except PdfiumError as error:
        if "password" in str(error).lower():
            raise DataError("the PDF is encrypted; save it without a password first", path) from error
        raise DataError("cannot be read; the PDF is damaged", path) from error


@contextmanager
def pdf_page(path: Path, frame: int, name: str) -> "Iterator[tuple[PdfPage, float]]":
    """A page of a PDF, and the scale that renders it at `PDF_DPI`, or with `MAX_PIXELS` if it is very large."""
    from pypdfium2 import PdfiumError

    try:
        with closing(open_pdf(path)) as pdf:
            page = pdf[frame]
            width, height = page.get_size()
            # A little below the limit, since width and height are rounded up.
            scale = min(PDF_DPI / 72, (MAX_PIXELS / max(width * height, 1)) ** 0.5 * 0.999)
            refuse_size(math.ceil(width * scale), math.ceil(height * scale), name)
            yield page, scale
    except PdfiumError as error:
        raise DataError("cannot be rendered; the PDF is damaged", name) from error


def draw(path: Path, frame: int, name: str, *, gray: bool) -> Image.Image:
    """Render a page of a PDF."""
    with pdf_page(path, frame, name) as (page, scale):
        drawn: Image.Image = page.render(scale=scale, grayscale=gray).to_pil()
        return drawn.convert("L" if gray else "RGB")
