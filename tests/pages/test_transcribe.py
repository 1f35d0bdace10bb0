from dataclasses import replace

import numpy as np
import pytest
from made_pages import TEXTS, MadeLine, blank, letter, overlap, write
from page_examples import document_of
from PIL import Image, ImageDraw
from real_data import PAGES, needs_pages

from drethtr import Recognizer
from drethtr.base.errors import ConfigError, DataError
from drethtr.documents import Page, Region, TextLine, Transcription, read_page
from drethtr.documents.page_xml.writer import write_page_xml
from drethtr.documents.points import Box, box_around
from drethtr.images.straighten import Strip
from drethtr.layout.finder import Finder
from drethtr.layout.finders import Whole
from drethtr.layout.projection import Projection
from drethtr.layout.rapid import RapidDetector
from drethtr.pages import transcribe_page
from drethtr.pages.events import DoubtCounts
from drethtr.pages.placing import on_page, transcription_of
from drethtr.pages.segmentation import FoundBy, segmentation_named
from drethtr.pages.source import open_originals
from drethtr.pages.transcribe import PageReader, transcribe
from drethtr.recognition.reading import Character, Flag, Reading

FINDER = Projection()


@pytest.fixture
def recognizer(tiny_model):
    return Recognizer(tiny_model)


@pytest.fixture
def scan(tmp_path):
    """A made page in a file, and what is on it."""
    page = letter()
    path = tmp_path / "letter.png"
    page.image.save(path)
    return path, page


def described(path, page, **changes):
    """PAGE XML beside an image, with the made lines; the changes are made to every line."""
    lines = []
    for number, line in enumerate(page.lines):
        left, top, right, bottom = line.box
        top -= 4 * number  # outlines of one height would be taken for bands
        polygon = ((left, top), (right, top), (right, bottom), (left, bottom))
        place = TextLine(f"l{number}", polygon, ((left, bottom - 10), (right, bottom - 10)))
        lines.append(replace(place, **changes))
    content = Page(path.name, *page.image.size, (Region("r", tuple(lines)),))
    xml = path.with_suffix(".xml")
    xml.write_bytes(write_page_xml(document_of(content)))
    return xml


def check_complete(page, made):
    """Every made line is there, in order, read, with its words inside it."""
    assert len(page.lines) == len(made.lines)
    for line, known in zip(page.lines, made.lines, strict=True):
        assert overlap(known.box, line.polygon) > 0.4
        assert line.baseline and 0 <= line.confidence <= 1
        assert [word.text for word in line.words] == line.text.split()
        left, top, right, bottom = line.box
        for x, y in (point for word in line.words for point in word.polygon or ()):
            assert left - 12 <= x <= right + 12 and top - 12 <= y <= bottom + 12


@pytest.mark.parametrize("finder", [FINDER, RapidDetector(side=512)], ids=["projection", "rapid"])
def test_lines_are_found_and_read(scan, recognizer, finder):
    path, made = scan
    page = transcribe_page(path, recognizer, finder)
    assert (page.image, page.width, page.height) == (path.name, *made.image.size)
    check_complete(page, made)


def test_given_lines_are_read_where_they_are(scan, recognizer):
    path, made = scan
    page = transcribe_page(described(path, made), recognizer)
    check_complete(page, made)
    assert [line.id for line in page.lines] == [f"l{number}" for number in range(len(TEXTS))]


@pytest.mark.parametrize("missing", ["polygon", "baseline"])
def test_given_lines_that_lack_half_of_their_place(scan, recognizer, missing):
    path, made = scan
    check_complete(transcribe_page(described(path, made, **{missing: None}), recognizer), made)


APART = {"baseline": ((0, 20), (700, 20)), "polygon": ((0, 600), (700, 600), (700, 620), (0, 620))}


@pytest.mark.parametrize("place", [{"baseline": None, "polygon": None}, APART], ids=["nowhere", "apart"])
def test_given_lines_that_cannot_be_read_have_no_text(scan, recognizer, place):
    """That of the file would pass for ours."""
    path, made = scan
    page = transcribe_page(described(path, made, transcription=Transcription("theirs"), **place), recognizer)
    assert len(page.lines) == len(TEXTS) and all(line.transcription is None for line in page.lines)


def test_a_page_without_given_lines_has_them_found(scan, recognizer):
    path, made = scan
    xml = described(path, made._replace(lines=[]))
    check_complete(transcribe_page(xml, recognizer, FINDER), made)


