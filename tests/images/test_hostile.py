"""Files made to take all memory or time are refused in one line, and the next file is read."""

import hostile_files
import pytest
from PIL import Image

from drethtr.base import sandbox
from drethtr.base.errors import DataError
from drethtr.documents.document import Document, Provenance, Sheet
from drethtr.documents.formats import FORMATS
from drethtr.documents.page import Page
from drethtr.images.line import open_line
from drethtr.images.page import open_pages
from drethtr.pages.source import open_originals


@pytest.fixture
def short(monkeypatch):
    """Less patience than users have, with files that would take for ever."""
    monkeypatch.setattr(sandbox, "SECONDS", 1.0)


def test_a_pdf_that_draws_forever(tmp_path, short, monkeypatch):
    [source] = open_pages(hostile_files.nested_forms(tmp_path / "a.pdf"))
    for opened in (source.size, source.gray, source.image):
        # Its memory grows by 0.4 GB in a second of processor time, so that it never meets the limit of memory first.
        with pytest.raises(DataError, match=r"a\.pdf: takes more than 1 seconds to open"):
            opened()
    monkeypatch.undo()
    Image.new("L", (60, 40), 200).save(tmp_path / "b.png")
    assert open_pages(tmp_path / "b.png")[0].gray().shape == (40, 60)


def test_a_pdf_of_a_million_strokes(tmp_path, short):
    [source] = open_pages(hostile_files.many_strokes(tmp_path / "a.pdf"))
    with pytest.raises(DataError, match=r"a\.pdf: takes more than 1 seconds to open"):
        source.gray()


def test_an_image_of_hundreds_of_scans(tmp_path, short):
    path = hostile_files.many_scans(tmp_path / "a.jpg", repeats=1500)
    with pytest.raises(DataError, match=r"a\.jpg: takes more than 1 seconds to open"):
        open_pages(path)[0].gray()
    with pytest.raises(DataError, match=r"image of \d+ bytes: takes more than 1 seconds to open"):
        open_line(path.read_bytes())


def pdf_with_text(path):
    """The PDF with a text layer, as `transcribe --format pdf` writes it."""
    [original] = open_originals(path)
    sheet = Sheet(Page("a.png", 100, 100), original.scan(), 1)
    return FORMATS["pdf"].write(Document((sheet,), Provenance.now("a model"), path))


def test_a_pdf_that_inflates_to_gigabytes(tmp_path, short):
    path = hostile_files.inflated_contents(tmp_path / "a.pdf")
    with pytest.raises(DataError, match=r"a\.pdf: takes more than"):
        open_pages(path)[0].gray()
    with pytest.raises(DataError, match=r"a\.pdf: (takes more than|cannot be read as a PDF)"):
        pdf_with_text(path)


def test_a_pdf_with_null_in_its_contents(tmp_path):
    path = hostile_files.null_in_contents(tmp_path / "a.pdf")
    (tmp_path / "b.pdf").write_bytes(pdf_with_text(path))
    assert open_pages(tmp_path / "b.pdf")[0].gray().shape == open_pages(path)[0].gray().shape
