"""The pages of image files and PDFs: their number, and the pixels of each on demand.

    for source in open_pages("book.pdf"):
        page = source.grey()

Nothing is decoded in advance and nothing is cached, so a book needs the memory of one page.
"""

import math
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageOps

from drethtr.base.errors import DataError
from drethtr.images.file import COPIES, frames, upright_size
from drethtr.images.line import (
    MAX_PIXELS,
    Line,
    decoding,
    grey_from_image,
    on_white,
    opened_image,
    refuse_size,
)

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

MOST_PAGES = 10_000
"""Files with more pages are refused, because a few bytes can claim any number of pages."""

PDF_DPI = 300
"""Resolution in which pages of a PDF are rendered, unless that gives too many pixels."""


@dataclass(frozen=True)
class PageSource:
    """One page of a file, number 1 to `pages`; `frame` is its position in the file, from 0."""

    path: Path
    frame: int = 0
    number: int = 1
    pages: int = 1

    @property
    def name(self) -> str:
        """The name of the page in messages."""
        return str(self.path) if self.pages == 1 else f"{self.path} page {self.number}"

    def size(self) -> tuple[int, int]:
        """Width and height of the upright page, without decoding it.

        Raises:
            DataError: naming the page, if it is damaged.
        """
        if is_pdf(self.path):
            with pdf_page(self) as (page, scale):
                return math.ceil(page.get_width() * scale), math.ceil(page.get_height() * scale)
        with opened(self) as image:
            return upright_size(image)

    def grey(self) -> Line:
        """The upright page in gray, uint8 (height, width), with its original brightness.

        Raises:
            DataError: naming the page, if it is damaged, empty or larger than `MAX_PIXELS`.
        """
        if is_pdf(self.path):
            return np.array(draw(self, grey=True))
        with opened(self) as image:
            image.draft("L", None)  # a JPEG can be decoded without color
            return grey_from_image(image, self.name)

    def image(self) -> Image.Image:
        """The upright page for people: in color, gray (L) or bilevel (1), without transparency.

        Raises:
            DataError: as `grey` does.
        """
        if is_pdf(self.path):
            return draw(self, grey=False)
        with opened(self) as image:
            refuse_size(*image.size, self.name)
            shown = self.shown(image)
            if "dpi" in image.info:
                shown.info["dpi"] = image.info["dpi"]
            return shown

    def shown(self, image: Image.Image) -> Image.Image:
        """An opened image in the form that `image` returns, possibly without its resolution."""
        if image.mode in ("1", "L") and not image.has_transparency_data:
            return ImageOps.exif_transpose(image)
        if image.mode == "F" or image.mode.startswith("I"):
            return Image.fromarray(grey_from_image(image, self.name))
        return on_white(ImageOps.exif_transpose(image)).convert("RGB")


def open_pages(path: str | Path, most: int = MOST_PAGES) -> tuple[PageSource, ...]:
    """The pages of an image file (one per TIFF frame that is not a thumbnail) or of a PDF.

    Raises:
        DataError: if the file is missing, not an image or PDF, damaged, encrypted, or has more than `most` pages.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError("is a folder" if path.is_dir() else "no such file", path)
    in_pdf = is_pdf(path)
    if path.suffix.lower() == ".pdf" and not in_pdf:
        raise DataError("named .pdf, but not a PDF", path)
    found = pdf_frames(path, most) if in_pdf else image_frames(path, most)
    return tuple(PageSource(path, frame, number, len(found)) for number, frame in enumerate(found, start=1))


@contextmanager
def opened(source: PageSource) -> Iterator[Image.Image]:
    """The image of a page, with its pixels not yet decoded."""
    with decoding(source.name), opened_image(source.path) as image:
        if source.frame:
            image.seek(source.frame)
        yield image


def image_frames(path: Path, most: int) -> list[int]:
    """The frames that are pages: all of a TIFF, the first of other files."""
    with opened(PageSource(path)) as image:
        if image.format != "TIFF":
            return [0]
        pages: list[int] = []
        for frame, is_copy in frames(image):
            if not is_copy:
                pages.append(frame)
            refuse_more(path, max(len(pages), frame // COPIES), most)
        return pages


def refuse_more(path: Path, pages: int, most: int) -> None:
    """Refuse a file with more than `most` pages."""
    if pages > most:
        raise DataError(f"has more than {most:,} pages; split it", path)


def is_pdf(path: Path) -> bool:
    """Whether a file starts like a PDF; some have another line before that."""
    with decoding(str(path)), path.open("rb") as file:
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


def made_here(path: Path) -> bool:
    """Whether a PDF was written by drethtr, according to its metadata; False if it cannot be opened."""
    try:
        with closing(open_pdf(path)) as pdf:
            producer: str = pdf.get_metadata_value("Producer")
    except DataError:
        return False
    return producer.startswith("drethtr ")


@contextmanager
def pdf_page(source: PageSource) -> "Iterator[tuple[PdfPage, float]]":
    """A page of a PDF, and the scale that renders it at `PDF_DPI`, or with `MAX_PIXELS` if it is very large."""
    from pypdfium2 import PdfiumError

    try:
        with closing(open_pdf(source.path)) as pdf:
            page = pdf[source.frame]
            width, height = page.get_size()
            yield page, min(PDF_DPI / 72, (MAX_PIXELS / max(width * height, 1)) ** 0.5 * 0.999)
    except PdfiumError as error:
        raise DataError("cannot be rendered; the PDF is damaged", source.name) from error


def draw(source: PageSource, *, grey: bool) -> Image.Image:
    """Render a page of a PDF."""
    with pdf_page(source) as (page, scale):
        drawn: Image.Image = page.render(scale=scale, grayscale=grey).to_pil()
        return drawn.convert("L" if grey else "RGB")
