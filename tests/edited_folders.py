"""Folders of scans for tests: pages rendered with a font, some with page files."""

from random import Random

from made_pages import HAND, TEXTS, blank, write
from page_examples import document_of
from PIL import ImageDraw, ImageFont

from drethtr.documents.formats import FORMATS
from drethtr.documents.page import Page, Region, TextLine
from drethtr.documents.transcription import PageWord, Transcription
from drethtr.pages.segmentation import segmentation_named
from drethtr.pages.source import open_originals
from drethtr.recognition.recognizer import Recognizer
from drethtr.search.build import open_builder

LINES = 4


def scan(lines=LINES, ink=40):
    return write(blank(700, 60 + 70 * lines), TEXTS[:lines], ink=ink)


def line_of(number, made, confidence):
    left, top, right, bottom = made.box
    words, start = [], left
    for text in made.text.split():
        end = start + (right - left) * len(text) // len(made.text)
        words.append(PageWord(text, confidence, ((start, top), (end, top), (end, bottom), (start, bottom))))
        start = end + 5
    polygon = ((left, top), (right, top), (right, bottom), (left, bottom))
    baseline = ((left, bottom - 10), (right, bottom - 10))
    return TextLine(f"l{number}", polygon, baseline, Transcription(made.text, confidence, tuple(words)))


def page_of(name, made, confidence=0.9):
    lines = tuple(line_of(number, line, confidence) for number, line in enumerate(made.lines))
    return Page(name, *made.image.size, (Region("r1", lines),))


def put_page(folder, stem, format="page", confidence=0.9, lines=LINES, ink=40):
    """Write a scan with a page file, of lines that were read or, without confidence, transcribed by a person."""
    made = scan(lines, ink)
    folder.mkdir(parents=True, exist_ok=True)
    made.image.save(folder / f"{stem}.png")
    page = page_of(f"{stem}.png", made, confidence)
    path = folder / f"{stem}.{format}.xml"
    path.write_bytes(FORMATS[format].write(document_of(page)))
    return path


def approve(path, status="GT"):
    """Give a page file the status that somebody set in Transkribus; returns it."""
    told = f'<TranskribusMetadata docId="1" pageNr="1" status="{status}"/></Metadata>'
    path.write_text(path.read_text(encoding="utf-8").replace("</Metadata>", told), encoding="utf-8")
    return path


def put_index(folder, description, model, lines="auto"):
    """Index the pages that a file describes, for the searches of the editor."""
    recognizer = Recognizer.load(model, decoder="ctc", posteriors=True)
    with open_builder(folder / "letters.drethtr.sqlite", recognizer, segmentation_named(lines)) as builder:
        for original in open_originals(description):
            builder.read(original)


def foreign(path):
    """Rewrite a file as if from another program."""
    path.write_bytes(
        path.read_bytes().replace(b"<Creator>drethtr ", b"<Creator>others ").replace(b">drethtr<", b">others<")
    )
    return path


WORDS = ("Wheat", "barley", "oats", "rent", "paid", "owed", "Martin", "Agnes", "house", "field", "mill", "9 s", "12 d")


def put_layout(folder, stem, size, places, regions=1):
    """Write a scan with a page file, of lines at (left, right, baseline) in a wrong order, in so many regions."""
    pages = blank(*size)
    font = ImageFont.truetype(str(HAND), 24)
    pen = ImageDraw.Draw(pages.image)
    lines = []
    for number, (left, right, y) in enumerate(places):
        text, more = "", number
        while not text or pen.textlength(f"{text} {WORDS[more % len(WORDS)]}", font=font) < right - left:
            text, more = f"{text} {WORDS[more % len(WORDS)]}".strip(), more + 7
        pen.text((left, y), text, fill=40, font=font, anchor="ls")
        polygon = ((left, y - 26), (right, y - 26), (right, y + 10), (left, y + 10))
        read = Transcription(text, 0.9, (PageWord(text, 0.9, polygon),) if " " not in text else ())
        lines.append(TextLine(f"l{number}", polygon, ((left, y), (right, y)), read))
    share = -(-len(lines) // regions)
    parts = [tuple(lines[start : start + share]) for start in range(0, len(lines), share)]
    page = Page(f"{stem}.png", *size, tuple(Region(f"r{number}", part) for number, part in enumerate(parts)))
    folder.mkdir(parents=True, exist_ok=True)
    pages.image.save(folder / f"{stem}.png")
    path = folder / f"{stem}.page.xml"
    path.write_bytes(FORMATS["page"].write(document_of(page)))
    return path


def put_opening(folder, stem="opening"):
    """An opening of 11 rows whose lines alternate left and right; 5 of them run across the fold."""
    places = []
    for row in range(11):
        y = 90 + 70 * row
        places += [(60, 1340, y)] if row in (1, 3, 4, 7, 9) else [(60, 650, y), (750, 1340, y)]
    return put_layout(folder, stem, (1400, 900), places)


def put_register(folder, stem="register"):
    """A register of 140 fragments in 7 columns, in 10 regions, of which none is a row or a column."""
    places = [(50 + 190 * column, 210 + 190 * column, 80 + 50 * row) for column in range(7) for row in range(20)]
    Random(7).shuffle(places)
    return put_layout(folder, stem, (1400, 1120), places, regions=10)


def put_full(folder, stem="full", rows=75):
    """A page of four columns; 300 lines, unless there are fewer rows."""
    places = [(40 + 340 * column, 350 + 340 * column, 60 + 36 * row) for column in range(4) for row in range(rows)]
    return put_layout(folder, stem, (1400, 2800), places, regions=4)
