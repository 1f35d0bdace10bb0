import base64
import io
import re
from html.parser import HTMLParser

from page_examples import document_of, letter_page, line_of
from PIL import Image

from drethtr.documents import FORMATS, Page, PageFlag, PageWord, Region, Scan, TextLine, Transcription

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


def test_words_are_shaded_by_their_grade_and_doubtful_ones_underlined():
    words = [PageWord(f"w{sure}", sure, None, sure in (0.95, 0.1)) for sure in (0.95, 0.9, 0.7, 0.3, 0.1)]
    words.append(PageWord("person"))
    line = TextLine("l", transcription=Transcription(" ".join(word.text for word in words), 0.5, tuple(words)))
    page = view(Page("a.jpg", 99, 99, (Region("r", (line,)),)))
    assert re.findall(r"<span([^<>]*)>(w[.0-9]+|person)</span>", page) == [
        (' class="doubtful" title="confidence 95%"', "w0.95"),
        (' title="confidence 90%"', "w0.9"),
        (' class="likely" title="confidence 70%" data-sure="0.7000"', "w0.7"),
        (' class="unlikely" title="confidence 30%" data-sure="0.3000"', "w0.3"),
        (' class="guess doubtful" title="confidence 10%" data-sure="0.1000"', "w0.1"),
        ("", "person"),
    ]
    assert "lines: 1, doubtful words: 2" in page


def test_each_flag_has_a_line_of_its_own():
    line = TextLine(
        "l", transcription=Transcription("a", 0.5, flags=(PageFlag("blank", "b"), PageFlag("unwritten", "c")))
    )
    page = view(Page("a.jpg", 99, 99, (Region("r", (line,)),)))
    assert re.findall('<span class="flag">(.*?)</span>', page) == ["blank: b", "unwritten: c"]
    assert re.search(r"\.flag { display: block;", page)


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
