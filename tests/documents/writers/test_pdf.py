import ctypes
import io
import math
from collections import Counter
from dataclasses import replace
from random import Random

import numpy as np
import pikepdf
import pypdfium2
import pytest
from page_examples import document_of, letter_page, line_of
from PIL import Image, ImageDraw, ImageOps
from PIL.TiffImagePlugin import IFDRational
from poppler import needs_poppler, pdftotext, word_boxes
from real_data import PAGES, needs_pages

from drethtr.base.errors import DataError
from drethtr.documents import (
    FORMATS,
    Box,
    Page,
    PageWord,
    Region,
    Scan,
    TextLine,
    Transcription,
    image_beside,
    read_page,
)
from drethtr.documents.writers.text_layer import truetype


def write(*pages, scan=None, pdf=None):
    return FORMATS["pdf"].write(replace(document_of(*pages, scan=scan), pdf=pdf))


def page_of(*lines, width=800, height=600):
    return Page("a.jpg", width, height, (Region("r", lines),))


def read(data, number=0):
    """The words that pdfium finds; it marks a hyphen at the end of a line, and joins what follows."""
    with pypdfium2.PdfDocument(data) as pdf:
        return pdf[number].get_textpage().get_text_range().replace("\ufffe", "- ").split()


def shown(data, number=0, scale=1.0):
    with pypdfium2.PdfDocument(data) as pdf:
        return pdf[number].render(scale=scale).to_pil().convert("RGB")


def found_box(data, word, width, height):
    """Where pdfium finds a word: left, top, right, bottom in pixels of the page as it is shown."""
    with pypdfium2.PdfDocument(data) as pdf:
        page = pdf[0]
        text = page.get_textpage()
        start, count = text.search(word).get_next()
        points = []
        for index in range(start, start + count):
            left, bottom, right, top = text.get_charbox(index, loose=True)
            points += [to_pixel(page, corner, width, height) for corner in ((left, bottom), (right, top))]
    return np.array([*np.min(points, axis=0), *np.max(points, axis=0)])


def to_pixel(page, point, width, height):
    x, y = ctypes.c_int(), ctypes.c_int()
    pypdfium2.raw.FPDF_PageToDevice(page, 0, 0, width, height, 0, *point, ctypes.byref(x), ctypes.byref(y))
    return x.value, y.value


def test_a_page_reads_back_word_for_word_and_line_by_line():
    data = write(letter_page(), page_of(line_of("zweite Seite")))
    assert read(data) == letter_page().text.split()
    assert read(data, 1) == ["zweite", "Seite"]
    with pypdfium2.PdfDocument(data) as pdf:
        assert pdf[0].get_textpage().get_text_range().splitlines() == letter_page().text.splitlines()


@pytest.mark.parametrize(
    "text",
    [
        "daſs groß Maß Straße ÄÖÜ œuvre Æsop",
        "e\u0301te\u0301 n\u0303 a\u0304 q\u0303 m\u0305",
        "¶ § † ⁊ ꝑ ꝓ ꝗ ꝫ ƿ ð þ",
        "1 2 / - : . _ à a I",
        "Œ ‘a’ “b” „c“ «d» — … ¬",
        "𝔄 𐌰 ʒ ẞ",
    ],
)
def test_all_letters_read_back(text):
    assert read(write(page_of(line_of(text, letter=12)))) == text.split()


def test_more_letters_than_a_section_of_the_font_holds():
    letters = [chr(code) for code in range(0x100, 0x17F) if code not in (0x132, 0x133, 0x13F, 0x140, 0x149)]
    text = " ".join("".join(letters[start : start + 10]) for start in range(0, len(letters), 10))
    assert read(write(page_of(line_of(text, letter=5)))) == text.split()


def assert_on(found, box, gap=4):
    """Whether a box that was found is as long as a word, less a gap behind it, and lies in its middle."""
    left, top, right, bottom = box
    assert [found[0], found[2]] == pytest.approx([left, right], abs=gap)
    assert top <= found[1] < (top + bottom) / 2 < found[3] <= bottom


