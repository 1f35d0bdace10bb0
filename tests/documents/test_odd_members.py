"""Generated PAGE and ALTO files: odd values cost themselves and are named; texts of regions count where others lack.

What a file says is counted by lxml, or known from its making.
"""

from random import Random

import pytest
from lxml import etree

from drethtr.documents.alto.reader import NAMESPACES as ALTO
from drethtr.documents.page_xml.reader import NAMESPACES as PAGE
from drethtr.documents.read import page_in

MEMBERS = 200
SIDE = 500
ODD_NUMBERS = ("NaN", "inf", "-1e99", "12a", "0,97", "high", "ten", "--1", "1e400", "０x1", "1_0x")
ODD_POINTS = ("a,b", "1,2,3", "NaN,1 2,2 3,3", "1;2;3", "12a,4 5,6", "x", "1e99,1 2,2 3,3", "1,2 3")


class Maker:
    """Makes a file and knows what must be read: of each line its text, and whether it has outline, baseline, number."""

    def __init__(self, seed, dialect):
        self.random = Random(seed)
        self.dialect = dialect
        self.known = []
        self.odd = []

    def value(self, good, odd, place):
        """A value that is missing, good or odd, as written; and whether it must be read."""
        way = self.random.random()
        if way < 0.2:
            return None, False
        if way < 0.6:
            return good, True
        written = self.random.choice(odd)
        self.odd.append((place, written))
        return written, False

    def line(self, number):
        id, text, y = f"l{number}", f"text {number}", 20 * number + 15
        outline, has_outline = self.value(f"5,{y - 9} 90,{y - 9} 90,{y}", ODD_POINTS, id)
        baseline, has_baseline = self.value(f"5,{y} 90,{y}", ODD_POINTS, id)
        confidence, has_confidence = self.value("0.5", ODD_NUMBERS, id)
        self.known.append((id, text, has_outline, has_baseline, has_confidence))
        if self.dialect == "page":
            line = etree.Element("TextLine", id=id)
            for name, points in (("Coords", outline), ("Baseline", baseline)):
                if points is not None:
                    etree.SubElement(line, name, points=points)
            told = etree.SubElement(line, "TextEquiv", {} if confidence is None else {"conf": confidence})
            etree.SubElement(told, "Unicode").text = text
            return line
        line = etree.Element("TextLine", {"ID": id} | ({} if baseline is None else {"BASELINE": baseline}))
        if outline is not None:
            etree.SubElement(etree.SubElement(line, "Shape"), "Polygon", POINTS=outline)
        for word in text.split():
            own = {} if confidence is None else {"WC": confidence}
            etree.SubElement(line, "String", {"CONTENT": word} | own)
        return line

    def file(self):
        lines = [self.line(number) for number in range(self.random.randint(1, 9))]
        if self.dialect == "page":
            root = etree.Element("PcGts", xmlns=self.random.choice(PAGE))
            page = etree.SubElement(root, "Page", imageFilename="a.png", imageWidth=str(SIDE), imageHeight=str(SIDE))
            etree.SubElement(page, "TextRegion", id="r").extend(lines)
        else:
            root = etree.Element("alto", xmlns=self.random.choice(ALTO[1:]))
            etree.SubElement(etree.SubElement(root, "Description"), "MeasurementUnit").text = "pixel"
            layout = etree.SubElement(root, "Layout")
            page = etree.SubElement(layout, "Page", WIDTH=str(SIDE), HEIGHT=str(SIDE))
            etree.SubElement(etree.SubElement(page, "PrintSpace"), "TextBlock", ID="r").extend(lines)
        return encoded(root, self.random)


def encoded(root, random):
    encoding = random.choice(["utf-8", "utf-16", "ascii"])
    return etree.tostring(root, encoding=encoding, xml_declaration=True, pretty_print=random.random() < 0.5)


def read_of(line):
    """What was read of a line: whether it has a place and a confidence, its own or that of all its words."""
    confidences = [word.confidence for word in line.words] or [line.transcription.confidence]
    return line.id, line.text, line.polygon is not None, line.baseline is not None, None not in confidences


