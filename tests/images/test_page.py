import os
import struct
import zlib

import numpy as np
import pypdfium2
import pytest
from PIL import Image, ImageDraw
from PIL.PngImagePlugin import PngImageFile
from PIL.TiffImagePlugin import AppendingTiffWriter, TiffImageFile

from drethtr.base.errors import DataError
from drethtr.images.line import open_line
from drethtr.images.page import PageSource, open_pages

PNG_HEAD, PNG_END = 33, 12  # bytes of signature and first chunk, and of the last chunk


@pytest.fixture
def picture():
    """Light, with a dark block whose top left corner is at (20, 10)."""
    image = Image.new("L", (120, 80), 230)
    ImageDraw.Draw(image).rectangle((20, 10, 59, 29), fill=20)
    return image


def pdf_of(images, path, **options):
    images[0].save(path, save_all=True, append_images=images[1:], resolution=72, **options)
    return path


def block(gray):
    """Left, top, right and bottom of what is dark."""
    rows, columns = np.nonzero(gray < 128)
    return columns.min(), rows.min(), columns.max() + 1, rows.max() + 1


def to_cmyk(image):
    return image.convert("RGB").convert("CMYK")


def to_16_bits(image):
    return Image.fromarray(np.asarray(image).astype(np.uint16) * 257)