def test_a_word_lies_on_its_place():
    assert_on(found_box(write(letter_page()), "Mutter,", 800, 600), (170, 50, 310, 90))


@pytest.mark.parametrize("degrees", [-10, 10, 90, -90, 180])
def test_slanted_and_turned_lines_read_in_their_direction(degrees):
    def turned(points):
        cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        return tuple((round(500 + x * cos - y * sin), round(500 + x * sin + y * cos)) for x, y in points)

    straight = line_of("drei kurze Worte", left=-150, top=-20)
    text = straight.transcription
    words = tuple(replace(word, polygon=turned(word.polygon)) for word in text.words)
    line = TextLine("l", turned(straight.polygon), turned(straight.baseline), replace(text, words=words))
    data = write(page_of(line, width=1000, height=1000))
    assert read(data) == ["drei", "kurze", "Worte"]
    x, y = np.mean(found_box(data, "kurze", 1000, 1000).reshape(2, 2), axis=0)
    left, top, right, bottom = words[1].box
    assert left < x < right and top < y < bottom


@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
@pytest.mark.parametrize("rotate", [0, 90])
def test_a_page_on_its_side_is_turned_upright(degrees, rotate, tmp_path):
    """A scan, and a page of a PDF that is shown turned already; another reading of the result leaves it upright."""
    image = Image.new("L", (800, 600), 230)
    ImageDraw.Draw(image).rectangle((50, 50, 250, 90), fill=0)
    lying = image.rotate(-degrees, expand=True)
    corners = {
        0: lambda x, y: (x, y),
        90: lambda x, y: (600 - y, x),
        180: lambda x, y: (800 - x, 600 - y),
        270: lambda x, y: (y, 800 - x),
    }[degrees]
    line = line_of("Liebe Mutter")
    text = line.transcription
    words = tuple(replace(w, polygon=tuple(corners(*point) for point in w.polygon)) for w in text.words)
    baseline = tuple(corners(*point) for point in line.baseline)
    turned = TextLine("l", None, baseline, replace(text, words=words))
    source = None
    if rotate:
        source = tmp_path / "scan.pdf"
        lying.rotate(rotate, expand=True).save(source, resolution=300)
        with pikepdf.open(source, allow_overwriting_input=True) as pdf:
            pdf.pages[0].rotate(rotate, relative=True)
            pdf.save(source)
    data = write(page_of(turned, width=lying.width, height=lying.height), scan=Scan(lambda: lying), pdf=source)
    assert difference(shown(data, scale=300 / 72), image) < 2
    assert_on(found_box(data, "Liebe", 800, 600), (50, 50, 150, 90))
    (tmp_path / "made.pdf").write_bytes(data)
    again = write(page_of(line), pdf=tmp_path / "made.pdf")
    assert difference(shown(again, scale=300 / 72), image) < 2 and read(again) == ["Liebe", "Mutter"]


SENTENCE = "wenn es dir recht ist so komme ich am Dienstag"


def crowded_page(slope):
    """Lines that climb, whose outlines overlap by half, and whose words all but touch, as those of handwriting do."""

    def climbing(points):
        return tuple((x, round(y - x * slope)) for x, y in points)

    lines = []
    for number in range(8):
        words, left = [], 60
        for word in SENTENCE.split():
            outline = climbing(Box(left, 200 + 45 * number, left + 25 * len(word), 290 + 45 * number).polygon())
            words.append(PageWord(f"{word}{number}", None, outline))
            left += 25 * len(word) + 2
        text = Transcription(" ".join(word.text for word in words), None, tuple(words))
        baseline = climbing(((60, 260 + 45 * number), (left, 260 + 45 * number)))
        lines.append(TextLine(f"l{number}", None, baseline, text))
    return page_of(*lines, width=1200, height=800)


