"""Pages for tests: a plain example, and arbitrary ones from hypothesis."""

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import strategies as st
from PIL import Image

from drethtr.documents import (
    Box,
    CellPlace,
    Document,
    Page,
    PageWord,
    Provenance,
    Region,
    Scan,
    Sheet,
    TextLine,
    Transcription,
)
from drethtr.documents.points import twice_area

PROVENANCE = Provenance("1.2.3", "0123abcd", datetime(2026, 11, 21, 12, 30, tzinfo=UTC))
WIDTH, HEIGHT = 800, 600

VISIBLE = st.characters(exclude_categories=("C", "Z"))
WORDS = st.text(VISIBLE, min_size=1, max_size=8)
BOX = Box(10, 10, 200, 60).polygon()
POINTS = st.tuples(st.integers(0, WIDTH), st.integers(0, HEIGHT))
POLYGONS = st.lists(POINTS, min_size=3, max_size=6).map(tuple).filter(twice_area)
BASELINES = st.lists(POINTS, min_size=2, max_size=4, unique=True).map(tuple)
CONFIDENCES = st.none() | st.integers(0, 10_000).map(lambda part: part / 10_000)


LINE_KINDS = ("", "", "margin", "insertion", "number", "stamp", "print", "HeadingLine", "CustomLine:signature")


@st.composite
def transcriptions(draw):
    words = tuple(
        PageWord(draw(WORDS), draw(CONFIDENCES), draw(POLYGONS), draw(st.booleans()))
        for _ in range(draw(st.integers(1, 4)))
    )
    text = " ".join(word.text for word in words)
    return Transcription(text, draw(CONFIDENCES), words if draw(st.booleans()) else ())


@st.composite
def pages(draw):
    """Any page: lines in reading order, some untranscribed, some without a position."""
    numbers = iter(range(1000))
    regions = tuple(
        Region(
            f"region-{next(numbers)}",
            tuple(
                TextLine(
                    f"line.{next(numbers)}",
                    draw(st.none() | POLYGONS),
                    draw(st.none() | BASELINES),
                    draw(st.none() | transcriptions()),
                    draw(st.sampled_from(LINE_KINDS)),
                )
                for _ in range(draw(st.integers(0, 3)))
            ),
            draw(POLYGONS),
            draw(st.sampled_from(("", "text", "margin", "number", "stamp", "heading", "QuireMarksZone"))),
        )
        for _ in range(draw(st.integers(0, 3)))
    )
    return Page(f"{draw(WORDS).replace('/', '_').replace(chr(92), '_')}.jpg", WIDTH, HEIGHT, regions)


def with_texts(page, texts):
    """The page with new transcriptions for the lines with these ids."""
    return page.with_lines(lambda line: replace(line, transcription=texts.get(line.id, line.transcription)))


def line_of(text, left=50, top=50, *, id="l1", letter=20, height=40, doubtful=()):
    """A straight line of words, with letters of equal width."""
    words, right = [], left
    for word in text.split():
        box = Box(right, top, right + letter * len(word), top + height)
        words.append(PageWord(word, 0.9, box.polygon(), word in doubtful))
        right = box.right + letter
    polygon = Box(left, top, right - letter, top + height).polygon()
    baseline = ((left, top + height * 3 // 4), (right - letter, top + height * 3 // 4))
    return TextLine(id, polygon, baseline, Transcription(text, 0.9, tuple(words)))


def letter_page():
    """Three lines in two regions."""
    first = line_of("Liebe Mutter, daſs ich", id="l1", doubtful=("daſs",))
    second = line_of("groß <bin> & froh", top=150, id="l2")
    margin = line_of("Rom 1805", left=560, top=400, id="m1")
    return Page("letter.jpg", WIDTH, HEIGHT, (Region("main", (first, second)), Region("margin", (margin,))))


def document_of(*pages, scan=None):
    """A document of pages with blank scans."""
    sheets = (Sheet(p, scan or Scan(lambda p=p: Image.new("L", (p.width, p.height), 230))) for p in pages)
    return Document(tuple(sheets), PROVENANCE)


def register_page():
    """A heading, a table of two rows and three columns with an empty cell, and a note."""
    cells = (("No.", 0, 0), ("Name", 0, 1), ("Sum", 0, 2), ("1", 1, 0), ("12.50", 1, 2))
    table = tuple(
        Region(f"t{row}{column}", (line_of(text, id=f"c{row}{column}"),), BOX, "table", CellPlace("t", row, column))
        for text, row, column in cells
    )
    heading = Region("h", (line_of("Accounts", id="h1"),), BOX, "heading")
    note = Region("n", (line_of("paid", id="n1"),), BOX, "margin")
    return Page("register.jpg", WIDTH, HEIGHT, (heading, *table, note))
