import base64
import io
import re
from html.parser import HTMLParser

from page_examples import document_of, letter_page, line_of
from PIL import Image

from drethtr.documents import FORMATS, Page, Region, Scan

LARGEST = 500_000


def view(page, scan=None):
    return FORMATS["html"].write(document_of(page, scan=scan)).decode()


class Links(HTMLParser):
    """Everything that a browser would fetch, and all text."""

    def __init__(self, text):
        super().__init__()
        self.links, self.lines = [], {}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.links += [given[name] for name in ("src", "href") if name in given]
        if "data-line" in given:
            self.lines.setdefault(given["data-line"], []).append(tag)


def test_nothing_is_fetched():
    page = view(letter_page())
    assert all(link.startswith("data:image/jpeg;base64,") for link in Links(page).links)
    assert "default-src 'none'" in page
    assert "url(" not in page and "import" not in page


def test_each_line_is_both_on_the_scan_and_in_the_text():
    assert Links(view(letter_page())).lines == {str(n): ["polygon", "span"] for n in range(3)}


def test_doubtful_words_are_marked():
    page = view(letter_page())
    assert re.findall(r'<span class="doubtful" title="confidence 90%">(.*?)</span>', page) == ["daſs"]
    assert "lines: 3, doubtful words: 1" in page


def test_texts_are_no_markup():
    line = line_of("<script>alert(1)</script>", doubtful=())
    page = view(Page('"><img>.jpg', 99, 99, (Region("r", (line,)),)))
    assert "<img" not in page and page.count("<script>") == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_a_large_scan_is_made_small():
    scan = Scan(lambda: Image.linear_gradient("L").resize((4000, 3000)))
    page = view(letter_page(), scan)
    jpeg = re.search(r"base64,([^\"]+)", page)[1]
    with Image.open(io.BytesIO(base64.b64decode(jpeg))) as image:
        assert image.size == (1800, 1350)
    assert len(page) < LARGEST