def test_coordinates_of_a_smaller_image_are_scaled(scan, recognizer):
    """As when the images were scaled down for the program in which the lines were marked out."""
    path, made = scan
    xml = described(path, made)
    made.image.resize((made.image.width * 2, made.image.height * 2)).save(path)
    page = transcribe_page(xml, recognizer)
    assert page.width == 2 * made.image.width
    doubled = [line._replace(box=tuple(2 * edge for edge in line.box)) for line in made.lines]
    check_complete(page, made._replace(lines=doubled))


def test_a_description_is_read_when_its_turn_comes(scan, recognizer):
    """Thousands that wait need no memory."""
    path, made = scan
    [original] = open_originals(described(path, made))
    described(path, made._replace(lines=made.lines[:2]))
    assert len(transcribe(original, recognizer, FINDER).lines) == 2
    original.description.unlink()
    with pytest.raises(DataError, match=r"letter\.xml: cannot be read"):
        transcribe(original, recognizer, FINDER)


def test_an_image_of_another_shape_is_refused(scan, recognizer):
    path, made = scan
    xml = described(path, made)
    made.image.crop((0, 0, 300, 600)).save(path)
    with pytest.raises(DataError, match=r"700 x 680 pixels.*has 300 x 600"):
        transcribe_page(xml, recognizer)


def test_a_line_on_which_nothing_is_read_is_no_page_without_lines(tmp_path, recognizer, monkeypatch):
    """Nobody found it: it was said to be one."""
    blank().image.save(tmp_path / "blank.png")
    monkeypatch.setattr(recognizer, "read_lines", lambda lines: [Reading("", 0.0, ()) for _ in lines])
    [line] = transcribe_page(tmp_path / "blank.png", recognizer, Whole()).lines
    assert (line.text, line.confidence) == ("", 0.0)


def test_any_finder_may_take_the_image_for_a_line(tmp_path, recognizer):
    """As it is, so that nothing is to be found."""

    class Ours(Finder):
        whole = True

    write(blank(700, 90), TEXTS[:1], top=20).image.save(tmp_path / "line.png")
    page = transcribe_page(tmp_path / "line.png", recognizer, Ours())
    assert page == transcribe_page(tmp_path / "line.png", recognizer, Whole()) and page.lines


def test_an_image_of_a_line_is_read_as_one(tmp_path, recognizer):
    """As the commands read it, and without what finds lines on pages; its shape is looked at once."""
    write(blank(700, 90), TEXTS[:1], top=20).image.save(tmp_path / "line.png")
    [reading] = recognizer.read([tmp_path / "line.png"])
    [line] = transcribe_page(tmp_path / "line.png", recognizer).lines
    assert (line.text, line.confidence) == (reading.text, reading.confidence)
    [original] = open_originals(tmp_path / "line.png")
    assert original.finder_name == "whole"
    (tmp_path / "line.png").unlink()
    assert original.is_line and original.is_alone


def test_given_lines_that_are_light_on_dark_are_turned_over(scan, recognizer):
    path, made = scan
    light = transcribe_page(described(path, made), recognizer)
    Image.fromarray(255 - made.gray).save(path)
    dark = transcribe_page(path.with_suffix(".xml"), recognizer)
    assert dark.text == light.text and len(dark.lines) == len(made.lines)


def test_several_pages_are_refused(tmp_path, recognizer):
    images = [letter().image] * 2
    images[0].save(tmp_path / "book.tif", save_all=True, append_images=images[1:])
    with pytest.raises(DataError, match="holds 2 pages"):
        transcribe_page(tmp_path / "book.tif", recognizer)
    assert len(open_originals(tmp_path / "book.tif")) == 2


def test_more_lines_than_are_kept_in_memory(tmp_path, recognizer):
    made = blank(800, 700)
    path = tmp_path / "list.png"
    made.image.save(path)
    made.lines.extend(MadeLine("", (x, y, x + 30, y + 8)) for x in (20, 420) for y in range(20, 680, 9))
    found = transcribe_page(described(path, made), recognizer)
    assert len(found.lines) == 148 and all(line.transcription is not None for line in found.lines)


@pytest.mark.parametrize(("height", "width", "line"), [(120, 200, True), (500, 2600, True), (500, 700, False)])
def test_what_is_taken_as_a_line(tmp_path, height, width, line):
    Image.new("L", (width, height), 200).save(tmp_path / "image.png")
    [original] = open_originals(tmp_path / "image.png")
    assert original.is_line == line


