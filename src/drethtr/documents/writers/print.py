"""Write the text of pages for reading as a PDF: typeset on A4, with raised letters and tables, without doubts."""

from collections.abc import Iterator, Sequence
from itertools import chain
from math import ceil
from typing import NamedTuple
from unicodedata import normalize

from drethtr.documents.document import Document
from drethtr.documents.markup import clean
from drethtr.documents.reflow import Run, reading_blocks, runs
from drethtr.documents.writers.pdf import information, saved
from drethtr.documents.writers.pdf_font import UNITS, SerifFont

WIDTH, HEIGHT, MARGIN = 595, 842, 72
"""The size of a page and of its margins, in points of 1/72 inch, as all lengths here."""

LEADING = 1.45
"""The distance of lines, relative to the size of the letters."""

RAISED_SIZE, RAISED_BY = 0.65, 0.35
"""The size of raised letters and their height, relative to the size of the others."""

COLUMN_GAP = 8
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

Word = tuple[Run, ...]


class Style(NamedTuple):
    """How a paragraph is set: the size of its letters, its indentation, and the space after it."""

    size: float
    indent: float = 0
    after: float = 6


BODY, TITLE = Style(11), Style(17, after=14)
NOTE, CELL, SMALL = Style(9, 36), Style(9, after=0), Style(8)


def write_print(document: Document) -> bytes:
    """Write the text of all pages of a document; what the font lacks is listed at the end."""
    import pikepdf
    from pikepdf import Dictionary, Name

    setter = Typesetter()
    if document.about.title:
        setter.add_text(document.about.title, TITLE)
    for block in chain.from_iterable(map(reading_blocks, document.pages)):
        if block.rows:
            setter.add_table(block.rows)
        else:
            setter.add_text(block.text, NOTE if block.is_margin else BODY)
    if setter.missing:
        points = ", ".join(f"U+{ord(character):04X}" for character in sorted(setter.missing))
        setter.add_text(f"{REPLACEMENT} stands for characters that the font lacks: {points}.", SMALL)
    with pikepdf.new() as pdf:
        font = pdf.make_indirect(Dictionary())
        for number, rows in enumerate(setter.pages, 1):
            page = pdf.add_blank_page(page_size=(WIDTH, HEIGHT))
            page.add_resource(font, Name.Font, Name.Serif)
            folio = setter.words(str(number))
            left = (WIDTH - setter.width(folio, SMALL.size)) / 2
            rows.append(setter.drawn(folio, left, MARGIN / 2, SMALL.size))
            page.contents_add("\n".join(rows).encode())
        for key, value in setter.font.to_pdf(pdf).items():
            font[key] = value
        return saved(pdf, information(document))


class Typesetter:
    """Sets texts line by line, from page to page.

    pages    the operators that draw each page
    missing  characters that the font lacks
    """

    def __init__(self) -> None:
        self.font = SerifFont()
        self.pages: list[list[str]] = [[]]
        self.missing: set[str] = set()
        self.y = float(HEIGHT - MARGIN)

    def add_text(self, text: str, style: Style) -> None:
        """Add a paragraph."""
        for line in self.lines(text, WIDTH - 2 * MARGIN - style.indent, style.size):
            self.make_room(style.size * LEADING)
            self.pages[-1].append(self.drawn(line, MARGIN + style.indent, self.y, style.size))
        self.y -= style.after

    def add_table(self, rows: Sequence[Sequence[str]]) -> None:
        """Add a table; a row stays on one page if it fits there."""
        columns = max(map(len, rows))
        natural = [COLUMN_GAP] * columns
        for row in rows:
            for place, cell in enumerate(row):
                natural[place] = max(natural[place], COLUMN_GAP + ceil(self.width(self.words(cell), CELL.size)))
        share = min((WIDTH - 2 * MARGIN) / sum(natural), 1)
        lefts = [MARGIN + share * sum(natural[:place]) for place in range(columns)]
        for row in rows:
            cells = [
                list(self.lines(cell, max(share * natural[place] - COLUMN_GAP, CELL.size), CELL.size))
                for place, cell in enumerate(row)
            ]
            height = CELL.size * LEADING
            if self.y - height * max(map(len, cells)) < MARGIN:
                self.begin_page()
            for number in range(max(map(len, cells))):
                self.make_room(height)
                self.pages[-1] += [
                    self.drawn(cell[number], left, self.y, CELL.size)
                    for cell, left in zip(cells, lefts, strict=False)
                    if number < len(cell)
                ]
            self.y -= 3
            self.pages[-1].append(f"0.3 w {MARGIN} {self.y:.1f} m {WIDTH - MARGIN} {self.y:.1f} l S")
        self.y -= BODY.after

    def make_room(self, height: float) -> None:
        """Go down to the next line, on the next page if there is no room."""
        if self.y - height < MARGIN:
            self.begin_page()
        self.y -= height

    def begin_page(self) -> None:
        """Begin a page, unless this one is empty."""
        if self.pages[-1]:
            self.pages.append([])
            self.y = float(HEIGHT - MARGIN)

    def lines(self, text: str, width: float, size: float) -> Iterator[list[Word]]:
        """A text in lines no wider than a width; words that are wider are divided."""
        line: list[Word] = []
        for word in self.words(text):
            for part in self.divided(word, width, size):
                if line and self.width([*line, part], size) > width:
                    yield line
                    line = []
                line.append(part)
        if line:
            yield line

    def words(self, text: str) -> list[Word]:
        """The words of a text, with characters that the font has."""
        words: list[list[Run]] = [[]]
        for run in runs(normalize("NFC", clean(text))):
            known = "".join(map(self.drawable, run.text))
            for number, part in enumerate(known.split(" ")):
                if number:
                    words.append([])
                if part:
                    words[-1].append(Run(part, run.raised))
        return [tuple(word) for word in words if word]

    def drawable(self, character: str) -> str:
        """The character of the font that is drawn for a character."""
        if character.isspace() or self.font.glyph(character):
            return " " if character.isspace() else character
        self.missing.add(character)
        return REPLACEMENT

    def divided(self, word: Word, width: float, size: float) -> Iterator[Word]:
        """The parts of a word, each no wider than a width if it has several characters."""
        if self.width([word], size) <= width:
            yield word
            return
        part: Word = ()
        for run in word:
            for character in run.text:
                longer = (*part, Run(character, run.raised))
                if part and self.width([longer], size) > width:
                    yield part
                    longer = longer[-1:]
                part = longer
        yield part

    def width(self, words: Sequence[Word], size: float) -> float:
        """The width of words side by side."""
        space = self.font.advance(" ") * max(len(words) - 1, 0)
        letters = sum(
            self.font.advance(character) * (RAISED_SIZE if run.raised else 1)
            for word in words
            for run in word
            for character in run.text
        )
        return size * (space + letters) / UNITS

    def drawn(self, words: Sequence[Word], left: float, y: float, size: float) -> str:
        """The operators that draw words side by side."""
        spaced = [run for word in words for run in (Run(" ", raised=False), *word)][1:]
        rows = [f"BT 1 0 0 1 {left:.1f} {y:.1f} Tm"]
        for run in spaced:
            of_run, rise = (size * RAISED_SIZE, size * RAISED_BY) if run.raised else (size, 0)
            rows.append(f"/Serif {of_run:.2f} Tf {rise:.2f} Ts <{self.font.encode(run.text)}> Tj")
        return " ".join([*rows, "ET"])
