"""OCRmyPDF as its users run it, where it and Tesseract, which it insists on, are installed."""

import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pikepdf
import pytest
from page_examples import letter_page
from PIL import Image
from poppler import needs_poppler, pdftotext, word_boxes

pytest.importorskip("ocrmypdf")
from drethtr.plugins.ocrmypdf import get_ocr_engine, page_element

LETTER = Path(__file__).parents[2] / "samples" / "page" / "letter.jpg"


@pytest.mark.parametrize("name", ["auto", "tesseract", "none"])
def test_nobody_gets_it_who_did_not_ask(name):
    assert get_ocr_engine(SimpleNamespace(ocr_engine=name)) is None and get_ocr_engine(None) is None


def test_a_page_has_its_lines_and_words_with_places_and_confidences():
    page = page_element(letter_page(), 300, 4)
    assert (page.bbox.right, page.bbox.bottom, page.dpi, page.page_number) == (800, 600, 300, 4)
    paragraphs = [[line.children for line in paragraph.children] for paragraph in page.children]
    assert [[[word.text for word in line] for line in paragraph] for paragraph in paragraphs] == [
        [["Liebe", "Mutter,", "daſs", "ich"], ["groß", "<bin>", "&", "froh"]],
        [["Rom", "1805"]],
    ]
    [first, *_] = paragraphs[0][0]
    assert (first.bbox.left, first.bbox.top, first.bbox.right, first.bbox.bottom) == (50, 50, 150, 90)
    assert first.confidence == 0.9
    assert page.children[0].children[0].baseline.intercept == -10


@needs_poppler
@pytest.mark.skipif(shutil.which("tesseract") is None, reason="OCRmyPDF does not start without Tesseract")
def test_a_scan_becomes_pdf_a_with_its_text_in_place(tmp_path):
    out = tmp_path / "letter.pdf"
    with Image.open(LETTER) as letter:
        letter.crop((0, 0, letter.width, 620)).save(tmp_path / "letter.png", dpi=(150, 150))
    done = subprocess.run(
        [sys.executable, "-m", "ocrmypdf", "--ocr-engine", "drethtr", str(tmp_path / "letter.png"), str(out)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "My dear Eleanor" in pdftotext(out.read_bytes())
    boxes = dict(word_boxes(out.read_bytes()))
    assert boxes["dear"][0] < boxes["Eleanor,"][0] and boxes["Whitby,"][1] < boxes["dear"][1]
    with pikepdf.open(out) as pdf:
        assert pdf.open_metadata().pdfa_status == "2B"
        assert "drethtr" in str(pdf.docinfo["/Creator"])