@pytest.fixture(scope="module")
def reader():
    """The shipped model, for what only a model that can read is able to tell."""
    return Recognizer.load()


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_a_page_on_its_side_or_head_is_turned(tmp_path, reader, quarters):
    """Each line runs the way its writing does, and they come in reading order."""
    made = write(blank(560, 340), TEXTS[:4])
    Image.fromarray(np.ascontiguousarray(np.rot90(made.gray, quarters))).save(tmp_path / "turned.png")
    page = transcribe_page(tmp_path / "turned.png", reader, RapidDetector(side=512))
    assert len(page.lines) == 4
    baselines = np.array([(line.baseline[0], line.baseline[-1]) for line in page.lines])
    ahead, down = {1: ((0, -1), (1, 0)), 2: ((-1, 0), (0, -1)), 3: ((0, 1), (-1, 0))}[quarters]
    assert ((baselines[:, 1] - baselines[:, 0]) @ ahead > 200).all()
    assert all(len(line.baseline) < 30 for line in page.lines)
    assert (np.diff(baselines[:, 0] @ down) > 40).all()


@pytest.mark.parametrize(("outlines", "redrawn", "same"), [("auto", 1, False), ("own", 0, False), ("given", 0, True)])
def test_outlines_that_nobody_drew_are_used_if_wanted(tmp_path, recognizer, outlines, redrawn, same):
    """Bands that are too low for the writing; they stay in the page all the same."""
    made = letter()
    low = [line._replace(box=(line.box[0], line.box[3] - 16, line.box[2], line.box[3] - 4)) for line in made.lines]
    made.image.save(tmp_path / "a.png")
    lines = [
        TextLine(f"l{n}", Box(*box).polygon(), ((box[0], box[3] - 4), (box[2], box[3] - 4)))
        for n, (_, box) in enumerate(low)
    ]
    content = Page("a.png", *made.image.size, (Region("r", tuple(lines)),))
    (tmp_path / "a.xml").write_bytes(write_page_xml(document_of(content)))
    segmentation = segmentation_named("given", outlines=outlines)
    [original] = map(segmentation.prepare, open_originals(tmp_path / "a.xml"))
    heights = []

    def keep_height(id, strip, reading):
        heights.append(strip.line.shape[0])

    page = PageReader(recognizer, segmentation, on_line=keep_height).transcribe(original)
    assert [line.polygon for line in page.lines] == [line.polygon for line in lines]
    assert sum("redrawn" in remark for remark in original.remarks(page)) == redrawn
    assert (max(heights) < 24) is same, heights


def test_text_that_is_there_is_kept(scan, reader):
    path, made = scan
    xml = described(path, made, transcription=Transcription("as somebody corrected it"))
    [original] = open_originals(xml)
    kept = PageReader(reader, FoundBy(FINDER), keeps=lambda line: bool(line.text)).transcribe(original)
    read = transcribe(original, reader, FINDER)
    assert {line.text for line in kept.lines} == {"as somebody corrected it"}
    assert "as somebody corrected it" not in {line.text for line in read.lines}


@needs_pages
def test_found_lines_are_read_as_well_as_given_ones(reader):
    from drethtr.evaluation.whole_pages import compare_pages

    path = PAGES / "en_1905_letter_stanford.alto.xml"
    reference = [line.text for line in read_page(path).lines]
    given = transcribe_page(path, reader)
    found = transcribe_page(path.with_name("en_1905_letter_stanford.jpg"), reader, RapidDetector(side=960))
    costs = [compare_pages(reference, [line.text for line in page.lines]).matched.cer for page in (given, found)]
    assert costs[1] < costs[0] + 0.02


def test_words_stand_on_their_ink(tmp_path, reader):
    made = write(blank(900, 400), ["water and wine"], top=150, size=60)
    made.image.save(tmp_path / "words.png")
    [line] = transcribe_page(tmp_path / "words.png", reader, FINDER).lines
    assert [word.text for word in line.words] == ["water", "and", "wine"]
    ink = made.gray < 120
    inked = np.flatnonzero(ink.any(axis=0))
    wide = np.sort(np.argsort(np.diff(inked))[-2:])  # the spaces between the words
    for word, columns in zip(line.words, np.split(inked, wide + 1), strict=True):
        left, top, right, bottom = box_around(word.polygon)
        of_word = ink[:, columns[0] : columns[-1] + 1]
        assert of_word.sum() * 0.9 < ink[top:bottom, left:right].sum() <= of_word.sum()


@pytest.mark.parametrize("image", [b"an image", Image.new("L", (9, 9))])
def test_a_page_that_is_no_file_is_refused(recognizer, image):
    with pytest.raises(ConfigError, match=f"pass a path, not {type(image).__name__}"):
        transcribe_page(image, recognizer)


