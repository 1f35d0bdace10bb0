"""What PDF/A-2b asks for: the page, its fonts and its colors are in the file, and metadata say what it is."""

import io
from dataclasses import replace

import pikepdf
import pypdfium2
import pytest
from page_examples import PROVENANCE, document_of, letter_page
from PIL import Image

from drethtr.documents import FORMATS, Scan


def write(*pages, scan=None, pdf=None):
    return FORMATS["pdfa"].write(replace(document_of(*pages, scan=scan), pdf=pdf))


def opened(data):
    return pikepdf.open(io.BytesIO(data))


def test_metadata_declare_it_and_agree_with_the_old_ones():
    with opened(write(letter_page())) as pdf:
        metadata = pdf.open_metadata()
        assert (metadata["pdfaid:part"], metadata["pdfaid:conformance"], metadata.pdfa_status) == ("2", "B", "2B")
        assert metadata["pdf:Producer"] == str(pdf.docinfo["/Producer"]) == str(PROVENANCE)
        assert metadata["xmp:CreateDate"].startswith("2026-11-21T12:30:00")
        assert str(pdf.docinfo["/CreationDate"]).startswith("D:20261121123000")
        assert len(pdf.trailer.ID) == 2 and not pdf.is_encrypted


def test_colors_are_those_of_a_profile_in_the_file():
    with opened(write(letter_page())) as pdf:
        [intent] = pdf.Root.OutputIntents
        profile = intent.DestOutputProfile
        assert intent.S == "/GTS_PDFA1" and profile.N == 3
        assert profile.read_bytes()[16:20] == b"RGB " and profile.read_bytes()[36:40] == b"acsp"


def test_no_text_is_set_in_the_glyph_for_what_a_font_lacks():
    with opened(write(letter_page())) as pdf:
        [font] = pdf.pages[0].Resources.Font.values()
        [descendant] = font.DescendantFonts
        glyphs = descendant.CIDToGIDMap.read_bytes()
        letters = {letter for letter in letter_page().text if letter != "\n"}
        assert glyphs[:2] == b"\0\0" and glyphs[2:] == b"\0\1" * len(letters)
        assert descendant.FontDescriptor.FontFile2.read_bytes()


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_scans_have_the_colors_of_screens(mode, tmp_path):
    path = tmp_path / "a.jpg"
    Image.new("RGB", (800, 600), (200, 180, 150)).convert(mode).save(path)
    with opened(write(letter_page(), scan=Scan(lambda: Image.open(path).convert("RGB"), path))) as pdf:
        [scan] = pdf.pages[0].Resources.XObject.values()
        assert scan.ColorSpace == ("/DeviceGray" if mode == "L" else "/DeviceRGB")
        assert (scan.read_raw_bytes() == path.read_bytes()) == (mode != "CMYK")


def test_a_photograph_of_a_telephone_is_drawn(tmp_path):
    """HEIC is opened in the process that decodes it, and nowhere else."""
    path = tmp_path / "a.heic"
    path.write_bytes(b"\0\0\0\x18ftypheic")
    with opened(write(letter_page(), scan=Scan(lambda: Image.new("RGB", (800, 600)), path))) as pdf:
        assert list(pdf.pages[0].Resources.XObject.keys()) == ["/Scan"]


def test_a_page_of_a_pdf_is_drawn_because_its_fonts_may_be_missing(tmp_path):
    source = pikepdf.new()
    source.add_blank_page(page_size=(192, 144))
    source.save(tmp_path / "a.pdf")
    with opened(write(letter_page(), pdf=tmp_path / "a.pdf")) as pdf:
        assert list(pdf.pages[0].Resources.XObject.keys()) == ["/Scan"]


def test_its_text_is_that_of_any_pdf():
    with pypdfium2.PdfDocument(write(letter_page())) as pdf:
        assert pdf[0].get_textpage().get_text_range().split() == letter_page().text.split()
