"""The pages of image files and PDFs: their number, and the pixels of each on demand.

    for source in open_pages("book.pdf"):
        page = source.gray()

Nothing is decoded in advance and nothing is cached, so a book needs the memory of one page. Files are opened in a
process of limited memory and time (`base/sandbox.py`), as they may come from anybody.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from drethtr.base.archive import as_given
from drethtr.base.errors import DataError
from drethtr.base.files import is_there
from drethtr.base.sandbox import Answer, sandboxed
from drethtr.images import page_file
from drethtr.images.line import Line
from drethtr.images.page_file import MAX_PAGES


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
        name = as_given(str(self.path))
        return name if self.pages == 1 else f"{name} page {self.number}"

    @property
    def image_name(self) -> str:
        """The name of its file, by which PAGE and ALTO call the image."""
        return self.path.name

    @property
    def is_alone(self) -> bool:
        """Whether the file is an image that holds nothing else.

        Raises:
            DataError: if it cannot be opened.
        """
        return self.pages == 1 and not page_file.is_pdf(self.path)

    @property
    def file(self) -> Path | None:
        """The file of this image alone; None if there is none.

        Raises:
            DataError: as `is_alone` does.
        """
        return self.path if self.is_alone else None

    def size(self) -> tuple[int, int]:
        """Width and height of the upright page, without decoding it.

        Raises:
            DataError: naming the page, if it is damaged.
        """
        (width, height), _ = self.in_sandbox(page_file.size)
        return width, height

    def orientation(self) -> int:
        """The EXIF orientation of its stored pixels, 1 to 8; 1 if they are upright.

        Raises:
            DataError: naming the page, if it is damaged.
        """
        orientation, _ = self.in_sandbox(page_file.orientation)
        return int(orientation)

    def gray(self) -> Line:
        """The upright page in gray, uint8 (height, width), with its original brightness.

        Raises:
            DataError: naming the page, if it is damaged, empty or larger than `MAX_PIXELS`.
        """
        shape, pixels = self.in_sandbox(page_file.gray)
        return np.frombuffer(pixels, np.uint8).reshape(shape)

    def image(self) -> Image.Image:
        """The upright page for people: in color, gray (L) or bilevel (1), without transparency.

        Raises:
            DataError: as `gray` does.
        """
        (mode, width, height, dpi), pixels = self.in_sandbox(page_file.image)
        image = Image.frombytes(mode, (width, height), pixels)
        if dpi is not None:
            image.info["dpi"] = tuple(dpi)
        return image

    def in_sandbox(self, function: Callable[..., Answer]) -> tuple[Any, Any]:
        """Call a function of `page_file` for this page, in a process with limited memory and time."""
        return sandboxed(self.name, function, self.path, self.frame, self.name)


def open_pages(path: str | Path, most: int = MAX_PAGES) -> tuple[PageSource, ...]:
    """The pages of an image file (one per TIFF frame that is not a thumbnail) or of a PDF.

    Raises:
        DataError: if the file is missing, not an image or PDF, damaged, encrypted, or has more than `most` pages.
    """
    path = Path(path)
    if not is_there(path):
        raise DataError("no such file", path)
    if path.is_dir():
        raise DataError("is a folder; give an image or a PDF", path)
    found, _ = sandboxed(str(path), page_file.frames, path, most)
    return tuple(PageSource(path, frame, number, len(found)) for number, frame in enumerate(found, start=1))


def pdf_made_here(path: Path) -> bool:
    """Whether a PDF was written by drethtr, according to its metadata; False if it cannot be opened."""
    try:
        producer, _ = sandboxed(str(path), page_file.producer, path)
    except DataError:
        return False
    return str(producer).startswith("drethtr ")