@needs_poppler
@pytest.mark.parametrize("options", [(), ("-raw",), ("-layout",)])
@pytest.mark.parametrize("slope", [0, 0.05, -0.1])
def test_poppler_finds_the_words_of_crowded_and_slanted_lines(slope, options):
    page = crowded_page(slope)
    assert sorted(pdftotext(write(page), *options).split()) == sorted(page.text.split())


@needs_poppler
@pytest.mark.parametrize("slope", [0, 0.1])
def test_poppler_selects_words_where_they_are_written(slope):
    page = crowded_page(slope)
    words = {word.text: word.box for line in page.lines for word in line.words}
    found = word_boxes(write(page))
    assert {text for text, _ in found} == words.keys()
    for text, box in found:
        assert_on(np.multiply(box, (1200, 800, 1200, 800)), words[text], gap=10)


@needs_pages
@needs_poppler
@pytest.mark.parametrize("options", [(), ("-raw",)])
def test_poppler_finds_99_percent_of_the_words_of_real_pages(options):
    """Without `-raw` it joins the halves of a word that is divided at the end of a line."""
    words = found = 0
    for path in sorted(PAGES.glob("*.xml")):
        page = read_page(path)
        left = Counter(pdftotext(write(page), *options).split())
        wanted = undivided(page, left)
        words += len(wanted)
        found += (Counter(wanted) & left).total()
    assert words > 1000 and found >= 0.99 * words


def undivided(page, found):
    """The words of a page; one divided at the end of a line as a whole, if it was found so."""
    words = []
    for line in page.lines:
        rest = line.text.split()
        if rest and words and words[-1].endswith("-") and found[whole := words[-1][:-1] + rest[0]]:
            words[-1:] = [whole]
            del rest[0]
        words += rest
    return words


def test_words_follow_a_curved_baseline():
    arc = tuple((x, 300 - round(80 * math.sin(math.pi * x / 800))) for x in range(0, 801, 50))
    outline = (*((x, y - 40) for x, y in arc), *((x, y + 10) for x, y in reversed(arc)))
    line = TextLine("l", outline, arc, Transcription("links oben in der Mitte rechts"))
    data = write(page_of(line))
    assert read(data) == line.text.split()
    left, middle = (found_box(data, word, 800, 600) for word in ("links", "Mitte"))
    assert left[3] > middle[3] + 20


def test_lines_of_unknown_place_are_found_all_the_same():
    baseline = TextLine("b", None, ((10, 90), (700, 90)), Transcription("nur Grundlinie"))
    nowhere = TextLine("n", None, None, Transcription("ganz ohne Ort"))
    assert read(write(page_of(baseline, nowhere))) == ["nur", "Grundlinie", "ganz", "ohne", "Ort"]


def test_the_text_is_not_seen():
    data = write(letter_page())
    picture = np.asarray(shown(data))
    assert picture.min() == picture.max() == 230
    with pikepdf.open(io.BytesIO(data)) as pdf:
        modes = [operands for operands, operator in pikepdf.parse_content_stream(pdf.pages[0]) if str(operator) == "Tr"]
    assert [list(map(int, mode)) for mode in modes] == [[3]]


def test_words_that_touch_stay_apart():
    words = (PageWord("eng", polygon=((50, 50), (110, 50), (110, 90), (50, 90))),)
    words += (PageWord("an", polygon=((110, 50), (150, 50), (150, 90), (110, 90))),)
    line = TextLine("l", transcription=Transcription("eng an", None, words))
    assert read(write(page_of(line))) == ["eng", "an"]


def photo(mode="RGB", size=(600, 300)):
    """A picture on which every corner looks different."""
    image = Image.new("RGB", size, (250, 245, 230))
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 0, 80, 60), fill=(200, 30, 30))
    pen.rectangle((size[0] - 60, 0, size[0], 40), fill=(30, 120, 30))
    pen.ellipse((20, size[1] - 70, 80, size[1] - 10), fill=(20, 20, 160))
    return image.quantize(16) if mode == "P" else image.convert(mode)