STRIP = Strip(
    np.full((40, 200), 255, np.uint8),
    places=np.stack((np.arange(100.0, 300.0), np.full(200, 80.0)), axis=1),
    downs=np.tile((0.0, 1.0), (200, 1)),
    above=30,
    ends=(0, 200),
)
"""A line that stands on row 80 of its page, from column 100 to 300."""


def reading(text, confidences, flags=()):
    characters = tuple(
        Character(letter, confidence, 10.0 * place, 10.0 * place + 10)
        for place, (letter, confidence) in enumerate(zip(text, confidences, strict=True))
    )
    return Reading(text, 0.5, characters, flags)


def test_words_stand_where_they_were_read():
    found = transcription_of(reading("ab cd", [0.9] * 5), STRIP, 1000, 1000)
    assert (found.text, found.confidence) == ("ab cd", 0.5)
    first, second = found.words
    assert (first.text, first.box) == ("ab", (100, 50, 120, 90))
    assert (second.text, second.box) == ("cd", (130, 50, 150, 90))
    assert (first.confidence, first.doubtful) == (0.9, False)


def test_whether_confidences_are_calibrated_goes_along():
    own = reading("ab cd", [0.9] * 5)
    for read in (own, replace(own, word_confidences=(0.9, 0.9))):
        assert transcription_of(read, STRIP, 1000, 1000).calibrated == read.calibrated


def test_unsure_and_flagged_words_are_doubtful():
    flag = Flag("repetition", "the same again", 55, 75)
    found = transcription_of(reading("ab cd ef", [0.9, 0.2, 1, 0.9, 0.9, 1, 0.9, 0.9], (flag,)), STRIP, 1000, 1000)
    assert [word.doubtful for word in found.words] == [True, False, True]
    [placed] = found.flags
    assert str(placed) == str(flag) == "repetition: the same again"
    assert box_around(placed.polygon) == (155, 50, 175, 90)


def test_a_sure_word_is_doubtful_where_a_flag_stands():
    """On a line image as on a page."""
    flag = Flag("uncovered", "ink", 55, 65)
    found = reading("an old ox", [0.9] * 9, (flag,)).transcription()
    assert [word.doubtful for word in found.words] == [False, True, False] and str(found.flags[0]) == "uncovered: ink"
    doubts = DoubtCounts()
    doubts.add(found)
    assert (doubts.words, doubts.doubtful, doubts.flagged, doubts.kinds) == (3, 1, 1, {"uncovered": 1})


def test_a_line_on_its_head_has_its_words_from_right_to_left():
    head_down = STRIP._replace(places=STRIP.places[::-1], downs=-STRIP.downs)
    first, second = transcription_of(reading("ab cd", [0.9] * 5), head_down, 1000, 1000).words
    assert second.box.right < first.box.left and first.box.top == 70


def test_words_end_where_the_line_does():
    """What is read in the margin around the line has no place of its own."""
    first, second = transcription_of(reading("ab cd", [0.9] * 5), STRIP._replace(ends=(5, 25)), 1000, 1000).words
    assert first.box == (105, 50, 120, 90) and second.polygon is None


def test_words_beyond_the_page_lose_their_place():
    [word] = transcription_of(reading("ab", [0.9] * 2), STRIP, 90, 1000).words
    assert (word.text, word.polygon) == ("ab", None)


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([(1.4, 2.6), (1.3, 2.7), (5, 5)], ((1, 3), (5, 5))),
        ([(-3, 2), (200, 300)], ((0, 2), (100, 50))),
        ([], ()),
    ],
)
def test_points_are_whole_and_on_the_page(points, expected):
    assert on_page(points, 100, 50) == expected


def test_a_table_is_read_into_cells_and_doubted(tmp_path, recognizer):
    page = blank(1100, 520)
    cells = (("first", "second", "third", "fourth"), TEXTS[:4], ("one", "two", "three", "four"))
    for left, texts in zip((60, 300, 860), cells, strict=True):
        write(page, texts, left=left, top=40, size=32)
    for column in (270, 830):
        ImageDraw.Draw(page.image).line([(column, 5), (column, 500)], fill=120, width=3)
    page.image.save(tmp_path / "register.png")
    read = transcribe_page(tmp_path / "register.png", recognizer)
    assert [(region.cell.row, region.cell.column) for region in read.regions] == [
        (row, column) for row in range(4) for column in range(3)
    ]
    assert {region.kind for region in read.regions} == {"table"} and len(read.blocks) == 1
    assert [flag.kind for flag in read.flags if flag.kind == "layout"] == ["layout"]
    assert "layout" in [flag.kind for flag in read.lines[0].flags]
