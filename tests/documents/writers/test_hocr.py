from xml.etree import ElementTree as ET

import pytest
from page_examples import document_of, letter_page

from drethtr.documents import FORMATS, Page, Region, TextLine, Transcription

XHTML = "{http://www.w3.org/1999/xhtml}"


def spans(document, kind):
    root = ET.fromstring(FORMATS["hocr"].write(document))
    return [element for element in root.iter() if element.get("class") == kind]


def test_pages_regions_lines_and_words_are_nested():
    document = document_of(letter_page(), letter_page())
    first, second = spans(document, "ocr_page")
    assert first.get("title") == 'image "letter.jpg"; bbox 0 0 800 600; ppageno 0'
    assert second.get("title").endswith("ppageno 1")
    line = first.find(f"{XHTML}div[@class='ocr_carea']/{XHTML}span[@class='ocr_line']")
    assert line.get("title") == "bbox 50 50 490 90; baseline 0.0000 -10"
    words = line.findall(f"{XHTML}span[@class='ocrx_word']")
    assert [word.text for word in words] == ["Liebe", "Mutter,", "daſs", "ich"]
    assert words[0].get("title") == "bbox 50 50 150 90; x_wconf 90"
    assert "".join(line.itertext()).split() == ["Liebe", "Mutter,", "daſs", "ich"]


def test_ids_are_unique_over_all_pages():
    root = ET.fromstring(FORMATS["hocr"].write(document_of(letter_page(), letter_page())))
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids)) == 2 * (1 + 2 + 3 + 10)


def test_a_slanted_baseline_runs_from_the_left_bottom_corner_of_the_line():
    line = TextLine("l", ((100, 10), (300, 10), (300, 60), (100, 60)), ((150, 45), (250, 25)), Transcription("a"))
    [span] = spans(document_of(Page("a.jpg", 400, 100, (Region("r", (line,)),))), "ocr_line")
    assert span.get("title") == "bbox 100 10 300 60; baseline -0.2000 -5"
    assert span.text == "a"


@pytest.mark.parametrize(
    ("baseline", "angle"), [(((100, 90), (100, 10)), 90), (((110, 15), (60, 15)), 180), (((70, 10), (70, 90)), -90)]
)
def test_a_line_that_runs_upwards_or_on_its_head_has_an_angle(baseline, angle):
    line = TextLine("l", ((60, 10), (110, 10), (110, 90), (60, 90)), baseline, Transcription("a"))
    [span] = spans(document_of(Page("a.jpg", 400, 100, (Region("r", (line,)),))), "ocr_line")
    assert span.get("title") == f"bbox 60 10 110 90; textangle {angle}"