def difference(image, other):
    small = other.convert("RGB").resize(image.size)
    return np.abs(np.asarray(image, dtype=float) - np.asarray(small, dtype=float)).mean()


def scan_page(path):
    with Image.open(path) as image:
        upright = ImageOps.exif_transpose(image)
    page = Page(path.name, *upright.size, (Region("r", (line_of("Wort", 10, 10),)),))
    return page, Scan(lambda: upright, path)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_jpeg_goes_in_as_it_is_and_is_shown_upright(orientation, tmp_path):
    path, image = tmp_path / "a.jpg", photo()
    exif = image.getexif()
    exif[0x0112] = orientation
    image.save(path, exif=exif, quality=90)
    page, scan = scan_page(path)
    data = write(page, scan=scan)
    assert path.read_bytes() in data
    assert len(data) < path.stat().st_size + 6000
    assert difference(shown(data, scale=300 / 72), scan.load()) < 3
    assert read(data) == ["Wort"]


@pytest.mark.parametrize("mode", ["L", "CMYK"])
def test_gray_and_cmyk_jpegs_keep_their_colors(mode, tmp_path):
    path = tmp_path / "a.jpg"
    photo(mode).save(path, quality=95)
    page, scan = scan_page(path)
    data = write(page, scan=scan)
    assert path.read_bytes() in data
    assert difference(shown(data, scale=300 / 72), scan.load()) < 12


def test_black_and_white_is_faxed_without_loss():
    image = photo("1")
    page = Page("a.tif", *image.size)
    data = write(page, scan=Scan(lambda: image))
    assert b"CCITTFaxDecode" in data
    assert difference(shown(data, scale=300 / 72), image) == 0


@pytest.mark.parametrize("mode", ["L", "RGB", "P", "RGBA"])
def test_other_scans_become_jpeg(mode, tmp_path):
    path = tmp_path / "a.png"
    photo(mode).save(path)
    page, scan = scan_page(path)
    data = write(page, scan=scan)
    assert b"DCTDecode" in data
    assert difference(shown(data, scale=300 / 72), scan.load()) < 4


@pytest.mark.parametrize(("claimed", "inches"), [(200, 3), (72, 2), (None, 2)])
def test_a_page_is_as_large_as_its_resolution_says_if_that_can_be_believed(claimed, inches, tmp_path):
    path = tmp_path / "a.jpg"
    photo().save(path, **({"dpi": (claimed, claimed)} if claimed else {}))
    page, scan = scan_page(path)
    with pypdfium2.PdfDocument(write(page, scan=scan)) as pdf:
        assert pdf[0].get_width() == pytest.approx(72 * inches, abs=0.1)


@pytest.mark.parametrize(("dpi", "inches"), [((204, 98), (100 / 34, 150 / 49)), ((0, 0), (2, 1))])
def test_a_fax_is_shown_as_it_was_sent(dpi, inches, tmp_path):
    """Its dots may be twice as high as wide; 0 / 0 dots per inch are in the files of some programs."""
    path = tmp_path / "fax.tif"
    photo("1").save(path, tiffinfo={282: IFDRational(dpi[0], dpi[0] and 1), 283: IFDRational(dpi[1], dpi[1] and 1)})
    page, scan = scan_page(path)
    with pypdfium2.PdfDocument(write(page, scan=scan)) as pdf:
        assert np.divide(pdf[0].get_size(), 72) == pytest.approx(inches, abs=0.01)


