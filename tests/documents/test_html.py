"""HTML that pages, notebooks and reports share."""

import base64
import io
import re
from base64 import b64decode
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from page_examples import letter_page, line_of, with_texts
from PIL import Image

from drethtr.documents import Page, PageFlag, PageWord, Region, TextLine, Transcription
from drethtr.documents.html import jpeg_uri, png_uri, tooltip
from drethtr.images.page import PageSource


def opened(uri, media):
    head, _, content = uri.partition(",")
    assert head == f"data:image/{media};base64"
    return Image.open(BytesIO(b64decode(content)))


@pytest.mark.parametrize(("size", "shown"), [((400, 100), (200, 50)), ((100, 80), (75, 60)), ((50, 20), (50, 20))])
def test_an_image_is_reduced_and_never_enlarged(size, shown):
    assert opened(jpeg_uri(Image.new("RGBA", size), (200, 60)), "jpeg").size == shown


def test_a_drawing_keeps_every_pixel():
    drawing = Image.fromarray(np.random.default_rng(1).integers(0, 256, (9, 7, 3), dtype=np.uint8))
    assert np.array_equal(np.asarray(opened(png_uri(drawing), "png")), np.asarray(drawing))


def test_a_confidence_is_shown_in_percent_if_it_is_known():
    assert (tooltip(0.876), tooltip(None)) == (' title="confidence 88%"', "")


@pytest.fixture
def scanned(tmp_path):
    """The letter with a scan whose upper half is black."""
    scan = Image.new("L", (800, 600), 255)
    scan.paste(0, (0, 0, 800, 120))
    scan.save(tmp_path / "letter.png")
    return replace(letter_page(), source=PageSource(tmp_path / "letter.png"))


def strips(html):
    found = re.findall(r'src="data:image/jpeg;base64,([^"]+)"', html)
    return [Image.open(io.BytesIO(base64.b64decode(pixels))) for pixels in found]


def words(*words):
    text = Transcription(" ".join(word.text for word in words), 0.5, words)
    return Page("a.jpg", 8, 6, (Region("r", (TextLine("l", transcription=text), TextLine("unread"))),))


def test_each_line_has_its_strip_of_the_scan(scanned):
    html = scanned._repr_html_()
    assert [strip.size for strip in strips(html)] == [(440, 40), (340, 40), (160, 40)]
    assert [strip.getpixel((9, 9))[0] > 127 for strip in strips(html)] == [False, True, True]
    assert "letter.jpg · lines: 3, doubtful words: 1" in html


def test_without_its_scan_a_page_shows_its_text(scanned):
    resized = replace(scanned, width=801)
    scanned.source.path.unlink()
    for page in (letter_page(), scanned, resized):
        html = page._repr_html_()
        assert "<img" not in html and "Mutter," in html


def test_words_are_shaded_and_underlined_by_their_doubt():
    page = words(PageWord("sure", 0.9), PageWord("likely", 0.8), PageWord("odd", 0.95, None, True), PageWord("no", 0.1))
    html = page._repr_html_()
    assert '<span title="confidence 90%">sure</span>' in html
    assert '<span style="background:#fff3c9;color:#222;" title="confidence 80%">likely</span>' in html
    assert '<span style="border-bottom:2px solid #c25e00" title="confidence 95%">odd</span>' in html
    assert "background:#ffb9b9" in html and "unread" not in html


def test_texts_are_no_markup():
    page = replace(letter_page(), image='"><img src=x>')
    odd = Transcription("<script>", 0.5, (PageWord("<script>", 0.5),), (PageFlag("blank", "<b>no</b>"),))
    html = with_texts(page, {"l1": odd})._repr_html_()
    assert not re.search("<script|<b>|<img", html) and "&lt;script&gt;" in html


def test_what_is_shown_is_bounded():
    long = Transcription("a " * 5000, 0.5, (PageWord("a", 0.5),) * 5000)
    lines = tuple(replace(line_of("x", id=f"l{number}"), transcription=long) for number in range(2000))
    html = Page("a.jpg", 800, 600, (Region("r", lines),))._repr_html_()
    assert len(html) < 2_000_000 and "… and 1,950 more lines" in html
