"""Images of all formats, and PDFs to add text to."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pikepdf
from conftest import written
from hypothesis import strategies as st
from page_examples import PROVENANCE
from PIL import Image

from drethtr.documents.document import Document, Scan, Sheet
from drethtr.documents.formats import FORMATS
from drethtr.documents.page import Page
from drethtr.images.line import open_line
from drethtr.images.page import open_pages
from fuzzing.files import Bytes, Target, mutated


def images() -> Bytes:
    """Small images of all formats."""
    kinds = ["PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF", "PPM", "JPEG2000"]
    picture = Image.fromarray(np.asarray(written("abc def")))
    return st.sampled_from(kinds).flatmap(
        lambda kind: st.sampled_from(["L", "RGB"]).map(lambda mode: saved(picture.convert(mode), kind))
    )


def saved(picture: Image.Image, kind: str) -> bytes:
    """Encode an image."""
    file = BytesIO()
    picture.save(file, kind)
    return file.getvalue()


@st.composite
def pdfs(draw: Any) -> bytes:
    """PDFs with arbitrary contents."""
    pdf = pikepdf.new()
    for _ in range(draw(st.integers(1, 2))):
        sides = st.sampled_from([3, 10, 72, 300, 14_400])
        page = pdf.add_blank_page(page_size=(draw(sides), draw(sides)))
        commands = st.sampled_from(
            ["q", "Q", "BT", "ET", "0 0 m 9 9 l S", "/F Do", "1 0 0 1 0 0 cm", "/drethtr BMC", "W n", "9 w"]
        )
        streams = st.lists(commands, max_size=6).map(lambda rows: pdf.make_stream("\n".join(rows).encode()))
        odd = st.sampled_from([b"null", b"true", b"<<>>", b"[]", b"(a)", b"9"]).map(pikepdf.Object.parse)
        page.obj.Contents = pikepdf.Array(draw(st.lists(streams | odd, max_size=3)))
        if draw(st.booleans()):
            page.obj.Rotate = draw(st.sampled_from([90, 180, 45, -90, 10**9]))
        if draw(st.booleans()):
            page.obj.CropBox = pikepdf.Array(draw(st.lists(st.integers(-99, 999), min_size=4, max_size=4)))
    file = BytesIO()
    pdf.save(file, compress_streams=draw(st.booleans()))
    return file.getvalue()


def use_image(path: Path) -> None:
    """Open an image as a line and as pages."""
    for source in open_pages(path, 20):
        gray = source.gray()
        assert gray.shape[::-1] == source.size() == source.image().size
    open_line(path)


def use_pdf(path: Path) -> None:
    """Open the pages of a PDF, and write text into it."""
    sources = open_pages(path, 20)
    sheets = []
    for source in sources:
        width, height = source.size()
        if width * height < 10**6:
            source.gray()
        sheets.append(Sheet(Page(path.name, width, height), Scan(source.image), source.number))
    FORMATS["pdf"].write(Document(tuple(sheets), PROVENANCE, path))


TARGETS = {
    "image": Target(".png", mutated(images()), use_image),
    "pdf": Target(".pdf", mutated(pdfs()), use_pdf),
}