def drawn_pdf(path, rotate, crop):
    """A PDF of one page with a red bar at its left top as it is shown, and resources that all pages inherit."""
    pdf = pikepdf.new()
    page = pdf.add_blank_page(page_size=(400, 300))
    page.obj.CropBox = pikepdf.Array(crop)
    page.obj.Rotate = rotate
    page.contents_add(b"0.5 0 0 0.5 9 9 cm 1 0 0 rg 0 0 20 20 re f")
    pdf.Root.Pages.Resources = pikepdf.Dictionary(ProcSet=pikepdf.Array([pikepdf.Name.PDF]))
    del page.obj.Resources
    pdf.docinfo["/Title"] = "Brief"
    pdf.save(path)


def test_a_fax_that_is_turned_keeps_its_shape(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    photo().save(tmp_path / "fax.jpg", exif=exif, dpi=(204, 102))
    page, scan = scan_page(tmp_path / "fax.jpg")
    with pypdfium2.PdfDocument(write(page, scan=scan)) as pdf:
        assert np.divide(pdf[0].get_size(), 72) == pytest.approx((300 / 102, 600 / 204), abs=0.01)


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
@pytest.mark.parametrize("crop", [(0, 0, 400, 300), (20, 10, 380, 290), (380, 290, 20, 10), (-50, -50, 380, 900)])
def test_pages_of_a_pdf_stay_and_get_text_on_top(rotate, crop, tmp_path):
    path = tmp_path / "letter.pdf"
    drawn_pdf(path, rotate, crop)
    with pypdfium2.PdfDocument(path) as pdf:
        image = pdf[0].render(scale=300 / 72).to_pil()
    page = page_of(line_of("Liebe Mutter", 100, 80), width=image.width, height=image.height)
    data = write(page, pdf=path)
    assert difference(shown(data, scale=300 / 72), image) == 0
    assert read(data) == ["Liebe", "Mutter"]
    with pikepdf.open(io.BytesIO(data)) as pdf:
        assert str(pdf.docinfo["/Title"]) == "Brief"
        assert {"/ProcSet", "/Font"} <= set(pdf.pages[0].Resources.keys())
        assert str(pdf.docinfo["/Producer"]) == "drethtr 1.2.3, model 0123abcd"
    assert_on(found_box(data, "Liebe", *image.size), (100, 80, 200, 120))


def test_a_pdf_that_is_read_again_has_the_new_text_alone(tmp_path):
    path = tmp_path / "letter.pdf"
    drawn_pdf(path, 90, (20, 10, 380, 290))
    first, second = (page_of(line_of(text, 100, 80)) for text in ("Liede Nutter", "Liebe Mutter"))
    path.write_bytes(once := write(first, pdf=path))
    again = write(second, pdf=path)
    assert read(once) == ["Liede", "Nutter"] and read(again) == ["Liebe", "Mutter"]
    assert difference(shown(again), shown(once)) == 0 and abs(len(again) - len(once)) < 100


def any_content(random):
    """Content that scales the page and leaves q open, restores once too often, or both, in some order."""
    operators = random.choices(
        ["q", "Q", "0.24 0 0 0.24 30 40 cm", "0 0 9 9 re W n", "1 0 0 rg"], k=random.randint(1, 9)
    )
    picture = "BI /W 1 /H 1 /BPC 8 /CS /G ID q EI" if random.random() < 0.3 else ""
    return f"{' '.join(operators)} % q Q\n{picture}".encode()


def test_the_text_lies_on_its_place_whatever_state_the_content_leaves(tmp_path):
    """As on a page without content; and the layer of the next run replaces it."""
    path, page = tmp_path / "scan.pdf", page_of(line_of("Liebe Mutter", 100, 80))
    with pikepdf.new() as pdf:
        pdf.add_blank_page(page_size=(400, 300))
        pdf.save(path)
    expected = found_box(write(page, pdf=path), "Liebe", 800, 600)
    assert_on(expected, (100, 80, 200, 120))
    for seed in range(200):
        content = any_content(Random(seed))
        with pikepdf.new() as pdf:
            pdf.add_blank_page(page_size=(400, 300)).contents_add(content)
            pdf.save(path)
        data = write(page, pdf=path)
        assert found_box(data, "Liebe", 800, 600) == pytest.approx(expected, abs=0.01), content
        with pikepdf.open(io.BytesIO(data)) as pdf:
            names = [str(operator) for _, operator in pikepdf.parse_content_stream(pdf.pages[0], "q Q")]
        depths = np.cumsum([1 if name == "q" else -1 for name in names])
        assert depths.min() == depths[-1] == 0, content
    path.write_bytes(data)
    assert read(write(page, pdf=path)) == ["Liebe", "Mutter"]


def test_restrictions_that_need_no_password_are_not_kept(tmp_path):
    drawn_pdf(tmp_path / "plain.pdf", 0, (20, 10, 380, 290))
    with pikepdf.open(tmp_path / "plain.pdf") as pdf:
        pdf.save(tmp_path / "letter.pdf", encryption=pikepdf.Encryption(owner="word", user=""))
    written = write(page_of(line_of("Liebe Mutter", 100, 80)), pdf=tmp_path / "letter.pdf")
    with pikepdf.open(io.BytesIO(written)) as pdf:
        assert not pdf.is_encrypted
    assert read(written) == ["Liebe", "Mutter"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no pdf", "cannot be read as a PDF"),
        ("password", "requires a password"),
        ("pages", "contains 1 pages, but 2 were read"),
    ],
)
def test_a_pdf_that_cannot_be_used_is_named(content, message, tmp_path):
    path, pages = tmp_path / "a.pdf", [letter_page()]
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        drawn_pdf(path, 0, (0, 0, 400, 300))
        if content == "password":
            with pikepdf.open(path, allow_overwriting_input=True) as pdf:
                pdf.save(path, encryption=pikepdf.Encryption(user="secret", owner="secret"))
        else:
            pages *= 2
    with pytest.raises(DataError, match=rf"a\.pdf: {message}"):
        write(*pages, pdf=path)