@pytest.mark.parametrize("dialect", ["page", "alto"])
def test_odd_values_cost_themselves_and_are_named(dialect):
    odd = 0
    for seed in range(MEMBERS):
        maker = Maker(seed, dialect)
        page = page_in(maker.file(), "a.xml", lambda _: None)
        read = list(map(read_of, page.lines))
        assert read == maker.known, seed
        for place, written in maker.odd:
            assert any(f"line {place!r}: " in one and is_part(one, written) for one in page.oddities), (seed, written)
        assert bool(page.oddities) == bool(maker.odd), seed
        odd += len(maker.odd)
    assert odd > MEMBERS


def is_part(message, written):
    """Whether a message quotes an odd value, or an odd number in it."""
    parts = (written, *written.replace(",", " ").replace(";", " ").split())
    return any(repr(part) in message for part in parts)


def any_regions(random, parent, depth, numbers):
    """Add regions with and without texts, lines and words to a page or region."""
    for _ in range(random.randint(1, 3)):
        region = etree.SubElement(parent, "TextRegion", id=f"r{next(numbers)}")
        if depth and random.random() < 0.4:
            any_regions(random, region, depth - 1, numbers)
        for _ in range(random.randint(0, 2)):
            line = etree.SubElement(region, "TextLine", id=f"l{next(numbers)}")
            if random.random() < 0.3:
                add_text(etree.SubElement(line, "Word", id=f"w{next(numbers)}"), random, numbers)
            add_text(line, random, numbers, 0.4)
        add_text(region, random, numbers, 0.8)


def add_text(element, random, numbers, chance=1.0):
    if random.random() < chance:
        told = etree.SubElement(element, "TextEquiv")
        etree.SubElement(told, "Unicode").text = random.choice([f"t{next(numbers)}", f"t{next(numbers)}\nu", " ", ""])


def texts_by_lxml(root):
    """The texts of a file in order: of lines, else of their words, else of the region, if it has nothing else."""
    for region in root.iter("TextRegion"):
        own = (region.findtext("TextEquiv/Unicode") or "").strip()
        inside = [child for child in region if child.tag != "TextEquiv"]
        filled = [one for child in inside for one in child.iter("Unicode") if (one.text or "").strip()]
        rows = [row_of(line) for line in region.findall("TextLine")]
        yield from filter(None, rows) if filled or not own else own.split("\n")


def row_of(line):
    own = (line.findtext("TextEquiv/Unicode") or "").strip()
    words = [(word.findtext("TextEquiv/Unicode") or "").strip() for word in line.findall("Word")]
    return " ".join((own or " ".join(filter(None, words))).split())


def test_texts_of_regions_count_where_nothing_else_has_one():
    of_regions = 0
    for seed in range(MEMBERS):
        random, root = Random(seed), etree.Element("PcGts")
        page = etree.SubElement(root, "Page", imageFilename="a.png", imageWidth="9", imageHeight="9")
        any_regions(random, page, 3, iter(range(1_000)))
        expected = list(texts_by_lxml(root))
        content = encoded(root, random)
        named = etree.fromstring(content)
        named.set("xmlns", PAGE[-1])
        read = page_in(encoded(named, random), "a.xml", lambda _: None)
        rows = [" ".join(row.split()) for row in read.running_text.splitlines() if row.strip()]
        assert rows == expected, seed
        of_regions += any(region.text for region in read.regions)
    assert of_regions > MEMBERS // 4


def test_points_beyond_those_of_the_fullest_page_are_left_out(monkeypatch):
    """A megabyte of them takes 50 in memory."""
    monkeypatch.setattr("drethtr.documents.points.MAX_CHARACTERS", 40)
    line = '<TextLine id="l{}"><Coords points="0,0 90,0 90,90"/><TextEquiv><Unicode>a</Unicode></TextEquiv></TextLine>'
    lines = "".join(map(line.format, range(4)))
    region = f'<TextRegion id="r">{lines}</TextRegion>'
    data = f'<PcGts xmlns="{PAGE[-1]}"><Page imageFilename="a" imageWidth="99" imageHeight="99">{region}</Page></PcGts>'
    page = page_in(data.encode(), "a.xml", lambda image: None)
    assert [line.polygon is None for line in page.lines] == [False, False, True, True]
    assert {odd.split(": ")[1] for odd in page.oddities} == {"line 'l2'", "line 'l3'", "region 'r'"}
    assert all(odd.endswith("left out, as the points of the page are too many") for odd in page.oddities)
