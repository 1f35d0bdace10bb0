"""Folders of scans for tests: pages rendered with a font, some with page files."""

from made_pages import TEXTS, blank, write

from drethtr.documents.document import Document, Provenance, Scan, Sheet
from drethtr.documents.formats import FORMATS
from drethtr.documents.page import Page, Region, TextLine
from drethtr.documents.transcription import PageWord, Transcription

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
    document = Document((Sheet(page, Scan(lambda: made.image)),), Provenance.now("test"))
    path = folder / f"{stem}.{format}.xml"
    path.write_bytes(FORMATS[format].write(document))
    return path


def foreign(path):
    """Rewrite a file as if from another program."""
    path.write_bytes(
        path.read_bytes().replace(b"<Creator>drethtr ", b"<Creator>others ").replace(b">drethtr<", b">others<")
    )
    return path