def test_the_file_names_its_maker():
    with pikepdf.open(io.BytesIO(write(letter_page()))) as pdf:
        assert str(pdf.docinfo["/Producer"]) == "drethtr 1.2.3, model 0123abcd"


def test_the_font_is_one():
    fonttools = pytest.importorskip("fontTools.ttLib")
    font = fonttools.TTFont(io.BytesIO(truetype()), checkChecksums=2)
    glyph = font["glyf"]["glyph00001"]
    assert (font["maxp"].numGlyphs, font["hmtx"]["glyph00001"]) == (2, (500, 0))
    assert (glyph.xMin, glyph.yMin, glyph.xMax, glyph.yMax, glyph.numberOfContours) == (0, 0, 500, 500, 2)
    assert len(truetype()) < 400


@needs_pages
@pytest.mark.parametrize("path", sorted(PAGES.glob("*.xml")), ids=lambda path: path.name)
def test_real_pages_read_back_word_for_word_at_the_size_of_their_scans(path):
    page = read_page(path)
    image = image_beside(path, page.image)
    document = document_of(page, scan=Scan(lambda: Image.open(image), image))
    data = FORMATS["pdf"].write(document)
    assert read(data) == page.text.split()
    assert len(data) < 1.1 * image.stat().st_size


@pytest.mark.parametrize("size", [(1, 1), (6, 6), (1, 70_000), (70_000, 12)])
def test_an_image_too_small_or_too_long_for_a_page(size):
    """PDF 1.7 allows pages of 3 to 14,400 units."""
    scan = Scan(lambda: Image.new("L", size, 200))
    data = write(page_of(line_of("Punkt"), width=size[0], height=size[1]), scan=scan)
    with pikepdf.open(io.BytesIO(data)) as pdf:
        assert all(3 <= side <= 14_400 for side in map(float, pdf.pages[0].mediabox[2:]))
    assert read(data) == ["Punkt"]


def test_half_a_character_is_replaced():
    assert read(write(page_of(line_of("a\ud800b")))) == ["a\ufffdb"]