KINDS = {
    "gray": (lambda image: image, "png"),
    "color": (lambda image: image.convert("RGB"), "jpg"),
    "CMYK": (to_cmyk, "jpg"),
    "CMYK TIFF": (to_cmyk, "tif"),
    "16 bits": (to_16_bits, "tif"),
    "1 bit": (lambda image: image.convert("1", dither=Image.Dither.NONE), "tif"),
    "palette": (lambda image: image.convert("P"), "gif"),
    "transparent": (lambda image: image.convert("RGBA"), "webp"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_images(picture, tmp_path, kind):
    convert, ending = KINDS[kind]
    path = tmp_path / f"scan.{ending}"
    convert(picture).save(path, **({"quality": 95} if ending == "jpg" else {}))
    [source] = open_pages(path)
    gray = source.gray()
    assert gray.dtype == np.uint8 and np.allclose(block(gray), (20, 10, 60, 30), atol=1)
    assert source.size() == (120, 80) == source.image().size
    assert source.image().mode in ("1", "L", "RGB")
    assert np.abs(np.asarray(source.image().convert("L")).astype(int) - gray).max() < 30


@pytest.mark.parametrize("ending", ["jpg", "tif", "png"])
def test_turned_as_its_exif_says(picture, tmp_path, ending):
    exif = Image.Exif()
    exif[0x0112] = 6  # held with its right side up
    path = tmp_path / f"scan.{ending}"
    picture.save(path, exif=exif)
    [source] = open_pages(path)
    assert source.size() == source.image().size == (80, 120) and source.gray().shape == (120, 80)
    assert np.allclose(block(source.gray()), (50, 20, 70, 60), atol=1)


TURNED = Image.Exif()
TURNED[0x0112] = 6
XMP = b'<rdf:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="6"/>'
PNG_CHUNKS = {
    "EXIF": (b"eXIf", TURNED.tobytes()[6:]),
    "XMP": (b"iTXt", b"XML:com.adobe.xmp" + bytes(5) + XMP),
    "a profile": (b"tEXt", b"Raw profile type exif\0\nexif\n 32\n" + TURNED.tobytes().hex().encode()),
}


def with_chunk(path, place, kind, content):
    """Add a chunk to a PNG."""
    chunk = struct.pack(">I4s", len(content), kind) + content + struct.pack(">I", zlib.crc32(kind + content))
    png = path.read_bytes()
    path.write_bytes(png[:place] + chunk + png[place:])


@pytest.mark.parametrize("place", [PNG_HEAD, -PNG_END], ids=["before", "after"])
@pytest.mark.parametrize("kind", PNG_CHUNKS)
def test_a_png_may_say_how_it_is_turned_in_many_places(picture, kind, place, tmp_path):
    path = tmp_path / "scan.png"
    picture.save(path)
    if kind == "XMP":
        exif = Image.Exif()
        exif[0x010F] = "the maker of a camera"
        with_chunk(path, PNG_HEAD, b"eXIf", exif.tobytes()[6:])
    with_chunk(path, place, *PNG_CHUNKS[kind])
    [source] = open_pages(path)
    assert source.orientation() == 6
    assert source.size() == source.image().size == (80, 120) and source.gray().shape == (120, 80)


@pytest.mark.parametrize("mode", ["I;16", "L", "LA", "RGBA", "CMYK"])
def test_the_resolution_of_a_scan_is_kept(picture, mode, tmp_path):
    deep = Image.fromarray(np.asarray(picture).astype(np.uint16) << 8)
    (deep if mode == "I;16" else picture.convert(mode)).save(tmp_path / "scan.tif", dpi=(600, 600))
    [source] = open_pages(tmp_path / "scan.tif")
    assert source.image().info["dpi"] == (600, 600)


def test_a_tiff_of_several_pages_and_a_thumbnail(picture, tmp_path):
    """A thumbnail is no page: the tag says so."""
    path = tmp_path / "book.tif"
    small, second = picture.resize((30, 20)), picture.rotate(180)
    with AppendingTiffWriter(path, new=True) as file:
        for page, tags in ((picture, {}), (small, {254: 1}), (second, {})):
            page.save(file, "TIFF", tiffinfo=tags)
            file.newFrame()
    pages = open_pages(path)
    assert [(page.frame, page.number, page.pages) for page in pages] == [(0, 1, 2), (2, 2, 2)]
    assert np.array_equal(pages[1].gray(), np.asarray(second))
    assert pages[1].name == f"{path} page 2"


def test_no_more_pages_than_wanted_are_counted(picture, tmp_path, monkeypatch):
    """Small frames and a number in a PDF can claim any number of pages."""
    rest = [picture.resize((8, 8))] * 30
    picture.save(tmp_path / "book.tif", save_all=True, append_images=rest)
    pdf_of([picture, *rest], tmp_path / "book.pdf")
    assert len(open_pages(tmp_path / "book.tif", 31)) == len(open_pages(tmp_path / "book.pdf", 31)) == 31
    monkeypatch.setattr(TiffImageFile, "n_frames", None)  # for which all are looked through
    for name in ("book.tif", "book.pdf"):
        with pytest.raises(DataError, match=f"{name}: has more than 30 pages; split it"):
            open_pages(tmp_path / name, 30)


def test_the_size_of_a_page_is_known_without_decoding_it(picture, tmp_path, monkeypatch):
    picture.save(tmp_path / "scan.png")
    pdf_of([picture], tmp_path / "scan.pdf")
    sources = [source for name in ("scan.png", "scan.pdf") for source in open_pages(tmp_path / name)]
    monkeypatch.setattr(pypdfium2.PdfPage, "render", None)
    monkeypatch.setattr(PngImageFile, "load", None)
    assert [source.size() for source in sources] == [(120, 80), (501, 334)]


def test_what_a_gray_image_leaves_transparent_is_white(picture, tmp_path):
    picture.save(tmp_path / "scan.png", transparency=20)
    [source] = open_pages(tmp_path / "scan.png")
    assert source.gray().min() == np.asarray(source.image()).min() == 230


def test_an_animation_is_one_page(picture, tmp_path):
    path = tmp_path / "scan.gif"
    picture.save(path, save_all=True, append_images=[picture.rotate(180)])
    assert len(open_pages(path)) == 1


def test_pdf_at_300_dots_per_inch(picture, tmp_path):
    pages = open_pages(pdf_of([picture, picture.rotate(180)], tmp_path / "book.pdf"))
    assert [page.number for page in pages] == [1, 2]
    gray = pages[0].gray()
    assert gray.shape == (334, 501) and pages[0].size() == (501, 334)  # 80 by 120 points
    assert np.allclose(block(gray), np.multiply((20, 10, 60, 30), 300 / 72), atol=4)
    assert pages[0].image().mode == "RGB"


def test_a_pdf_page_as_large_as_a_wall_is_drawn_coarser(tmp_path):
    pdf = pypdfium2.PdfDocument.new()
    pdf.new_page(14_000, 14_000)
    pdf.save(tmp_path / "wall.pdf")
    [page] = open_pages(tmp_path / "wall.pdf")
    width, height = page.size()
    assert 80_000_000 < width * height <= 89_000_000


def test_broken_pdf(picture, tmp_path):
    whole = pdf_of([picture], tmp_path / "whole.pdf").read_bytes()
    (tmp_path / "cut.pdf").write_bytes(whole[:60])
    with pytest.raises(DataError, match=r"cut\.pdf: cannot be read; the PDF is damaged"):
        open_pages(tmp_path / "cut.pdf")


@pytest.mark.parametrize(
    ("name", "content"),
    [("gone.png", None), (f"{'a' * 300}.png", None), ("empty.tif", b""), ("letter.jpg", b"Dear Sir,")],
)
def test_no_image(tmp_path, name, content):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=name):
        open_pages(tmp_path / name)


def test_a_folder_is_no_page(tmp_path):
    with pytest.raises(DataError, match="is a folder"):
        open_pages(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes in folders")
@pytest.mark.parametrize("opened", [open_pages, open_line])
def test_a_pipe_is_not_waited_for(tmp_path, opened):
    os.mkfifo(tmp_path / "scan.png")
    with pytest.raises(DataError, match=r"scan\.png: cannot be read as an image: it is a pipe or a device; save its"):
        opened(tmp_path / "scan.png")


def test_damaged_pixels_are_found_when_they_are_read(tmp_path):
    path = tmp_path / "scan.png"
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (80, 120), np.uint8)).save(path)
    path.write_bytes(path.read_bytes()[:4000])
    [source] = open_pages(path)
    with pytest.raises(DataError, match=r"scan\.png"):
        source.gray()


def test_forty_megapixels(tmp_path):
    path = tmp_path / "scan.png"
    Image.new("1", (8000, 5000), 1).save(path)
    assert PageSource(path).gray().shape == (5000, 8000)


def test_more_pixels_than_memory_should_hold_are_refused(tmp_path):
    path = tmp_path / "scan.png"
    Image.new("1", (9400, 9500)).save(path)
    with pytest.raises(DataError, match="scale the image down"):
        open_pages(path)[0].gray()


@pytest.mark.parametrize("alpha", [0, 1, 128, 255])
@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_a_channel_that_is_equally_transparent_everywhere_hides_nothing(picture, mode, alpha, tmp_path):
    for ending in ("png", "tif"):
        clear = picture.convert(mode)
        clear.putalpha(alpha)
        clear.save(tmp_path / f"clear.{ending}")
        [source] = open_pages(tmp_path / f"clear.{ending}")
        assert np.array_equal(source.gray(), np.asarray(picture.convert("RGB").convert("L")))
        assert np.array_equal(np.asarray(source.image()), np.asarray(picture.convert("RGB")))


@pytest.mark.parametrize("white", [0, 1])
def test_white_may_be_the_smallest_of_16_bits(white, tmp_path):
    """Written byte by byte, since Pillow does not write such files."""
    gray = np.linspace(0, 65535, 40 * 30).astype(np.uint16).reshape(30, 40)
    pixels = (gray if white else 65535 - gray).astype("<u2").tobytes()
    tags = ((256, 40), (257, 30), (258, 16), (259, 1), (262, white), (273, 8), (277, 1), (278, 30), (279, len(pixels)))
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    head = b"II*\0" + struct.pack("<I", 8 + len(pixels))
    (tmp_path / "a.tif").write_bytes(head + pixels + struct.pack("<H", len(tags)) + entries + bytes(4))
    [source] = open_pages(tmp_path / "a.tif")
    expected = np.rint(gray / 257).astype(np.uint8)
    assert np.array_equal(source.gray(), expected) and np.array_equal(np.asarray(source.image()), expected)
